package dev.redrive.dispatch;

import dev.redrive.Outcome;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A {@link Handler}'s verdict: it failed this time, and may be tried again while the job's budget
 * lasts. The fault is a short code such as {@code http-503}; {@link Outcome} says what becomes of
 * text that is none.
 */
public class Retryable extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** A short code. */
  private final String fault;

  /** Null leaves it to the queue's retry policy. */
  private final @Nullable Duration delay;

  /**
   * Try again when the queue's retry policy says.
   *
   * @param fault what went wrong
   */
  public Retryable(String fault) {
    this(fault, null, null);
  }

  /**
   * Try again when the queue's retry policy says.
   *
   * @param fault what went wrong
   * @param cause for the log; it is not stored
   */
  public Retryable(String fault, Throwable cause) {
    this(fault, null, cause);
  }

  /**
   * Try again after a delay of the handler's own.
   *
   * @param fault what went wrong
   * @param delay how long to wait, 0 to 3,650 days; null leaves it to the queue's retry policy
   * @param cause for the log; it is not stored; null if there is none
   * @throws IllegalArgumentException if the delay is out of range
   */
  public Retryable(String fault, @Nullable Duration delay, @Nullable Throwable cause) {
    super(fault, cause);
    this.fault = new Outcome.Retry(fault, delay).fault();
    this.delay = delay;
  }

  /**
   * What went wrong.
   *
   * @return the code, an identifier
   */
  public String fault() {
    return fault;
  }

  /**
   * How long to wait.
   *
   * @return 0 to 3,650 days; empty leaves it to the queue's retry policy
   */
  public Optional<Duration> delay() {
    return Optional.ofNullable(delay);
  }

  Outcome outcome() {
    return new Outcome.Retry(fault, delay);
  }
}
