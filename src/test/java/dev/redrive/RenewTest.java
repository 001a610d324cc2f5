package dev.redrive;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class RenewTest extends QueueTest {

  /** Case 1.3. */
  @Test
  void case_1_3_aRenewalDoesNotReviveALeaseThatIsOver() {
    Lease lease = leased("j1");
    clock.at(T0 + 29_999);
    assertThat(queue.renew(lease, LEASE)).isTrue();
    assertThat(row("j1")).containsEntry("lease_until", T0 + 59_999);

    clock.at(T0);
    Lease other = leased("j2");
    clock.at(T0 + 30_000);
    assertThat(queue.renew(other, LEASE)).isFalse();
    assertThat(row("j2")).containsEntry("lease_until", T0 + 30_000);
    assertThat(claim("B").map(Lease::token)).contains(2L);
  }

  /** Cases 1.3 and 9.2. */
  @Test
  void case_9_2_anEarlierClockNeverShortensALease() {
    Lease lease = leased("j1");
    clock.at(T0 - 3_600_000);
    assertThat(queue.renew(lease, LEASE)).isTrue();
    assertThat(row("j1")).containsEntry("lease_until", T0 + 30_000);
  }

  @Test
  void aShorterRenewalKeepsTheLongerLease() {
    Lease lease = leased("j1");
    assertThat(queue.renew(lease, Duration.ofMillis(1))).isTrue();
    assertThat(row("j1")).containsEntry("lease_until", T0 + 30_000);
  }

  @Test
  void aLeaseThatWasTakenIsNotRenewed() {
    Lease stale = leased("j1");
    clock.at(T0 + 30_000);
    assertThat(claim("B")).isPresent();
    assertThat(queue.renew(stale, LEASE)).isFalse();
  }

  @Test
  void aRenewedLeaseIsFinishedWithTheSameValue() {
    Lease lease = leased("j1");
    clock.at(T0 + 20_000);
    assertThat(queue.renew(lease, LEASE)).isTrue();
    clock.at(T0 + 45_000);
    assertThat(claim("B")).isEmpty();
    assertThat(queue.finish(lease, Outcome.ok())).isTrue();
  }
}
