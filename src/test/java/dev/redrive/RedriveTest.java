package dev.redrive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.util.Map;
import org.jooq.exception.DataAccessException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RedriveTest extends QueueTest {

  /** Case 4.4. */
  @Test
  void case_4_4_aFreshLifeIsNotKilledByTheOldClock() {
    submit("j1");
    exhaust("j1");
    clock.at(T0 + 700_000);
    assertThat(queue.redrive(find("j1"), ORDER)).isTrue();
    assertThat(row("j1"))
        .containsEntry("state", "pending")
        .containsEntry("reason", null)
        .containsEntry("attempts", 0L)
        .containsEntry("owner", null)
        .containsEntry("lease_until", null)
        .containsEntry("available_at", T0 + 700_000)
        .containsEntry("deadline_at", T0 + 1_300_000)
        .containsEntry("finished_at", null)
        .containsEntry("token", 3L);
    Lease lease = claim("A").orElseThrow();
    assertThat(lease.attempt()).isEqualTo(1);
    assertThat(lease.token()).isEqualTo(4);
    assertThat(queue.finish(lease, Outcome.retry("http-503"))).isTrue();
    assertThat(find("j1").state()).isEqualTo(JobState.PENDING);
  }

  @Test
  void case_4_4_aDeadlineThatIsOverIsRefused() {
    Job dead = dead("j1");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Redrive.note("OPS-1").approvedBy("kim").deadline(Duration.ZERO))
        .withMessageContaining("deadline");
    assertThat(find("j1")).isEqualTo(dead);
    assertThat(auditRows()).isZero();
  }

  @Test
  void theAuditKeepsTheDeathAsItWas() {
    submit("j1");
    exhaust("j1");
    clock.at(T0 + 50_000);
    assertThat(queue.investigate(find("j1"), "OPS-16", "lee")).isTrue();
    clock.at(T0 + 60_000);
    assertThat(queue.redrive(find("j1"), ORDER)).isTrue();
    assertThat(audit("j1")).hasSize(1);
    assertThat(audit("j1").get(0))
        .containsEntry("queue", "default")
        .containsEntry("job_id", "j1")
        .containsEntry("previous_token", 3L)
        .containsEntry("at_ms", T0 + 60_000)
        .containsEntry("note", "OPS-17")
        .containsEntry("approved_by", "kim")
        .containsEntry("deadline_at", T0 + 660_000)
        .containsEntry("previous_reason", "exhausted")
        .containsEntry("previous_fault", "http-503")
        .containsEntry("previous_attempts", 3L)
        .containsEntry("previous_deadline_at", T0 + 600_000)
        .containsEntry("previous_finished_at", T0)
        .containsEntry("previous_investigated_at", T0 + 50_000)
        .containsEntry("previous_investigated_by", "lee")
        .containsEntry("previous_investigation", "OPS-16");
    assertThat(find("j1").investigation()).isEmpty();
  }

  @Test
  void oneDeathIsRedrivenOnce() {
    Job dead = dead("j1");
    assertThat(queue.redrive(dead, ORDER)).isTrue();
    assertThat(queue.redrive(dead, ORDER)).isFalse();
    assertThat(auditRows()).isEqualTo(1);
  }

  @Test
  void anOldLookDoesNotRedriveANewDeath() {
    Job first = dead("j1");
    assertThat(queue.redrive(first, ORDER)).isTrue();
    assertThat(queue.finish(claim("A").orElseThrow(), Outcome.permanent("http-400"))).isTrue();
    Map<String, @Nullable Object> before = row("j1");
    assertThat(queue.redrive(first, ORDER)).isFalse();
    assertThat(queue.investigate(first, "OPS-1", "kim")).isFalse();
    assertThat(row("j1")).isEqualTo(before);
    assertThat(auditRows()).isEqualTo(1);
  }

  /** Case 4.3, the reverse. */
  @Test
  void case_4_3_aRedriveOfAPendingJobWritesNoAudit() {
    submit("j1");
    assertThat(queue.redrive(find("j1"), ORDER)).isFalse();
    assertThat(auditRows()).isZero();
  }

  @Test
  void aLeasedJobCannotBeRedriven() {
    assertThat(leased("j1").token()).isEqualTo(1);
    assertThat(queue.redrive(find("j1"), ORDER)).isFalse();
    assertThat(auditRows()).isZero();
  }

  /** The token is the same, but nobody has looked at this death. */
  @Test
  void aLookFromBeforeTheDeathAllowsNothing() {
    Lease lease = leased("j1");
    Job alive = find("j1");
    assertThat(queue.finish(lease, Outcome.permanent("http-422"))).isTrue();
    assertThat(queue.investigate(alive, "OPS-1", "kim")).isFalse();
    assertThat(queue.redrive(alive, ORDER)).isFalse();
    assertThat(find("j1").investigation()).isEmpty();
    assertThat(auditRows()).isZero();
  }

  /** Cases 4.3 and 10.12. */
  @Test
  void case_4_3_aRedriveWhoseAuditFailsLeavesTheJobDead() {
    Job dead = dead("j1");
    Map<String, @Nullable Object> before = row("j1");
    backend.breakInserts(store, "redrives");
    assertThatExceptionOfType(DataAccessException.class)
        .isThrownBy(() -> queue.redrive(dead, ORDER));
    assertThat(row("j1")).isEqualTo(before);
    assertThat(auditRows()).isZero();
    backend.mend(store, "redrives");
    assertThat(queue.redrive(dead, ORDER)).isTrue();
  }

  @Test
  void aRedriveWhoseUpdateFailsWritesNoAudit() {
    Job dead = dead("j1");
    backend.breakUpdates(store, "jobs");
    assertThatExceptionOfType(DataAccessException.class)
        .isThrownBy(() -> queue.redrive(dead, ORDER));
    assertThat(auditRows()).isZero();
    backend.mend(store, "jobs");
    assertThat(find("j1")).isEqualTo(dead);
  }

  /** Case 10.12, second part, and the surviving token. */
  @Test
  void case_10_12_twoDeathsLeaveTwoAuditRows() {
    assertThat(queue.redrive(dead("j1"), ORDER)).isTrue();
    assertThat(queue.finish(claim("A").orElseThrow(), Outcome.permanent("http-400"))).isTrue();
    assertThat(queue.redrive(find("j1"), ORDER)).isTrue();
    assertThat(audit("j1")).extracting(row -> row.get("previous_token")).containsExactly(1L, 2L);
    assertThat(audit("j1"))
        .extracting(row -> row.get("previous_fault"))
        .containsExactly("http-422", "http-400");
    assertThat(row("j1")).containsEntry("token", 2L);
  }

  /** Case 10.9. */
  @Test
  void case_10_9_aRedriveAfterADeadlineRuns() {
    submit("j1");
    clock.at(T0 + 600_000);
    assertThat(claim("A")).isEmpty();
    assertThat(find("j1").reason()).contains(DeadReason.DEADLINE);
    assertThat(queue.redrive(find("j1"), ORDER)).isTrue();
    assertThat(claim("A").map(Lease::attempt)).contains(1);
  }

  /** Case 10.9. */
  @Test
  void case_10_9_aRedriveAfterExhaustionHasTheWholeBudget() {
    submit("j1");
    exhaust("j1");
    assertThat(queue.redrive(find("j1"), ORDER)).isTrue();
    exhaust("j1");
    assertThat(row("j1"))
        .containsEntry("state", "dead")
        .containsEntry("attempts", 3L)
        .containsEntry("token", 6L);
  }

  @Test
  void theLastLookStands() {
    Job dead = dead("j1");
    assertThat(queue.investigate(dead, "OPS-1", "kim")).isTrue();
    clock.at(T0 + 5);
    assertThat(queue.investigate(dead, "OPS-2", "lee")).isTrue();
    assertThat(find("j1").investigation().map(Job.Investigation::ticket)).contains("OPS-2");
    assertThat(find("j1").investigation().map(Job.Investigation::by)).contains("lee");
  }

  @Test
  void purgeNeverForgetsAJobThatWasRedriven() {
    assertThat(queue.redrive(dead("j1"), ORDER)).isTrue();
    assertThat(queue.finish(claim("A").orElseThrow(), Outcome.ok())).isTrue();
    assertThat(queue.finish(leased("j2"), Outcome.ok())).isTrue();
    clock.at(T0 + 100L * 86_400_000);
    assertThat(queue.purgeDone(Duration.ofDays(1), 10)).isEqualTo(1);
    assertThat(queue.find("j2")).isEmpty();
    assertThat(find("j1").state()).isEqualTo(JobState.DONE);
  }

  @Test
  void purgeTakesTheOldestUpToItsLimit() {
    for (String id : new String[] {"a", "b", "c"}) {
      assertThat(queue.finish(leased(id), Outcome.ok())).isTrue();
    }
    plant("update jobs set finished_at = finished_at - 5 where id = 'c'");
    clock.at(T0 + 86_400_001);
    assertThat(queue.purgeDone(Duration.ofDays(1), 2)).isEqualTo(2);
    assertThat(queue.find("c")).isEmpty();
    assertThat(queue.purgeDone(Duration.ofDays(1), 2)).isEqualTo(1);
    assertThat(queue.purgeDone(Duration.ofDays(1), 2)).isZero();
  }

  private void exhaust(String id) {
    while (find(id).state() != JobState.DEAD) {
      Lease lease = claim("A").orElseThrow();
      assertThat(queue.finish(lease, Outcome.retry("http-503", Duration.ZERO))).isTrue();
    }
  }
}
