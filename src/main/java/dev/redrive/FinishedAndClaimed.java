package dev.redrive;

import java.util.Optional;

/**
 * The two answers of {@link JobQueue#finishAndClaim}.
 *
 * @param finished whether the finish changed the row; false means the lease was stale
 * @param next the next job; empty means that nothing is due
 */
public record FinishedAndClaimed(boolean finished, Optional<Lease> next) {
  /** Refuses missing parts. */
  public FinishedAndClaimed {
    Arguments.notNull(next, "next");
  }
}
