package dev.redrive;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One millisecond before each boundary, at it, and one after. */
class BoundaryTest extends QueueTest {

  @ParameterizedTest
  @ValueSource(longs = {-1, 0, 1})
  void aJobIsClaimableFromItsAvailability(long offset) {
    assertThat(queue.submit(job("j1").availableAt(Instant.ofEpochMilli(T0 + 5_000))).created())
        .isTrue();
    clock.at(T0 + 5_000 + offset);
    assertThat(claim("A").isPresent()).isEqualTo(offset >= 0);
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, 0, 1})
  void aLeaseIsOverAtItsEnd(long offset) {
    Lease lease = leased("j1");
    clock.at(T0 + 30_000 + offset);
    assertThat(claim("B").isPresent()).isEqualTo(offset >= 0);
    assertThat(queue.finish(lease, Outcome.ok())).isEqualTo(offset < 0);
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, 0, 1})
  void aLeaseIsRenewableBeforeItsEnd(long offset) {
    Lease lease = leased("j1");
    clock.at(T0 + 30_000 + offset);
    assertThat(queue.renew(lease, LEASE)).isEqualTo(offset < 0);
    long until = offset < 0 ? T0 + 60_000 + offset : T0 + 30_000;
    assertThat(row("j1")).containsEntry("lease_until", until);
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, 0, 1})
  void theOwnerMayFinishAroundTheEndOfTheLease(long offset) {
    Lease lease = leased("j1");
    clock.at(T0 + 30_000 + offset);
    assertThat(queue.finish(lease, Outcome.ok())).isTrue();
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, 0, 1})
  void aDeadlineIsOverAtItsTime(long offset) {
    submit("j1");
    clock.at(T0 + 600_000 + offset);
    assertThat(claim("A").isPresent()).isEqualTo(offset < 0);
    assertThat(find("j1").reason().isPresent()).isEqualTo(offset >= 0);
    if (offset >= 0) {
      assertThat(row("j1")).containsEntry("reason", "deadline").containsEntry("fault", null);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, 0, 1})
  void aRetryIsDeadWhenItsNextRunWouldMeetTheDeadline(long offset) {
    Lease lease = leased("j1");
    Duration delay = Duration.ofMillis(600_000 + offset);
    assertThat(queue.finish(lease, Outcome.retry("http-503", delay))).isTrue();
    assertThat(row("j1"))
        .containsEntry("state", offset < 0 ? "pending" : "dead")
        .containsEntry("reason", offset < 0 ? null : "deadline")
        .containsEntry("available_at", offset < 0 ? T0 + 600_000 + offset : T0);
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, 0, 1})
  void okUnderALiveLeaseAfterTheDeadlineIsDone(long offset) {
    submit("j1");
    Lease lease = queue.claim("A", Duration.ofHours(1)).orElseThrow();
    clock.at(T0 + 600_000 + offset);
    assertThat(queue.finish(lease, Outcome.ok())).isTrue();
    assertThat(find("j1").state()).isEqualTo(JobState.DONE);
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, 0, 1})
  void aLiveLeaseIsNotBuriedByItsDeadline(long offset) {
    submit("j1");
    Lease lease = queue.claim("A", Duration.ofMillis(700_000)).orElseThrow();
    clock.at(T0 + 600_000);
    assertThat(claim("B")).isEmpty();
    assertThat(find("j1").state()).isEqualTo(JobState.LEASED);
    clock.at(T0 + 700_000 + offset);
    assertThat(claim("B")).isEmpty();
    assertThat(queue.finish(lease, Outcome.ok())).isEqualTo(offset < 0);
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, 0, 1})
  void doneWorkIsForgottenOnceOlderThanTheAge(long offset) {
    assertThat(queue.finish(leased("j1"), Outcome.ok())).isTrue();
    clock.at(T0 + 86_400_000 + offset);
    assertThat(queue.purgeDone(Duration.ofHours(24), 10)).isEqualTo(offset > 0 ? 1 : 0);
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4})
  void theLastAttemptThatFailsIsTheLimit(int maxAttempts) {
    assertThat(queue.submit(job("j1").maxAttempts(maxAttempts)).created()).isTrue();
    for (int attempt = 1; attempt <= 3 && find("j1").state() == JobState.PENDING; attempt++) {
      Lease lease = claim("A").orElseThrow();
      assertThat(lease.attempt()).isEqualTo(attempt);
      assertThat(queue.finish(lease, Outcome.retry("http-503", Duration.ZERO))).isTrue();
    }
    assertThat(row("j1"))
        .containsEntry("state", maxAttempts > 3 ? "pending" : "dead")
        .containsEntry("reason", maxAttempts > 3 ? null : "exhausted")
        .containsEntry("attempts", Math.min(3L, maxAttempts));
  }
}
