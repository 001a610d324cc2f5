package dev.redrive;

/** Hears what transitions did. */
@FunctionalInterface
public interface JobListener {

  /**
   * Called after a transition, in the thread that made it. In redrive's own transactions it is
   * stored by then. In a host's transaction it is not: what the host rolls back was heard all the
   * same. An exception is logged and changes nothing.
   *
   * @param event what happened
   */
  void heard(JobEvent event);
}
