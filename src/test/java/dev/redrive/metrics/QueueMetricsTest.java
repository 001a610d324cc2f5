package dev.redrive.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.redrive.Job;
import dev.redrive.JobQueue;
import dev.redrive.JobState;
import dev.redrive.Lease;
import dev.redrive.NewJob;
import dev.redrive.Outcome;
import dev.redrive.QueueTest;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class QueueMetricsTest extends QueueTest {
  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private long nanos;
  private JobQueue counted;

  @BeforeEach
  void bind() {
    QueueMetrics metrics = new MicrometerMetrics(queue, Duration.ofSeconds(15), () -> nanos);
    metrics.bindTo(registry);
    counted = queue.listening(metrics);
  }

  private double gauge(String name, String... tags) {
    return registry.get(name).tags("queue", "default").tags(tags).gauge().value();
  }

  private double age(String name, String... tags) {
    return registry
        .get(name)
        .tags("queue", "default")
        .tags(tags)
        .timeGauge()
        .value(TimeUnit.MILLISECONDS);
  }

  /** Every counter that is not at zero. */
  private Map<String, Double> counters() {
    Map<String, Double> counts = new TreeMap<>();
    for (Meter meter : registry.getMeters()) {
      double value =
          StreamSupport.stream(meter.measure().spliterator(), false)
              .mapToDouble(measured -> measured.getValue())
              .sum();
      if (meter.getId().getType() == Meter.Type.COUNTER && value != 0) {
        String result = meter.getId().getTag("result");
        counts.put(
            (meter.getId().getName().endsWith("stale") ? "stale " : "")
                + meter.getId().getTag("transition")
                + (result == null ? "" : " " + result),
            value);
      }
    }
    return counts;
  }

  private void moved(String counter) {
    assertThat(counters()).isEqualTo(Map.of(counter, 1.0));
    registry.clear();
    QueueMetrics fresh = new MicrometerMetrics(queue, Duration.ofSeconds(15), () -> nanos);
    fresh.bindTo(registry);
    counted = queue.listening(fresh);
  }

  private void statesAddUp() {
    nanos += Duration.ofSeconds(15).toNanos();
    double all = rows("select id from jobs where state = 'done'").size();
    for (String state : new String[] {"ready", "scheduled", "leased", "lease_expired", "dead"}) {
      all += gauge("redrive.jobs", "state", state);
    }
    assertThat(all).isEqualTo(jobRows());
  }

  /** Case 10.15: every transition moves one counter by one, and the states add up to the rows. */
  @Test
  void case_10_15_everyTransitionMovesItsCounterByOne() {
    assertThat(counted.submit(job("j1")).created()).isTrue();
    moved("submit created");
    assertThat(counted.submit(job("j1")).created()).isFalse();
    moved("submit duplicate");
    assertThat(counted.submit(NewJob.of("j1", "other")).created()).isFalse();
    moved("submit conflict");
    Lease lease = counted.claim("A", LEASE).orElseThrow();
    moved("claim leased");
    assertThat(counted.renew(lease, LEASE)).isTrue();
    moved("renew leased");
    statesAddUp();
    assertThat(counted.release(lease)).isTrue();
    moved("release pending");
    Lease second = claim("A").orElseThrow();
    assertThat(counted.finish(second, Outcome.retry("http-503", Duration.ZERO))).isTrue();
    moved("finish pending");
    assertThat(counted.finish(claim("A").orElseThrow(), Outcome.permanent("http-422"))).isTrue();
    moved("die permanent");
    statesAddUp();
    Job dead = find("j1");
    assertThat(counted.investigate(dead, "OPS-1", "lee")).isTrue();
    moved("investigate dead");
    assertThat(counted.redrive(dead, ORDER)).isTrue();
    moved("redrive pending");
    assertThat(counted.finish(claim("A").orElseThrow(), Outcome.ok())).isTrue();
    moved("finish done");
    statesAddUp();
    assertThat(queue.finish(leased("j2"), Outcome.ok())).isTrue();
    assertThat(queue.submit(job("j3").maxAttempts(1)).created()).isTrue();
    assertThat(claim("A")).isPresent();
    submit("j4");
    clock.at(T0 + 86_400_001);
    assertThat(counted.purgeDone(Duration.ofDays(1), 10)).isEqualTo(1);
    moved("purge gone");
    assertThat(counted.claim("A", LEASE)).isEmpty();
    assertThat(counters()).isEqualTo(Map.of("die exhausted", 1.0, "die deadline", 1.0));
    statesAddUp();
  }

  /** Cases 9.4 and 10.15: what came too late is counted apart, and as nothing else. */
  @Test
  void case_9_4_aStaleAnswerIsCountedApart() {
    Lease lease = leased("j1");
    assertThat(queue.finish(lease, Outcome.ok())).isTrue();
    Job done = find("j1");
    assertThat(counted.finish(lease, Outcome.ok())).isFalse();
    moved("stale finish");
    assertThat(counted.renew(lease, LEASE)).isFalse();
    moved("stale renew");
    assertThat(counted.release(lease)).isFalse();
    moved("stale release");
    assertThat(counted.investigate(done, "OPS-1", "lee")).isFalse();
    moved("stale investigate");
    assertThat(counted.redrive(done, ORDER)).isFalse();
    moved("stale redrive");
  }

  /** Case 9.4. */
  @Test
  void case_9_4_gaugesTellReadyScheduledLiveAndExpiredApart() {
    assertThat(dead("dead-1").id()).isEqualTo("dead-1");
    assertThat(dead("dead-2").id()).isEqualTo("dead-2");
    assertThat(leased("live").id()).isEqualTo("live");
    clock.at(T0 - 90_000);
    assertThat(leased("expired").id()).isEqualTo("expired");
    clock.at(T0);
    assertThat(queue.submit(job("ready").availableAt(Instant.ofEpochMilli(T0 - 5_000))).created())
        .isTrue();
    clock.at(T0 - 36_000_000);
    assertThat(
            queue.submit(job("later").availableAt(Instant.ofEpochMilli(T0 + 36_000_000))).created())
        .isTrue();
    clock.at(T0);
    for (String state : new String[] {"ready", "scheduled", "leased", "lease_expired"}) {
      assertThat(gauge("redrive.jobs", "state", state)).as(state).isEqualTo(1);
    }
    assertThat(gauge("redrive.jobs", "state", "dead")).isEqualTo(2);
    assertThat(age("redrive.ready.age")).isEqualTo(5_000);
    assertThat(gauge("redrive.dead", "reason", "permanent")).isEqualTo(2);
    assertThat(gauge("redrive.dead.uninvestigated")).isEqualTo(2);
  }

  @Test
  void anEmptyQueueHasAgesOfZero() {
    assertThat(age("redrive.ready.age")).isZero();
    for (String since : new String[] {"submit", "death", "look"}) {
      assertThat(age("redrive.dead.age", "since", since)).isZero();
    }
  }

  /** Case 10.15: redriven jobs leave the dead gauge at once. */
  @Test
  void case_10_15_redrivenJobsLeaveTheDeadGauge() {
    assertThat(queue.redrive(dead("j1"), ORDER)).isTrue();
    assertThat(gauge("redrive.jobs", "state", "dead")).isZero();
    assertThat(gauge("redrive.redriven", "reason", "permanent", "fate", "pending")).isEqualTo(1);
    assertThat(queue.finish(claim("A").orElseThrow(), Outcome.permanent("x"))).isTrue();
    nanos += Duration.ofSeconds(15).toNanos();
    assertThat(gauge("redrive.redriven", "reason", "permanent", "fate", "dead_again")).isEqualTo(1);
    assertThat(gauge("redrive.redriven.dead.again")).isEqualTo(1);
  }

  @Test
  void aReportIsReadAtMostOnceInItsTime() {
    assertThat(gauge("redrive.jobs", "state", "dead")).isZero();
    assertThat(dead("j1").state()).isEqualTo(JobState.DEAD);
    nanos += Duration.ofSeconds(15).toNanos() - 1;
    assertThat(gauge("redrive.jobs", "state", "dead")).isZero();
    nanos += 1;
    assertThat(gauge("redrive.jobs", "state", "dead")).isEqualTo(1);
  }

  @Test
  void aReportThatFailsIsNaNAndCountedAndNotAskedForAtOnce() {
    plant("alter table redrives rename to hidden");
    assertThat(gauge("redrive.jobs", "state", "dead")).isNaN();
    assertThat(age("redrive.ready.age")).isNaN();
    assertThat(registry.get("redrive.report.failures").functionCounter().count()).isEqualTo(1);
    plant("alter table hidden rename to redrives");
    assertThat(gauge("redrive.jobs", "state", "dead")).isNaN();
    nanos += Duration.ofSeconds(15).toNanos();
    assertThat(gauge("redrive.jobs", "state", "dead")).isZero();
  }

  @Test
  void nullIsRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> QueueMetrics.of(null))
        .withMessage("queue must not be null");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> QueueMetrics.of(queue).bindTo(null))
        .withMessage("registry must not be null");
  }
}
