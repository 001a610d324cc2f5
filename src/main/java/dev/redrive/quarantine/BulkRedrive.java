package dev.redrive.quarantine;

import dev.redrive.Arguments;
import dev.redrive.Redrive;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * A bulk redrive that has not begun: {@code quarantine.redrive(filter).perSecond(50).run(order)}.
 * It may run more than once, in one thread.
 *
 * <p>A run takes down at its start which deaths the filter matches, oldest first, and redrives
 * those, each in a transaction of its own. A job that dies again meanwhile died another death, and
 * is not picked again. Nothing waits inside a transaction. Whatever ends a run, what it has not
 * redriven is still dead, and each redriven job has its audit row; another run does the rest. Runs
 * at the same time redrive no death twice: who comes second skips it.
 */
public final class BulkRedrive {
  private static final int MAX_PER_SECOND = 1_000;
  private static final int MAX_LIMIT = 100_000;

  private final Quarantine quarantine;
  private final Filter filter;
  private int perSecond = 10;
  private int limit = MAX_LIMIT;
  private double brakeShare = 0.5;
  private int brakeOutcomes = 20;
  private Consumer<BulkProgress> progress = handled -> {};
  private BooleanSupplier stop = () -> false;
  private Pacer pacer = Pacer.SYSTEM;

  BulkRedrive(Quarantine quarantine, Filter filter) {
    this.quarantine = quarantine;
    this.filter = filter;
  }

  /** How a run goes. */
  record Settings(
      int perSecond,
      int limit,
      double brakeShare,
      int brakeOutcomes,
      Consumer<BulkProgress> progress,
      BooleanSupplier stop,
      Pacer pacer) {}

  /**
   * How fast: no second holds more redrives than this. They are spread evenly, from the first one
   * on; deaths that turn out to be skipped cost no waiting. The default is 10.
   *
   * @param jobs 1 to 1,000
   * @return this
   * @throws IllegalArgumentException if out of range
   */
  public BulkRedrive perSecond(int jobs) {
    Arguments.range(jobs, "jobs", 1, MAX_PER_SECOND);
    this.perSecond = jobs;
    return this;
  }

  /**
   * How many at most; the default is 100,000. What matches beyond that is told as remaining.
   *
   * @param jobs 1 to 100,000
   * @return this
   * @throws IllegalArgumentException if out of range
   */
  public BulkRedrive limit(int jobs) {
    Arguments.range(jobs, "jobs", 1, MAX_LIMIT);
    this.limit = jobs;
    return this;
  }

  /**
   * When the run stops by itself: when of the jobs it has redriven, more than this share of those
   * that are done or dead again are dead again. It looks up to ten times a second while it runs, so
   * some more may be redriven before it sees. The default is 0.5, from 20 outcomes on.
   *
   * @param share 0 to 1; 1 never stops
   * @param fromOutcomes how many must be done or dead again before it judges, 1 to 100,000
   * @return this
   * @throws IllegalArgumentException if out of range
   */
  public BulkRedrive brake(double share, int fromOutcomes) {
    if (!(share >= 0 && share <= 1)) {
      throw new IllegalArgumentException("share must be 0 to 1, it is " + share);
    }
    Arguments.range(fromOutcomes, "fromOutcomes", 1, MAX_LIMIT);
    this.brakeShare = share;
    this.brakeOutcomes = fromOutcomes;
    return this;
  }

  /**
   * Who is told of each death after it was handled, in the thread of the run and outside of any
   * transaction. What it throws ends the run and reaches the caller; what was redriven stays so.
   *
   * @param progress told in place of whoever was before
   * @return this
   * @throws IllegalArgumentException if null
   */
  public BulkRedrive onProgress(Consumer<BulkProgress> progress) {
    Arguments.notNull(progress, "progress");
    this.progress = progress;
    return this;
  }

  /**
   * How to cancel: asked before each death and ten times a second while waiting, and ends the run
   * when it says true. Interrupting the thread does so too.
   *
   * @param stop asked in the thread of the run, in place of whatever was before
   * @return this
   * @throws IllegalArgumentException if null
   */
  public BulkRedrive stopWhen(BooleanSupplier stop) {
    Arguments.notNull(stop, "stop");
    this.stop = stop;
    return this;
  }

  BulkRedrive pacedBy(Pacer pacer) {
    this.pacer = pacer;
    return this;
  }

  /**
   * What a run would find now.
   *
   * @param sample how many jobs to show, 1 to 1,000
   * @return the number of all that match, and the first of them
   * @throws IllegalArgumentException if out of range
   */
  public Preview preview(int sample) {
    return quarantine.preview(filter, sample);
  }

  /**
   * Runs, in this thread, and answers when it has ended. Trouble with a single death does not end
   * it.
   *
   * @param order why, who allowed it, and the new deadline, which counts from each redrive
   * @return what it did
   * @throws IllegalArgumentException if null
   * @throws IllegalStateException inside a host's transaction, where waiting would hold its locks
   * @throws org.jooq.exception.DataAccessException if the members could not be read; then nothing
   *     was redriven
   */
  public BulkReport run(Redrive order) {
    Arguments.notNull(order, "order");
    quarantine.refuseHostTransaction("a bulk redrive");
    Settings settings =
        new Settings(perSecond, limit, brakeShare, brakeOutcomes, progress, stop, pacer);
    return new BulkRun(quarantine, filter, settings, order).run();
  }
}
