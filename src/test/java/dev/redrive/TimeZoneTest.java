package dev.redrive;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.TimeZone;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Case 5.6: times are numbers, and no zone shifts them. */
class TimeZoneTest extends QueueTest {
  private final TimeZone before = TimeZone.getDefault();

  @AfterEach
  void restoreZone() {
    TimeZone.setDefault(before);
  }

  @ParameterizedTest
  @ValueSource(strings = {"UTC", "America/St_Johns", "Pacific/Auckland", "Asia/Kolkata"})
  void case_5_6_noZoneShiftsATime(String zone) {
    TimeZone.setDefault(TimeZone.getTimeZone(zone));
    Instant at = Instant.ofEpochMilli(T0 + 1_500);
    assertThat(queue.submit(job("j1").availableAt(at)).created()).isTrue();
    TimeZone.setDefault(TimeZone.getTimeZone("Europe/Berlin"));
    assertThat(row("j1")).containsEntry("available_at", T0 + 1_500);
    assertThat(find("j1").availableAt()).isEqualTo(at);
    clock.at(T0 + 1_499);
    assertThat(claim("A")).isEmpty();
    clock.at(T0 + 1_500);
    assertThat(claim("A")).isPresent();
  }

  /** Berlin's clocks go from 02:00 to 03:00 at this instant. */
  @Test
  void case_5_6_aClockChangeMovesNothing() {
    TimeZone.setDefault(TimeZone.getTimeZone("Europe/Berlin"));
    long springForward = Instant.parse("2027-03-28T01:00:00Z").toEpochMilli();
    clock.at(springForward - 15_000);
    Lease lease = leased("j1");
    clock.at(springForward + 14_999);
    assertThat(claim("B")).isEmpty();
    clock.at(springForward + 15_000);
    assertThat(claim("B")).isPresent();
    assertThat(queue.finish(lease, Outcome.ok())).isFalse();
  }

  @Test
  void case_5_6_aTimeOfFewDigitsIsEarlier() {
    assertThat(queue.submit(job("j1").availableAt(Instant.ofEpochMilli(999))).created()).isTrue();
    assertThat(claim("A")).isPresent();
  }

  @Test
  void case_6_1_theLastMillisecondOfTheYear9999() {
    long last = 253_402_300_799_999L;
    clock.at(last);
    Lease lease = leased("j1");
    assertThat(lease.leaseUntil().toEpochMilli()).isEqualTo(last + 30_000);
    assertThat(find("j1").submittedAt().toEpochMilli()).isEqualTo(last);
    assertThat(queue.finish(lease, Outcome.permanent("late"))).isTrue();
    assertThat(queue.redrive(find("j1"), ORDER)).isTrue();
    assertThat(audit("j1").get(0)).containsEntry("deadline_at", last + 600_000);
  }
}
