package dev.redrive.quarantine;

import static dev.redrive.schema.Tables.JOBS;

import dev.redrive.Arguments;
import dev.redrive.DeadReason;
import dev.redrive.Death;
import dev.redrive.Job;
import dev.redrive.JobQueue;
import dev.redrive.QueueReader;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jooq.Record;
import org.jooq.Result;
import org.jspecify.annotations.Nullable;

/**
 * The dead jobs of a queue: looked at, counted, and redriven in bulk. What changes anything goes
 * through the queue, so that its listeners hear it.
 *
 * <p>Nothing here is written by looking. A single statement answers each report, list or preview,
 * so that it is of one moment; on a rollback journal of SQLite, writers wait while it runs.
 */
public final class Quarantine {
  private static final int MAX_SAMPLE = 1_000;
  private static final Duration MIN_PURGE_AGE = Duration.ofHours(24);

  private final JobQueue queue;
  private final QueueReader reader;

  private Quarantine(JobQueue queue) {
    this.queue = queue;
    this.reader = QueueReader.of(queue);
  }

  /**
   * The quarantine of a queue.
   *
   * @param queue the queue; its listeners hear what is redriven and purged here
   * @return its quarantine
   * @throws IllegalArgumentException if null
   */
  public static Quarantine of(JobQueue queue) {
    return new Quarantine(Arguments.notNull(queue, "queue"));
  }

  /**
   * How the queue and its quarantine stand. Costs a look at the index entries of all dead and live
   * jobs, at all audit rows and the jobs they are of, and at up to 10,000 done jobs; the rest of
   * history costs nothing.
   *
   * @return all figures, of one moment
   */
  public Report report() {
    return reader.read(
        scope -> {
          ReportQuery query = new ReportQuery(scope);
          Result<? extends Record> rows = query.report().fetch();
          return new ReportRows(queue.name(), rows.get(0).get(query.now()), rows).report();
        });
  }

  /**
   * Dead jobs, oldest death first, then by id. A job that dies while pages are read comes last; one
   * that is redriven is missing from the pages to come.
   *
   * @param filter which jobs
   * @param page which part of the list
   * @return the jobs, and how to ask for the next page
   * @throws IllegalArgumentException if null
   */
  public Listed list(Filter filter, Page page) {
    Arguments.notNull(filter, "filter");
    Arguments.notNull(page, "page");
    List<DeadJob> jobs =
        reader.read(
            scope -> new QuarantineQueries(scope).list(filter, page).fetch(Quarantine::deadJob));
    return new Listed(
        jobs,
        jobs.size() < page.limit()
            ? Optional.empty()
            : Optional.of(page.after(Page.Position.of(jobs.get(jobs.size() - 1)))));
  }

  /**
   * What a bulk redrive of a filter would find now.
   *
   * @param filter which jobs
   * @param sample how many jobs to show, 1 to 1,000
   * @return the number of all, and the first of them
   * @throws IllegalArgumentException if null or out of range
   */
  public Preview preview(Filter filter, int sample) {
    Arguments.notNull(filter, "filter");
    Arguments.range(sample, "sample", 1, MAX_SAMPLE);
    Result<? extends Record> rows =
        reader.read(scope -> new QuarantineQueries(scope).preview(filter, sample).fetch());
    return new Preview(
        rows.isEmpty() ? 0 : rows.get(0).get(QuarantineQueries.MATCHED),
        rows.map(Quarantine::deadJob));
  }

  /**
   * A bulk redrive of the jobs that a filter matches, to be set up and run.
   *
   * @param filter which jobs
   * @return the bulk redrive; nothing has happened yet
   * @throws IllegalArgumentException if null
   */
  public BulkRedrive redrive(Filter filter) {
    return new BulkRedrive(this, Arguments.notNull(filter, "filter"));
  }

  /**
   * A purge of work that has been done for some time, to be set up and run.
   *
   * @param olderThan the age since it became done, 24 hours to 3,650 days
   * @return the purge; nothing has happened yet
   * @throws IllegalArgumentException if null or out of range
   */
  public Purge purgeDone(Duration olderThan) {
    return new Purge(this, Arguments.duration(olderThan, "olderThan", MIN_PURGE_AGE));
  }

  JobQueue queue() {
    return queue;
  }

  QueueReader reader() {
    return reader;
  }

  BulkRun.Members members(Filter filter, int limit) {
    Result<? extends Record> rows =
        reader.read(scope -> new QuarantineQueries(scope).members(filter, limit).fetch());
    return new BulkRun.Members(
        rows.map(Quarantine::death),
        rows.isEmpty() ? 0 : rows.get(0).get(QuarantineQueries.MATCHED));
  }

  void refuseHostTransaction(String what) {
    if (queue.joinsHostTransaction()) {
      throw new IllegalStateException(
          what
              + " must not run inside a transaction of the host's: it is many transactions, and"
              + " waits between them; give it a JobQueue on the data source");
    }
  }

  private static DeadJob deadJob(Record row) {
    return new DeadJob(
        death(row),
        DeadReason.of(row.get(JOBS.REASON)),
        Optional.ofNullable(row.get(JOBS.FAULT)),
        count(row.get(JOBS.ATTEMPTS)),
        count(row.get(JOBS.MAX_ATTEMPTS)),
        Instant.ofEpochMilli(row.get(JOBS.SUBMITTED_AT)),
        Instant.ofEpochMilli(row.get(JOBS.FINISHED_AT)),
        investigation(row),
        payload(row));
  }

  private static Death death(Record row) {
    return new Death(row.get(JOBS.QUEUE), row.get(JOBS.ID), row.get(JOBS.TOKEN));
  }

  private static Optional<Job.Investigation> investigation(Record row) {
    @Nullable Long at = row.get(JOBS.INVESTIGATED_AT);
    return at == null
        ? Optional.empty()
        : Optional.of(
            new Job.Investigation(
                Instant.ofEpochMilli(at),
                row.get(JOBS.INVESTIGATED_BY),
                row.get(JOBS.INVESTIGATION)));
  }

  private static Optional<String> payload(Record row) {
    return row.field(JOBS.PAYLOAD) == null
        ? Optional.empty()
        : Optional.ofNullable(row.get(JOBS.PAYLOAD));
  }

  /** A counter that only planted rows can drive above the range of int. */
  private static int count(long stored) {
    return (int) Math.min(stored, Integer.MAX_VALUE);
  }
}
