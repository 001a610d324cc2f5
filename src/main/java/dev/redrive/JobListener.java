package dev.redrive;

/** Hears what the calls of a queue did, each change once, and each answer that came too late. */
@FunctionalInterface
public interface JobListener {

  /**
   * Called after a call's transaction, in the thread of the call, once per job it touched and
   * before it answers. In redrive's own transactions the change is stored by then. In a host's
   * transaction it is not: what the host rolls back was heard all the same, so do nothing there
   * that a rollback would make wrong. What a failed call took back is not heard.
   *
   * <p>Whatever this throws is logged and changes nothing.
   *
   * @param event what happened
   */
  void heard(JobEvent event);
}
