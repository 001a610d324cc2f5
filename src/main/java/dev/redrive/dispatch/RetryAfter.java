package dev.redrive.dispatch;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Reads the header Retry-After: seconds, or a date in one of the three forms of RFC 9110. */
final class RetryAfter {
  private static final List<DateTimeFormatter> DATES =
      List.of(
          format("EEE, dd MMM yyyy HH:mm:ss 'GMT'"),
          format("EEEE, dd-MMM-yy HH:mm:ss 'GMT'"),
          format("EEE MMM ppd HH:mm:ss yyyy"));

  private RetryAfter() {}

  private static DateTimeFormatter format(String pattern) {
    return DateTimeFormatter.ofPattern(pattern, Locale.ENGLISH);
  }

  /**
   * How long a receiver wants to be left alone, at most the cap. Empty if it says nothing that can
   * be read, and also if it says "at once": a job must not burn its attempts in a loop.
   */
  static Optional<Duration> delay(String header, Instant now, Duration cap) {
    Optional<Duration> wanted =
        !header.isEmpty() && header.chars().allMatch(c -> c >= '0' && c <= '9')
            ? Optional.of(seconds(header, cap))
            : date(header).map(date -> Duration.between(now, date));
    return wanted
        .map(delay -> delay.compareTo(cap) < 0 ? delay : cap)
        .filter(delay -> delay.toMillis() > 0);
  }

  private static Duration seconds(String digits, Duration cap) {
    try {
      return Duration.ofSeconds(Integer.parseInt(digits));
    } catch (NumberFormatException e) {
      return cap; // more than 68 years
    }
  }

  private static Optional<Instant> date(String text) {
    for (DateTimeFormatter format : DATES) {
      try {
        return Optional.of(LocalDateTime.parse(text, format).toInstant(ZoneOffset.UTC));
      } catch (DateTimeException e) {
        // one of the other forms, or none
      }
    }
    return Optional.empty();
  }
}
