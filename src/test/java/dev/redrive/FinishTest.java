package dev.redrive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class FinishTest extends QueueTest {

  static List<Outcome> outcomes() {
    return List.of(
        Outcome.ok(), Outcome.retry("late", Duration.ofSeconds(1)), Outcome.permanent("late"));
  }

  /** Case 1.1. */
  @ParameterizedTest
  @MethodSource("outcomes")
  void case_1_1_aLateFinishDoesNotTouchTheNewOwner(Outcome late) {
    Lease stale = leased("j1");
    clock.at(T0 + 30_000);
    Lease current = claim("B").orElseThrow();
    Map<String, @Nullable Object> before = row("j1");

    assertThat(queue.finish(stale, late)).isFalse();

    assertThat(row("j1")).isEqualTo(before);
    assertThat(row("j1"))
        .containsEntry("state", "leased")
        .containsEntry("owner", "B")
        .containsEntry("token", 2L)
        .containsEntry("attempts", 2L)
        .containsEntry("lease_until", T0 + 60_000);
    assertThat(claim("C")).isEmpty();
    assertThat(queue.finish(current, Outcome.ok())).isTrue();
  }

  @ParameterizedTest
  @MethodSource("outcomes")
  void theSameOwnerWithAnOldTokenIsStale(Outcome late) {
    Lease stale = leased("j1");
    clock.at(T0 + 30_000);
    assertThat(claim("A")).isPresent();
    assertThat(queue.finish(stale, late)).isFalse();
  }

  @ParameterizedTest
  @MethodSource("outcomes")
  void theTokenOfAnotherOwnerIsRefused(Outcome outcome) {
    Lease held = leased("j1");
    Lease stolen =
        new Lease(
            held.queue(),
            held.id(),
            "B",
            held.token(),
            held.attempt(),
            held.maxAttempts(),
            held.leaseUntil(),
            held.deadline(),
            held.payload());
    assertThat(queue.finish(stolen, outcome)).isFalse();
    assertThat(find("j1").owner()).contains("A");
  }

  @ParameterizedTest
  @MethodSource("outcomes")
  void aSecondFinishOfTheSameLeaseIsFalse(Outcome second) {
    Lease lease = leased("j1");
    assertThat(queue.finish(lease, Outcome.ok())).isTrue();
    Map<String, @Nullable Object> before = row("j1");
    assertThat(queue.finish(lease, second)).isFalse();
    assertThat(row("j1")).isEqualTo(before);
  }

  @ParameterizedTest
  @MethodSource("outcomes")
  void aLeaseOfAnEarlierLifeIsStale(Outcome late) {
    Lease firstLife = leased("j1");
    assertThat(queue.finish(firstLife, Outcome.permanent("http-422"))).isTrue();
    assertThat(queue.redrive(find("j1"), ORDER)).isTrue();
    assertThat(queue.finish(firstLife, late)).isFalse();
    Lease secondLife = claim("A").orElseThrow();
    assertThat(queue.finish(firstLife, late)).isFalse();
    assertThat(secondLife.token()).isEqualTo(2);
    assertThat(queue.finish(secondLife, Outcome.ok())).isTrue();
  }

  @Test
  void theFaultOfARetryIsKeptUntilTheNext() {
    Lease first = leased("j1");
    assertThat(queue.finish(first, Outcome.retry("http-503"))).isTrue();
    clock.at(T0 + 1_000);
    Lease second = claim("A").orElseThrow();
    assertThat(find("j1").fault()).contains("http-503");
    assertThat(queue.finish(second, Outcome.ok())).isTrue();
    assertThat(find("j1").fault()).contains("http-503");
  }

  @Test
  void theRetryPolicyCountsTheAttemptsOfThisLife() {
    assertThat(queue.submit(job("j1").maxAttempts(10)).created()).isTrue();
    long now = T0;
    for (long expected : List.of(1_000L, 2_000L, 4_000L)) {
      assertThat(queue.finish(claim("A").orElseThrow(), Outcome.retry("http-503"))).isTrue();
      assertThat(row("j1")).containsEntry("available_at", now + expected);
      now += expected;
      clock.at(now);
    }
  }

  /** Case 2.3. */
  @Test
  void case_2_3_theFirstRetryOfASingleAttemptIsDead() {
    assertThat(queue.submit(job("j1").maxAttempts(1)).created()).isTrue();
    assertThat(queue.finish(claim("A").orElseThrow(), Outcome.retry("http-503"))).isTrue();
    assertThat(row("j1"))
        .containsEntry("state", "dead")
        .containsEntry("reason", "exhausted")
        .containsEntry("fault", "http-503");
  }

  @Test
  void exhaustedWinsOverDeadline() {
    assertThat(queue.submit(job("j1").maxAttempts(1)).created()).isTrue();
    Lease lease = claim("A").orElseThrow();
    assertThat(queue.finish(lease, Outcome.retry("slow", Duration.ofDays(1)))).isTrue();
    assertThat(find("j1").reason()).contains(DeadReason.EXHAUSTED);
  }

  /** Case 3.3, last part. */
  @Test
  void case_3_3_aNegativeDelayIsRefused() {
    Lease lease = leased("j1");
    Map<String, @Nullable Object> before = row("j1");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Outcome.retry("http-503", Duration.ofMillis(-5)))
        .withMessageContaining("delay");
    assertThat(row("j1")).isEqualTo(before);
    assertThat(queue.finish(lease, Outcome.ok())).isTrue();
  }

  @Test
  void severalFinishesAnswerInTheirOrder() {
    Lease b = leased("b");
    Lease a = leased("a");
    Lease stale = leased("c");
    assertThat(queue.release(stale)).isTrue();
    assertThat(
            queue.finishAll(
                List.of(
                    new Finish(b, Outcome.ok()),
                    new Finish(stale, Outcome.ok()),
                    new Finish(a, Outcome.retry("http-503")),
                    new Finish(b, Outcome.permanent("twice")))))
        .containsExactly(true, false, true, false);
    assertThat(find("b").state()).isEqualTo(JobState.DONE);
    assertThat(find("a").state()).isEqualTo(JobState.PENDING);
  }

  @Test
  void finishAndClaimDoesBothInOneTransaction() {
    Lease first = leased("j1");
    submit("j2");
    FinishedAndClaimed both = queue.finishAndClaim(first, Outcome.ok(), "A", LEASE);
    assertThat(both.finished()).isTrue();
    assertThat(both.next().map(Lease::id)).contains("j2");
    assertThat(queue.finishAndClaim(both.next().orElseThrow(), Outcome.ok(), "A", LEASE).next())
        .isEmpty();
  }

  /** The owner may finish until somebody takes the row, and that must not be the same call. */
  @ParameterizedTest
  @MethodSource("outcomes")
  void finishAndClaimDoesNotBuryWhatItFinishes(Outcome outcome) {
    assertThat(queue.submit(job("j1").maxAttempts(1)).created()).isTrue();
    Lease lease = claim("A").orElseThrow();
    assertThat(claim("B")).isEmpty();
    clock.at(T0 + 700_000); // lease, deadline and attempts are over, and a bury is due
    assertThat(queue.finishAndClaim(lease, outcome, "A", LEASE).finished()).isTrue();
    assertThat(row("j1"))
        .containsEntry("token", 1L)
        .containsEntry("fault", outcome.equals(Outcome.ok()) ? null : "late")
        .containsEntry("state", outcome.equals(Outcome.ok()) ? "done" : "dead");
  }

  @Test
  void finishAndClaimBuriesWhatElseIsSpent() {
    Lease lease = leased("j1");
    submit("spent");
    plant("update jobs set attempts = 3 where id = 'spent'");
    clock.at(T0 + 1_000);
    assertThat(queue.finishAndClaim(lease, Outcome.ok(), "A", LEASE).next()).isEmpty();
    assertThat(find("spent").reason()).contains(DeadReason.EXHAUSTED);
  }

  @Test
  void finishAndClaimClaimsAlsoWhenTheFinishWasStale() {
    Lease stale = leased("j1");
    assertThat(queue.finish(stale, Outcome.ok())).isTrue();
    submit("j2");
    FinishedAndClaimed both = queue.finishAndClaim(stale, Outcome.ok(), "A", LEASE);
    assertThat(both.finished()).isFalse();
    assertThat(both.next().map(Lease::id)).contains("j2");
  }

  @Test
  void finishAndClaimCanTakeTheSameJobAgain() {
    Lease first = leased("j1");
    FinishedAndClaimed both =
        queue.finishAndClaim(first, Outcome.retry("http-503", Duration.ZERO), "A", LEASE);
    assertThat(both.next().map(Lease::token)).contains(2L);
  }

  @Test
  void aListenerHearsWhatAFinishLedTo() {
    List<JobEvent> events = new ArrayList<>();
    JobQueue heard = queue.listening(events::add);
    Lease lease = leased("j1");
    assertThat(heard.finish(lease, Outcome.retry("http-503", Duration.ZERO))).isTrue();
    assertThat(heard.finish(lease, Outcome.ok())).isFalse();
    assertThat(heard.finish(claim("A").orElseThrow(), Outcome.permanent("http-422"))).isTrue();
    assertThat(heard.finish(leased("j2"), Outcome.ok())).isTrue();
    assertThat(events)
        .containsExactly(
            new JobEvent.Retried("default", "j1", 1, "http-503"),
            new JobEvent.Stale("default", "j1", 1, JobEvent.Verb.FINISH),
            new JobEvent.Died("default", "j1", 2, DeadReason.PERMANENT, Optional.of("http-422")),
            new JobEvent.Done("default", "j2", 1));
  }

  @Test
  void aListenerThatFailsChangesNothing() {
    JobQueue heard =
        queue.listening(
            event -> {
              throw new IllegalStateException("listener");
            });
    assertThat(heard.finish(leased("j1"), Outcome.ok())).isTrue();
    assertThat(find("j1").state()).isEqualTo(JobState.DONE);
  }

  /** Cases 8.5 b and 10.17, as far as one process can show them. */
  @Test
  void case_10_17_aFinishThatWasStoredIsToldApartFromAStaleOne() {
    Lease lease = leased("j1");
    assertThat(find("j1").endedBy(lease)).isFalse();
    assertThat(queue.finish(lease, Outcome.ok())).isTrue();
    assertThat(queue.finish(lease, Outcome.ok())).isFalse();
    assertThat(find("j1").endedBy(lease)).isTrue();

    Lease lost = leased("j2");
    clock.at(T0 + 30_000);
    assertThat(claim("B")).isPresent();
    assertThat(find("j2").endedBy(lost)).isFalse();
  }

  @Test
  void aJobThatWasBuriedWasNotEndedByItsLease() {
    assertThat(queue.submit(job("j1").maxAttempts(1)).created()).isTrue();
    Lease lost = claim("A").orElseThrow();
    clock.at(T0 + 30_000);
    assertThat(claim("B")).isEmpty();
    assertThat(find("j1").state()).isEqualTo(JobState.DEAD);
    assertThat(find("j1").endedBy(lost)).isFalse();
  }
}
