package dev.redrive.boot;

import dev.redrive.JobQueue;
import dev.redrive.metrics.ReportCache;
import dev.redrive.quarantine.Quarantine;
import dev.redrive.quarantine.Report;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Whether queues can work: each time anew whether the database answers and the table of jobs is
 * there, by a look at one key; and figures of a report that is up to 15 seconds old. Dead jobs are
 * for people to look at, and no outage.
 */
final class QueueHealth {
  private static final Duration MAX_AGE = Duration.ofSeconds(15);

  /** An ID that nobody has to have submitted: the look counts, not what it finds. */
  private static final String ANY_ID = "health";

  private final List<Watched> queues;

  private record Watched(JobQueue queue, ReportCache reports) {}

  QueueHealth(Stream<JobQueue> queues) {
    this.queues =
        queues
            .map(
                queue ->
                    new Watched(
                        queue,
                        new ReportCache(
                            Quarantine.of(queue)::report, MAX_AGE.toNanos(), System::nanoTime)))
            .toList();
  }

  /**
   * The figures of each queue by its name.
   *
   * @throws RuntimeException if the database does not answer, or tables are missing
   */
  Map<String, Map<String, Object>> look() {
    Map<String, Map<String, Object>> all = new LinkedHashMap<>();
    for (Watched watched : queues) {
      var unused = watched.queue().find(ANY_ID); // the report may be of before an outage
      Report report =
          watched
              .reports()
              .report()
              .orElseThrow(
                  () ->
                      new IllegalStateException(
                          "queue " + watched.queue().name() + " gave no report; the log says why"));
      all.put(watched.queue().name(), figures(report));
    }
    return all;
  }

  private static Map<String, Object> figures(Report report) {
    Map<String, Object> figures = new LinkedHashMap<>();
    figures.put("dead", report.dead().count());
    figures.put("neverInvestigated", report.dead().neverInvestigated());
    figures.put("ready", report.live().ready());
    figures.put("leaseExpired", report.live().leaseExpired());
    figures.put(
        "oldestReadySeconds", report.live().oldestReady().orElse(Duration.ZERO).toSeconds());
    return figures;
  }
}
