package dev.redrive;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A job to submit. Immutable: each setting answers a changed copy.
 *
 * @param id the business ID, unique in its queue: 1 to 200 code points, no control characters, no
 *     lone surrogates
 * @param payload opaque text for the worker: no NUL, no lone surrogates; the queue limits its size
 * @param maxAttempts how many claims one life may have, 1 to 1,000,000
 * @param deadline how long one life may take, 1 ms to 3,650 days, counted from the submit or from
 *     {@code availableAt}, whichever is later
 * @param availableAt the earliest first run, in the years 1970 to 9999; null means at once
 */
public record NewJob(
    String id, String payload, int maxAttempts, Duration deadline, @Nullable Instant availableAt) {

  static final int DEFAULT_MAX_ATTEMPTS = 5;
  static final Duration DEFAULT_DEADLINE = Duration.ofHours(24);

  /** Refuses bad input, naming argument and rule. */
  public NewJob {
    Arguments.id(id);
    Arguments.payload(payload);
    Arguments.range(maxAttempts, "maxAttempts", 1, Arguments.MAX_ATTEMPTS);
    Arguments.positive(deadline, "deadline");
    if (availableAt != null) {
      Arguments.time(availableAt, "availableAt");
    }
  }

  /**
   * A job with 5 attempts and a deadline of 24 hours, available at once.
   *
   * @param id the business ID
   * @param payload text for the worker
   * @return the job, not yet submitted
   * @throws IllegalArgumentException if an argument breaks its rule
   */
  public static NewJob of(String id, String payload) {
    return new NewJob(id, payload, DEFAULT_MAX_ATTEMPTS, DEFAULT_DEADLINE, null);
  }

  /**
   * This job with another budget of claims.
   *
   * @param maxAttempts 1 to 1,000,000
   * @return a copy
   * @throws IllegalArgumentException if out of range
   */
  public NewJob maxAttempts(int maxAttempts) {
    return new NewJob(id, payload, maxAttempts, deadline, availableAt);
  }

  /**
   * This job with another time budget.
   *
   * @param deadline 1 ms to 3,650 days
   * @return a copy
   * @throws IllegalArgumentException if out of range
   */
  public NewJob deadline(Duration deadline) {
    return new NewJob(id, payload, maxAttempts, deadline, availableAt);
  }

  /**
   * This job with an earliest first run. A time in the past is kept and means at once.
   *
   * @param availableAt in the years 1970 to 9999
   * @return a copy
   * @throws IllegalArgumentException if null or out of range
   */
  public NewJob availableAt(Instant availableAt) {
    return new NewJob(
        id, payload, maxAttempts, deadline, Arguments.notNull(availableAt, "availableAt"));
  }

  /**
   * Everything but the payload, of which only the length is told.
   *
   * @return a text for logs
   */
  @Override
  public String toString() {
    return String.format(
        "NewJob[id=%s, maxAttempts=%d, deadline=%s, availableAt=%s, payload=%d characters]",
        id, maxAttempts, deadline, availableAt == null ? "now" : availableAt, payload.length());
  }
}
