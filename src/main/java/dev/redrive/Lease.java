package dev.redrive;

import java.time.Instant;

/**
 * The right to work on one job until a time, and the only key to finish it. It stays what it was: a
 * renewed lease is longer in the database than {@code leaseUntil} here says.
 *
 * @param queue the queue's name
 * @param id the job's business ID
 * @param owner who claimed it
 * @param token the fencing token of this claim; a receiver that remembers the highest one it saw
 *     can refuse a late owner (Kleppmann, "How to do distributed locking", 2016)
 * @param attempt which claim of this life this is, from 1
 * @param maxAttempts how many claims a life may have
 * @param leaseUntil when the lease is over, as claimed
 * @param deadline when this life is over
 * @param payload the submitted text
 */
public record Lease(
    String queue,
    String id,
    String owner,
    long token,
    int attempt,
    int maxAttempts,
    Instant leaseUntil,
    Instant deadline,
    String payload) {

  /** Refuses parts that no claim can have answered. */
  public Lease {
    Arguments.identifier(queue, "queue");
    Arguments.id(id);
    Arguments.identifier(owner, "owner");
    if (token < 1) {
      throw new IllegalArgumentException("token must be 1 or more, it is " + token);
    }
    Arguments.range(attempt, "attempt", 1, Integer.MAX_VALUE);
    Arguments.range(maxAttempts, "maxAttempts", 1, Arguments.MAX_ATTEMPTS);
    Arguments.notNull(leaseUntil, "leaseUntil");
    Arguments.notNull(deadline, "deadline");
    Arguments.notNull(payload, "payload");
  }

  /**
   * Everything but the payload, of which only the length is told.
   *
   * @return a text for logs
   */
  @Override
  public String toString() {
    return String.format(
        "Lease[%s/%s, owner=%s, token=%d, attempt=%d of %d, until=%s, deadline=%s,"
            + " payload=%d characters]",
        queue, id, owner, token, attempt, maxAttempts, leaseUntil, deadline, payload.length());
  }
}
