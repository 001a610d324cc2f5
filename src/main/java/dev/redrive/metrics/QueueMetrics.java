package dev.redrive.metrics;

import dev.redrive.Arguments;
import dev.redrive.JobListener;
import dev.redrive.JobQueue;
import dev.redrive.quarantine.Report;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;

/**
 * The metrics of a queue: {@code QueueMetrics metrics = QueueMetrics.of(queue)}, {@code
 * metrics.bindTo(registry)}, and work with {@code queue.listening(metrics)}. Every instance is also
 * a {@link io.micrometer.core.instrument.binder.MeterBinder}, for a framework that looks for those.
 *
 * <p>Counters are of this process: transitions by their result, and apart from them what came too
 * late. What a queue did in a host's transaction counts also when the host rolls back. Gauges are
 * of the database, the same from every process: they read one {@link Report}, at most once in 15
 * seconds, however many scrape. Where a report failed they are NaN. An age of nothing is 0.
 */
public sealed interface QueueMetrics extends JobListener permits MicrometerMetrics {

  /**
   * The metrics of a queue, at zero.
   *
   * @param queue where reports are read from; not counted yet, see {@link JobQueue#listening}
   * @return the metrics, to be bound to registries and to listen
   * @throws IllegalArgumentException if null
   * @throws IllegalStateException if Micrometer is not on the class path
   */
  static QueueMetrics of(JobQueue queue) {
    Arguments.notNull(queue, "queue");
    try {
      return new MicrometerMetrics(queue, Duration.ofSeconds(15), System::nanoTime);
    } catch (NoClassDefFoundError e) {
      throw new IllegalStateException(
          "QueueMetrics needs io.micrometer:micrometer-core on the class path; add it, or count in"
              + " a JobListener of your own",
          e);
    }
  }

  /**
   * Registers the counters and gauges.
   *
   * @param registry where to
   * @throws IllegalArgumentException if null
   */
  void bindTo(MeterRegistry registry);
}
