package dev.redrive.metrics;

import dev.redrive.Arguments;
import dev.redrive.DeadReason;
import dev.redrive.JobEvent;
import dev.redrive.JobQueue;
import dev.redrive.quarantine.Quarantine;
import dev.redrive.quarantine.Report;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.time.Duration;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.ToDoubleFunction;

/** {@link QueueMetrics} apart from it: where Micrometer is missing, this class cannot be loaded. */
final class MicrometerMetrics implements QueueMetrics, MeterBinder {
  private final String queue;
  private final ReportCache reports;
  private final Map<Transition, LongAdder> transitions = new HashMap<>();
  private final Map<JobEvent.Verb, LongAdder> stale = new EnumMap<>(JobEvent.Verb.class);

  MicrometerMetrics(JobQueue queue, Duration maxAge, LongSupplier nanos) {
    this.queue = queue.name();
    this.reports = new ReportCache(Quarantine.of(queue)::report, maxAge.toNanos(), nanos);
    Transition.all().forEach(transition -> transitions.put(transition, new LongAdder()));
    for (JobEvent.Verb verb : JobEvent.Verb.values()) {
      stale.put(verb, new LongAdder());
    }
  }

  @Override
  public void heard(JobEvent event) {
    if (event instanceof JobEvent.Stale late) {
      increment(stale, late.verb());
    } else {
      increment(transitions, Transition.of(event));
    }
  }

  private static <K> void increment(Map<K, LongAdder> counts, K key) {
    Objects.requireNonNull(counts.get(key)).increment();
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    Arguments.notNull(registry, "registry");
    counters(registry);
    jobs(registry);
    ages(registry);
    redrives(registry);
  }

  private void counters(MeterRegistry registry) {
    transitions.forEach(
        (transition, count) ->
            counter(
                registry,
                "redrive.transitions",
                "What calls of this process did to jobs",
                count,
                "transition",
                transition.name(),
                "result",
                transition.result()));
    stale.forEach(
        (verb, count) ->
            counter(
                registry,
                "redrive.stale",
                "Calls of this process that came too late and changed nothing",
                count,
                "transition",
                verb.toString()));
    counter(
        registry,
        "redrive.report.failures",
        "Reports for the gauges that failed",
        reports.failures());
  }

  private void jobs(MeterRegistry registry) {
    String what = "Jobs that are not done";
    gauge(registry, "redrive.jobs", what, live(Report.Live::ready), "state", "ready");
    gauge(registry, "redrive.jobs", what, live(Report.Live::scheduled), "state", "scheduled");
    gauge(registry, "redrive.jobs", what, live(Report.Live::leased), "state", "leased");
    gauge(
        registry, "redrive.jobs", what, live(Report.Live::leaseExpired), "state", "lease_expired");
    gauge(registry, "redrive.jobs", what, report -> report.dead().count(), "state", "dead");
    for (DeadReason reason : DeadReason.values()) {
      gauge(
          registry,
          "redrive.dead",
          "Jobs in quarantine",
          report -> report.dead().byReason().getOrDefault(reason, 0L),
          "reason",
          reason.toString());
    }
    gauge(
        registry,
        "redrive.dead.uninvestigated",
        "Jobs in quarantine that nobody has looked at since they died",
        report -> report.dead().neverInvestigated());
  }

  private void ages(MeterRegistry registry) {
    age(registry, "redrive.ready.age", report -> report.live().oldestReady());
    age(
        registry,
        "redrive.dead.age",
        report -> report.dead().oldestSinceSubmit(),
        "since",
        "submit");
    age(
        registry,
        "redrive.dead.age",
        report -> report.dead().longestInQuarantine(),
        "since",
        "death");
    age(
        registry,
        "redrive.dead.age",
        report -> report.dead().longestWithoutLook(),
        "since",
        "look");
  }

  private void redrives(MeterRegistry registry) {
    for (DeadReason reason : DeadReason.values()) {
      fate(registry, reason, "done", Report.Fates::done);
      fate(registry, reason, "pending", Report.Fates::pending);
      fate(registry, reason, "leased", Report.Fates::leased);
      fate(registry, reason, "dead_again", Report.Fates::deadAgain);
    }
    Gauge.builder(
            "redrive.redriven.dead.again",
            this,
            metrics -> metrics.read(report -> report.redrives().total().deadAgainOfOutcomes()))
        .description(
            "The share of all redrives with an outcome, done or dead again, that is dead again")
        .baseUnit("ratio")
        .tags(tags())
        .strongReference(true)
        .register(registry);
  }

  private void fate(
      MeterRegistry registry,
      DeadReason reason,
      String fate,
      ToDoubleFunction<Report.Fates> count) {
    gauge(
        registry,
        "redrive.redriven",
        "Redrives by the reason of the death before and by what became of them",
        report -> count.applyAsDouble(report.redrives().after(reason)),
        "reason",
        reason.toString(),
        "fate",
        fate);
  }

  private static ToDoubleFunction<Report> live(ToDoubleFunction<Report.Live> figure) {
    return report -> figure.applyAsDouble(report.live());
  }

  private void counter(
      MeterRegistry registry, String name, String what, LongAdder count, String... tags) {
    FunctionCounter.builder(name, count, LongAdder::sum)
        .description(what)
        .tags(tags(tags))
        .register(registry);
  }

  private void gauge(
      MeterRegistry registry,
      String name,
      String what,
      ToDoubleFunction<Report> figure,
      String... tags) {
    Gauge.builder(name, this, metrics -> metrics.read(figure))
        .description(what)
        .tags(tags(tags))
        .strongReference(true)
        .register(registry);
  }

  private void age(
      MeterRegistry registry,
      String name,
      Function<Report, Optional<Duration>> age,
      String... tags) {
    TimeGauge.builder(
            name,
            this,
            TimeUnit.MILLISECONDS,
            metrics -> metrics.read(report -> age.apply(report).orElse(Duration.ZERO).toMillis()))
        .description("The longest time among the jobs there are, 0 if there are none")
        .tags(tags(tags))
        .strongReference(true)
        .register(registry);
  }

  private Tags tags(String... tags) {
    return Tags.of("queue", queue).and(tags);
  }

  private double read(ToDoubleFunction<Report> figure) {
    return reports.report().map(figure::applyAsDouble).orElse(Double.NaN);
  }

  @Override
  public String toString() {
    return String.format(Locale.ROOT, "QueueMetrics[%s]", queue);
  }
}
