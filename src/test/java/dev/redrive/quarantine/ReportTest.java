package dev.redrive.quarantine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redrive.DeadReason;
import dev.redrive.Job;
import dev.redrive.Lease;
import dev.redrive.Outcome;
import dev.redrive.QueueTest;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ReportTest extends QueueTest {

  private Report report() {
    return Quarantine.of(queue).report();
  }

  private static Duration millis(long millis) {
    return Duration.ofMillis(millis);
  }

  private static Instant time(long millis) {
    return Instant.ofEpochMilli(millis);
  }

  @Test
  void anEmptyQueueHasNoAges() {
    Report report = report();
    assertThat(report.at()).isEqualTo(time(T0));
    assertThat(report.dead().count()).isZero();
    assertThat(report.dead().byReason()).isEmpty();
    assertThat(report.dead().ratio(DeadReason.PERMANENT)).isZero();
    assertThat(report.dead().oldestSinceSubmit()).isEmpty();
    assertThat(report.live()).isEqualTo(new Report.Live(0, 0, 0, 0, Optional.empty(), 0));
    assertThat(report.redrives().total().ratioDeadAgain()).isZero();
    assertThat(report.lastInvestigation()).isEmpty();
    assertThat(report.toString()).contains("last investigation  never");
  }

  /** Case 9.4. */
  @Test
  void case_9_4_readyScheduledLiveAndExpiredAreToldApart() {
    assertThat(dead("dead-1").id()).isEqualTo("dead-1");
    assertThat(dead("dead-2").id()).isEqualTo("dead-2");
    assertThat(leased("live").id()).isEqualTo("live");
    clock.at(T0 - 90_000);
    assertThat(leased("expired").id()).isEqualTo("expired");
    clock.at(T0);
    assertThat(queue.submit(job("ready").availableAt(time(T0 - 5_000))).created()).isTrue();
    clock.at(T0 - 36_000_000);
    assertThat(queue.submit(job("scheduled").availableAt(time(T0 + 36_000_000))).created())
        .isTrue();
    clock.at(T0);
    plant("update jobs set lease_until = " + (T0 - 60_000) + " where id = 'expired'");
    Report report = report();
    assertThat(report.live()).isEqualTo(new Report.Live(1, 1, 1, 1, Optional.of(millis(5_000)), 0));
    assertThat(report.dead().count()).isEqualTo(2);
    assertThat(jobRows()).isEqualTo(6);
  }

  /** Case 10.19: three ages under three names. */
  @Test
  void case_10_19_threeAgesHaveThreeNames() {
    submit("j1");
    clock.at(T0 + 10);
    assertThat(queue.finish(claim("A").orElseThrow(), Outcome.permanent("http-422"))).isTrue();
    clock.at(T0 + 400);
    assertThat(queue.investigate(find("j1"), "OPS-1", "lee")).isTrue();
    clock.at(T0 + 5_000);
    Report report = report();
    assertThat(report.dead().oldestSinceSubmit()).contains(millis(5_000));
    assertThat(report.dead().longestInQuarantine()).contains(millis(4_990));
    assertThat(report.dead().longestWithoutLook()).contains(millis(4_600));
    assertThat(report.lastInvestigation()).contains(time(T0 + 400));
    assertThat(report.dead().neverInvestigated()).isZero();
  }

  /** Case 10.19: nothing of ours empties the quarantine by age. */
  @Test
  void case_10_19_noAgeRemovesTheDead() {
    assertThat(dead("j1").id()).isEqualTo("j1");
    clock.at(T0 + 3_000L * 86_400_000);
    assertThat(queue.purgeDone(Duration.ofDays(1), 10)).isZero();
    assertThat(claim("A")).isEmpty();
    assertThat(report().dead().count()).isEqualTo(1);
  }

  @Test
  void reasonsAndFaultsAreCounted() {
    assertThat(dead("a").id()).isEqualTo("a");
    clock.at(T0 + 7);
    assertThat(dead("b").id()).isEqualTo("b");
    assertThat(queue.submit(job("c").maxAttempts(1)).created()).isTrue();
    assertThat(queue.finish(claim("A").orElseThrow(), Outcome.retry("http-422"))).isTrue();
    submit("d");
    clock.at(T0 + 700_000);
    assertThat(claim("A")).isEmpty();
    Report.Dead dead = report().dead();
    assertThat(dead.byReason())
        .isEqualTo(
            Map.of(DeadReason.PERMANENT, 2L, DeadReason.EXHAUSTED, 1L, DeadReason.DEADLINE, 1L));
    assertThat(dead.ratio(DeadReason.PERMANENT)).isEqualTo(0.5);
    assertThat(dead.byFault())
        .containsExactly(
            new Report.FaultGroup(Optional.of("http-422"), 3, time(T0), time(T0 + 7)),
            new Report.FaultGroup(Optional.empty(), 1, time(T0 + 700_000), time(T0 + 700_000)));
    assertThat(dead.neverInvestigated()).isEqualTo(4);
  }

  @Test
  void redrivesAreCountedByWhatBecameOfThem() {
    for (String id : new String[] {"done", "pending", "again", "twice"}) {
      assertThat(queue.redrive(dead(id), ORDER)).isTrue();
      if (!id.equals("pending")) {
        Lease lease = claim("A").orElseThrow();
        Outcome outcome = id.equals("done") ? Outcome.ok() : Outcome.permanent("http-500");
        assertThat(queue.finish(lease, outcome)).isTrue();
      } else {
        plant("update jobs set available_at = " + (T0 + 1) + " where id = 'pending'");
      }
    }
    Job twice = find("twice");
    assertThat(queue.investigate(twice, "OPS-1", "lee")).isTrue();
    assertThat(queue.redrive(twice, ORDER)).isTrue();
    assertThat(claim("A")).isPresent();
    Report report = report();
    assertThat(report.redrives().byPreviousReason())
        .isEqualTo(Map.of(DeadReason.PERMANENT, new Report.Fates(1, 1, 1, 2)));
    assertThat(report.redrives().total().count()).isEqualTo(auditRows());
    assertThat(report.redrives().total().ratioDeadAgain()).isEqualTo(0.4);
    assertThat(report.lastInvestigation()).as("kept by the audit").contains(time(T0));
    assertThat(report.dead().count()).isEqualTo(1);
  }

  @Test
  void anotherQueuesJobsAreNotCounted() {
    assertThat(dead("j1").id()).isEqualTo("j1");
    Report other = Quarantine.of(queue("other").build()).report();
    assertThat(other.dead().count()).isZero();
    assertThat(other.live().ready()).isZero();
  }

  /** Case 9.2. */
  @Test
  void case_9_2_noAgeIsNegativeWhenTheClockGoesBack() {
    assertThat(dead("j1").id()).isEqualTo("j1");
    clock.at(T0 - 3_600_000);
    Report.Dead dead = report().dead();
    assertThat(dead.oldestSinceSubmit()).contains(Duration.ZERO);
    assertThat(dead.longestInQuarantine()).contains(Duration.ZERO);
    assertThat(dead.longestWithoutLook()).contains(Duration.ZERO);
  }

  @Test
  void doneIsCountedUpToABound() {
    plant(
        "insert into jobs (queue, id, state, token, attempts, max_attempts, available_at,"
            + " deadline_at, submitted_at, finished_at, payload)"
            + " with recursive n(i) as (select 1 union all select i + 1 from n where i < 10100)"
            + " select 'default', 'd' || i, 'done', 1, 1, 3, 1, 1, 1, 1, '' from n");
    assertThat(report().live().done()).isEqualTo(10_001);
    assertThat(report().toString()).contains("done more than 10000");
  }

  @Test
  void thePrintedReportHoldsNeitherIdsNorPayloads() {
    assertThat(dead("secret-id").payload()).isEqualTo("{}");
    assertThat(report().toString())
        .contains("dead                1, never investigated 1", "permanent", "http-422")
        .doesNotContain("secret-id", "{}");
  }
}
