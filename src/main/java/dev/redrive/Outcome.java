package dev.redrive;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What a worker says about the job it held. A fault is a short code such as {@code http-503}, and
 * goes into audits and metrics: choose it, rather than pass on an error's text, which may hold
 * personal data. Text that is no identifier is made one (other characters become {@code -}, the
 * rest is cut at 64, null or nothing left is {@code unnamed}), so that a failure can always be
 * recorded.
 */
public sealed interface Outcome {

  /** The work happened. */
  record Ok() implements Outcome {}

  /**
   * It failed this time, and may be tried again while the budget lasts.
   *
   * @param fault what went wrong, as a code
   * @param delay how long to wait, 0 to 3,650 days; null leaves it to the queue's retry policy
   */
  record Retry(String fault, @Nullable Duration delay) implements Outcome {
    /** Makes a code of the fault and refuses a delay out of range. */
    public Retry {
      fault = Fault.code(fault);
      if (delay != null) {
        Arguments.duration(delay, "delay", Duration.ZERO);
      }
    }
  }

  /**
   * It failed in a way that no repetition can help.
   *
   * @param fault what went wrong, as a code
   */
  record Permanent(String fault) implements Outcome {
    /** Makes a code of the fault. */
    public Permanent {
      fault = Fault.code(fault);
    }
  }

  /**
   * The work happened: the job is done.
   *
   * @return the outcome
   */
  static Outcome ok() {
    return new Ok();
  }

  /**
   * Try again after the delay of the queue's retry policy, unless the life's budget is spent.
   *
   * @param fault what went wrong
   * @return the outcome
   */
  static Outcome retry(String fault) {
    return new Retry(fault, null);
  }

  /**
   * Try again after a delay of the worker's, unless the life's budget is spent.
   *
   * @param fault what went wrong
   * @param delay 0 to 3,650 days
   * @return the outcome
   * @throws IllegalArgumentException if the delay is null or out of range
   */
  static Outcome retry(String fault, Duration delay) {
    return new Retry(fault, Arguments.notNull(delay, "delay"));
  }

  /**
   * Don't try again: the job goes into quarantine.
   *
   * @param fault what went wrong
   * @return the outcome
   */
  static Outcome permanent(String fault) {
    return new Permanent(fault);
  }
}
