package dev.redrive.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RetryAfterTest {
  private static final Instant NOW = Instant.parse("1994-11-06T08:49:30Z");

  @ParameterizedTest
  @CsvSource({
    "'Sun, 06 Nov 1994 08:49:37 GMT', 7000",
    "'Sun Nov  6 08:49:37 1994', 7000",
    "'Sun, 06 Nov 1994 08:49:37', ",
    "'Mon, 06 Nov 1994 08:49:37 GMT', ",
    "'Sun, 06 Nov 1994 08:49:37 UTC', ",
    "1, 1000",
    "0007, 7000",
    "1.5, ",
    "+7, ",
    "７, ",
    "0x7, ",
    "'', ",
    "2147483648, 60000",
  })
  void isReadAsTheStandardSays(String header, Long millis) {
    assertThat(
            RetryAfter.delay(header, NOW, Duration.ofMinutes(1))
                .map(Duration::toMillis)
                .orElse(null))
        .isEqualTo(millis);
  }

  @ParameterizedTest
  @CsvSource({"'Friday, 15-Jan-27 08:00:07 GMT', 7000", "'Fri Jan 15 08:00:07 2027', 7000"})
  void isReadInItsOldFormsToo(String header, long millis) {
    assertThat(
            RetryAfter.delay(header, Instant.parse("2027-01-15T08:00:00Z"), Duration.ofMinutes(1)))
        .contains(Duration.ofMillis(millis));
  }
}
