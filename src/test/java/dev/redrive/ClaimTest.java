package dev.redrive;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ClaimTest extends QueueTest {

  @Test
  void theAnswerIsTheWholeLease() {
    submit("j1");
    assertThat(claim("A"))
        .contains(
            new Lease(
                "default",
                "j1",
                "A",
                1,
                1,
                3,
                Instant.ofEpochMilli(T0 + 30_000),
                Instant.ofEpochMilli(T0 + 600_000),
                "{}"));
  }

  @Test
  void theOldestComeFirst() {
    for (String id : List.of("b", "a", "z")) {
      submit(id);
    }
    assertThat(queue.submit(job("old").availableAt(Instant.ofEpochMilli(T0 - 1))).created())
        .isTrue();
    assertThat(queue.submit(job("new").availableAt(Instant.ofEpochMilli(T0 + 1))).created())
        .isTrue();
    assertThat(queue.claim("A", LEASE, 3)).extracting(Lease::id).containsExactly("old", "a", "b");
    assertThat(queue.claim("A", LEASE, 3)).extracting(Lease::id).containsExactly("z");
  }

  @Test
  void theAnswerIsOrderedByAvailabilityAndId() {
    List<String> ids = IntStream.range(0, 300).mapToObj(i -> "j" + (997 * i) % 300).toList();
    ids.forEach(this::submit);
    assertThat(queue.claim("A", LEASE, 1_000))
        .extracting(Lease::id)
        .containsExactlyElementsOf(ids.stream().sorted().toList());
  }

  @Test
  void anotherQueueIsOutOfReach() {
    submit("j1");
    JobQueue other = queue("other").build();
    assertThat(other.claim("A", LEASE)).isEmpty();
    assertThat(other.find("j1")).isEmpty();
    assertThat(other.submit(job("j1")).created()).isTrue();
    Lease lease = other.claim("A", LEASE).orElseThrow();
    assertThat(other.finish(lease, Outcome.ok())).isTrue();
    assertThat(find("j1").state()).isEqualTo(JobState.PENDING);
  }

  @Test
  void aLeaseTakenOverLeavesItsFault() {
    Lease first = leased("j1");
    clock.at(T0 + 30_000);
    Lease second = claim("B").orElseThrow();
    assertThat(second.token()).isEqualTo(first.token() + 1);
    assertThat(second.attempt()).isEqualTo(2);
    assertThat(find("j1").fault()).contains("lease-expired");
  }

  /** Case 2.1. */
  @Test
  void case_2_1_aJobThatKillsItsWorkerEndsAsExhausted() {
    submit("j1");
    List<Long> tokens = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      clock.at(T0 + 30_000L * i);
      tokens.add(claim("A").orElseThrow().token());
    }
    clock.at(T0 + 90_000);
    assertThat(claim("A")).isEmpty();
    assertThat(tokens).containsExactly(1L, 2L, 3L);
    assertThat(row("j1"))
        .containsEntry("state", "dead")
        .containsEntry("reason", "exhausted")
        .containsEntry("fault", "lease-expired")
        .containsEntry("attempts", 3L)
        .containsEntry("token", 4L);
  }

  /** Case 2.3. */
  @Test
  void case_2_3_aPlantedRowAtItsLimitIsBuried() {
    submit("j1");
    plant("update jobs set attempts = 3 where id = 'j1'");
    assertThat(claim("A")).isEmpty();
    assertThat(find("j1").reason()).contains(DeadReason.EXHAUSTED);
  }

  /** Case 10.3. */
  @Test
  void case_10_3_oneRowAtItsLimitStopsNobodyElse() {
    submit("bad");
    plant("update jobs set attempts = 3 where id = 'bad'");
    IntStream.range(0, 10).forEach(i -> submit("good-" + i));
    assertThat(queue.claim("A", LEASE, 20)).hasSize(10);
    assertThat(find("bad").reason()).contains(DeadReason.EXHAUSTED);
  }

  /** Case 10.4: a queue object that has seen nothing before. */
  @Test
  void case_10_4_aNewProcessFindsWhatADeadOneLeft() {
    Lease orphan = leased("j1");
    clock.at(T0 + 30_000);
    JobQueue fresh = queue("default").build();
    assertThat(fresh.claim("Z", LEASE).map(Lease::token)).contains(orphan.token() + 1);
  }

  /** Case 10.5. */
  @Test
  void case_10_5_aLeaseCountsFromItsClaim() {
    submit("j1");
    clock.at(T0 + 60_000);
    assertThat(claim("A")).isPresent();
    assertThat(claim("B")).isEmpty();
    assertThat(row("j1")).containsEntry("lease_until", T0 + 90_000);
  }

  @Test
  void deadAndDoneWorkIsNotClaimed() {
    assertThat(dead("j1").state()).isEqualTo(JobState.DEAD);
    assertThat(queue.finish(leased("j2"), Outcome.ok())).isTrue();
    clock.at(T0 + 10_000_000);
    assertThat(claim("A")).isEmpty();
  }

  /** A queue that is always busy still buries, once a second. */
  @Test
  void spentWorkIsBuriedWhileClaimsComeBackFull() {
    IntStream.range(0, 10).forEach(i -> submit("j" + i));
    assertThat(queue.claim("A", LEASE, 1)).hasSize(1);
    plant("update jobs set attempts = 3 where id = 'j9'");
    clock.at(T0 + 999);
    assertThat(queue.claim("A", LEASE, 1)).hasSize(1);
    assertThat(find("j9").state()).isEqualTo(JobState.PENDING);
    clock.at(T0 + 1_000);
    assertThat(queue.claim("A", LEASE, 1)).hasSize(1);
    assertThat(find("j9").state()).isEqualTo(JobState.DEAD);
  }

  @Test
  void aClockThatJumpsBackStillBuries() {
    submit("j0");
    submit("j1");
    submit("j2");
    clock.at(T0 + 1);
    assertThat(queue.claim("A", LEASE, 1)).hasSize(1);
    plant("update jobs set attempts = 3 where id = 'j2'");
    clock.at(T0);
    assertThat(queue.claim("A", LEASE, 1)).hasSize(1);
    assertThat(find("j2").state()).isEqualTo(JobState.DEAD);
  }

  @Test
  void spentWorkNeverHidesWhatIsClaimable() {
    IntStream.range(0, 50).forEach(i -> submit("spent-" + i));
    plant("update jobs set attempts = 3");
    submit("z");
    assertThat(queue.claim("A", LEASE, 1)).extracting(Lease::id).containsExactly("z");
  }

  @Test
  void aLeaseMayLastTenYears() {
    submit("j1");
    Lease lease = queue.claim("A", Duration.ofDays(3650)).orElseThrow();
    assertThat(lease.leaseUntil()).isEqualTo(Instant.ofEpochMilli(T0).plus(Duration.ofDays(3650)));
  }
}
