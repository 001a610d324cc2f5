package dev.redrive.quarantine;

import dev.redrive.Arguments;
import dev.redrive.JobQueue;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;

/**
 * A purge of done work that has not begun: {@code quarantine.purgeDone(Duration.ofDays(7)).run()}.
 * It may run more than once, in one thread.
 *
 * <p>It forgets in batches, oldest first, each a transaction of its own, so that claims go on in
 * between. Wherever it stops, what it has forgotten is forgotten, and the next purge goes on. Never
 * touches a job that is not done, or one that has ever been redriven.
 */
public final class Purge {
  private static final int STANDARD_BATCH = 1_000;
  private static final int MAX_BATCH = 10_000;

  private final Quarantine quarantine;
  private final Duration olderThan;
  private int batch = STANDARD_BATCH;
  private LongConsumer progress = purged -> {};
  private BooleanSupplier stop = () -> false;

  Purge(Quarantine quarantine, Duration olderThan) {
    this.quarantine = quarantine;
    this.olderThan = olderThan;
  }

  /**
   * How many jobs a transaction forgets at most. The default is 1,000.
   *
   * @param jobs 1 to 10,000
   * @return this
   * @throws IllegalArgumentException if out of range
   */
  public Purge batch(int jobs) {
    Arguments.range(jobs, "jobs", 1, MAX_BATCH);
    this.batch = jobs;
    return this;
  }

  /**
   * Who is told after each batch how many jobs are forgotten so far. What it throws ends the purge
   * and reaches the caller.
   *
   * @param progress told in place of whoever was before
   * @return this
   * @throws IllegalArgumentException if null
   */
  public Purge onProgress(LongConsumer progress) {
    Arguments.notNull(progress, "progress");
    this.progress = progress;
    return this;
  }

  /**
   * How to cancel: asked before each batch. Interrupting the thread ends a purge too.
   *
   * @param stop asked in place of whatever was before
   * @return this
   * @throws IllegalArgumentException if null
   */
  public Purge stopWhen(BooleanSupplier stop) {
    Arguments.notNull(stop, "stop");
    this.stop = stop;
    return this;
  }

  /**
   * Runs, in this thread.
   *
   * @return what it did
   * @throws IllegalStateException inside a host's transaction, which would hold all batches
   * @throws org.jooq.exception.DataAccessException if a batch failed; those before it are forgotten
   */
  public Purged run() {
    quarantine.refuseHostTransaction("a purge");
    JobQueue queue = quarantine.queue();
    long purged = 0;
    boolean complete = false;
    while (!complete && !Thread.currentThread().isInterrupted() && !stop.getAsBoolean()) {
      int last = queue.purgeDone(olderThan, batch);
      purged += last;
      complete = last < batch;
      progress.accept(purged);
    }
    return new Purged(purged, complete);
  }

  /**
   * What a purge did.
   *
   * @param jobs how many it forgot
   * @param complete whether no more were old enough; false if it was stopped before
   */
  public record Purged(long jobs, boolean complete) {}
}
