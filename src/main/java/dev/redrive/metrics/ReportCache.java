package dev.redrive.metrics;

import dev.redrive.quarantine.Report;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Asks for a report at most once in a while, whoever asks how often. A report that fails is not
 * asked for again before its time either: a database in trouble is left alone. Public only for
 * redrive's own packages.
 */
public final class ReportCache {
  private static final System.Logger LOG = System.getLogger(ReportCache.class.getName());

  private final Supplier<Report> source;
  private final long maxAgeNanos;
  private final LongSupplier nanos;
  private final LongAdder failures = new LongAdder();

  private @Nullable Report last;
  private boolean asked;
  private long askedAt;

  /**
   * A cache that has not asked yet.
   *
   * @param source where reports come from
   * @param maxAgeNanos how long one is good
   * @param nanos a clock that never goes back
   */
  public ReportCache(Supplier<Report> source, long maxAgeNanos, LongSupplier nanos) {
    this.source = source;
    this.maxAgeNanos = maxAgeNanos;
    this.nanos = nanos;
  }

  /**
   * The latest report.
   *
   * @return the report, not older than it may be; empty if it failed
   */
  public synchronized Optional<Report> report() {
    long now = nanos.getAsLong();
    if (!asked || now - askedAt >= maxAgeNanos) {
      last = ask();
      asked = true;
      askedAt = nanos.getAsLong();
    }
    return Optional.ofNullable(last);
  }

  private @Nullable Report ask() {
    try {
      return source.get();
    } catch (RuntimeException e) {
      failures.increment();
      LOG.log(System.Logger.Level.WARNING, "no report for the metrics", e);
      return null;
    }
  }

  LongAdder failures() {
    return failures;
  }
}
