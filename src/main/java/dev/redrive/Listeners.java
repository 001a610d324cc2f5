package dev.redrive;

import java.util.ArrayList;
import java.util.List;

/** Who hears a queue. Nothing that a listener does can change what a call did or answers. */
final class Listeners {
  private static final System.Logger LOG = System.getLogger(JobListener.class.getName());

  private final List<JobListener> all;

  Listeners(List<JobListener> all) {
    this.all = List.copyOf(all);
  }

  Listeners and(JobListener listener) {
    List<JobListener> more = new ArrayList<>(all);
    more.add(listener);
    return new Listeners(more);
  }

  void tell(List<? extends JobEvent> events) {
    for (JobEvent event : events) {
      for (JobListener listener : all) {
        tell(listener, event);
      }
    }
  }

  /** Tells what a call led to, and answers whether that was a change. */
  boolean told(JobEvent event) {
    tell(List.of(event));
    return isChange(event);
  }

  static boolean isChange(JobEvent event) {
    return !(event instanceof JobEvent.Stale);
  }

  /** Errors too: a lease that nobody gets because a listener failed is a lost attempt. */
  private static void tell(JobListener listener, JobEvent event) {
    try {
      listener.heard(event);
    } catch (Throwable e) {
      LOG.log(System.Logger.Level.WARNING, "a listener failed on " + event, e);
    }
  }
}
