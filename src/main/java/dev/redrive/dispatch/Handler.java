package dev.redrive.dispatch;

import dev.redrive.Lease;
import org.jspecify.annotations.Nullable;

/**
 * Does the work of a job. It may be handed the same job again, after a crash or a lost lease, even
 * while an earlier call still runs: its effect has to bear that.
 */
@FunctionalInterface
public interface Handler {

  /**
   * Works on one job and says what came of it. There are three verdicts: {@code true}, {@link
   * Retryable} and {@link Permanent}. Whatever else comes out is none, and leaves the job leased
   * until its lease is over.
   *
   * @param lease the job, held for this call
   * @return true if the work happened; {@code false} and null are no verdict, because neither says
   *     whether to try again
   * @throws Retryable if it failed this time, and may be tried again
   * @throws Permanent if no repetition can help
   * @throws Exception if it is not known what happened
   */
  @Nullable Boolean handle(Lease lease) throws Exception;
}
