package dev.redrive;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The rules that public arguments follow. Each check names the argument and the rule it broke, and
 * never quotes the value: an id or a payload may be personal data, and error texts end up in logs.
 *
 * <p>Public for redrive's own packages, so that they refuse in the same words; of no use to a host.
 */
@CanIgnoreReturnValue
public final class Arguments {
  static final int MAX_IDENTIFIER_LENGTH = 64;
  static final int MAX_ID_LENGTH = 200;
  static final int MAX_ATTEMPTS = 1_000_000;
  static final Duration MAX_DURATION = Duration.ofDays(3650);

  /** The last millisecond of the year 9999. Adding {@link #MAX_DURATION} to it can't overflow. */
  static final long MAX_TIME = 253_402_300_799_999L;

  private static final String IDENTIFIER = "[A-Za-z0-9][A-Za-z0-9._:/#-]{0,63}";
  private static final String SCHEMA = "[a-z_][a-z0-9_]{0,62}";

  private Arguments() {}

  /**
   * Refuses null.
   *
   * @param value the argument
   * @param name what the caller calls it
   * @param <T> its type
   * @return the value
   * @throws IllegalArgumentException if null
   */
  public static <T> T notNull(@Nullable T value, String name) {
    if (value == null) {
      throw new IllegalArgumentException(name + " must not be null");
    }
    return value;
  }

  /**
   * Refuses what is no identifier.
   *
   * @param value the argument
   * @param name what the caller calls it
   * @return the value
   * @throws IllegalArgumentException if it is none
   */
  public static String identifier(@Nullable String value, String name) {
    String text = notNull(value, name);
    String rule = name + " must be an identifier, " + IDENTIFIER + ": ";
    if (text.isEmpty()) {
      throw new IllegalArgumentException(rule + "it is empty");
    }
    for (int i = 0; i < text.length(); i++) {
      if (i == 0 ? !startsIdentifier(text.charAt(i)) : !continuesIdentifier(text.charAt(i))) {
        throw new IllegalArgumentException(rule + at(i, text.charAt(i)));
      }
    }
    if (text.length() > MAX_IDENTIFIER_LENGTH) {
      throw new IllegalArgumentException(rule + "it has " + text.length() + " characters");
    }
    return text;
  }

  /** The name of a schema, as statements can have it without quotes. */
  static String schema(@Nullable String value, String name) {
    String text = notNull(value, name);
    if (!text.matches(SCHEMA)) {
      throw new IllegalArgumentException(
          name + " must be a name that needs no quotes, " + SCHEMA + ", and it is not");
    }
    return text;
  }

  static boolean startsIdentifier(char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  }

  static boolean continuesIdentifier(char c) {
    return startsIdentifier(c) || "._:/#-".indexOf(c) >= 0;
  }

  /**
   * Refuses what is no business ID: 1 to 200 code points, no control characters, no lone
   * surrogates.
   *
   * @param value the argument
   * @return the value
   * @throws IllegalArgumentException if null or none
   */
  public static String id(@Nullable String value) {
    return idText(value, "id", 1);
  }

  /**
   * Refuses what no business ID begins with: more than 200 code points, control characters, lone
   * surrogates.
   *
   * @param value the argument, which may be empty
   * @param name what the caller calls it
   * @return the value
   * @throws IllegalArgumentException if null or no beginning of an ID
   */
  public static String idPrefix(@Nullable String value, String name) {
    return idText(value, name, 0);
  }

  private static String idText(@Nullable String value, String name, int min) {
    String text = notNull(value, name);
    for (int i = 0; i < text.length(); i++) {
      if (Character.isISOControl(text.charAt(i))) {
        throw new IllegalArgumentException(
            name + " must not hold control characters: " + at(i, text.charAt(i)));
      }
    }
    refuseLoneSurrogates(text, name);
    int length = text.codePointCount(0, text.length());
    if (length < min || length > MAX_ID_LENGTH) {
      throw new IllegalArgumentException(
          name + " must have " + min + " to " + MAX_ID_LENGTH + " code points, it has " + length);
    }
    return text;
  }

  /** Text that both engines store unchanged; its size is checked by the queue that takes it. */
  static String payload(@Nullable String value) {
    String text = notNull(value, "payload");
    int nul = text.indexOf('\0');
    if (nul >= 0) {
      throw new IllegalArgumentException("payload must not hold NUL: " + at(nul, '\0'));
    }
    refuseLoneSurrogates(text, "payload");
    return text;
  }

  private static void refuseLoneSurrogates(String text, String name) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (Character.isHighSurrogate(c)
          && i + 1 < text.length()
          && Character.isLowSurrogate(text.charAt(i + 1))) {
        i++;
      } else if (Character.isSurrogate(c)) {
        throw new IllegalArgumentException(name + " must not hold lone surrogates: " + at(i, c));
      }
    }
  }

  private static String at(int index, char c) {
    return String.format("the character at index %d is U+%04X", index, (int) c);
  }

  /**
   * Refuses a number out of range.
   *
   * @param value the argument
   * @param name what the caller calls it
   * @param min the smallest allowed
   * @param max the largest allowed
   * @return the value
   * @throws IllegalArgumentException if out of range
   */
  public static int range(int value, String name, int min, int max) {
    if (value < min || value > max) {
      throw new IllegalArgumentException(
          name + " must be " + min + " to " + max + ", it is " + value);
    }
    return value;
  }

  /**
   * Refuses a duration out of range. Durations count in whole milliseconds; what is left of a
   * millisecond does not count.
   *
   * @param value the argument
   * @param name what the caller calls it
   * @param min the shortest allowed; the longest is 3,650 days
   * @return the value
   * @throws IllegalArgumentException if null or out of range
   */
  public static Duration duration(@Nullable Duration value, String name, Duration min) {
    Duration duration = notNull(value, name);
    if (duration.compareTo(min) < 0 || duration.compareTo(MAX_DURATION) > 0) {
      throw new IllegalArgumentException(
          String.format(
              "%s must be %s to %d days, it is %s",
              name, words(min), MAX_DURATION.toDays(), duration));
    }
    return duration;
  }

  private static String words(Duration min) {
    return min.toHours() > 0 ? min.toHours() + " hours" : min.toMillis() + " ms";
  }

  /**
   * Refuses a duration that is not 1 ms to 3,650 days.
   *
   * @param value the argument
   * @param name what the caller calls it
   * @return the value
   * @throws IllegalArgumentException if null or out of range
   */
  public static Duration positive(@Nullable Duration value, String name) {
    return duration(value, name, Duration.ofMillis(1));
  }

  /**
   * Refuses a time before 1970 or after 9999.
   *
   * @param value the argument
   * @param name what the caller calls it
   * @return the value
   * @throws IllegalArgumentException if null or out of range
   */
  public static Instant time(@Nullable Instant value, String name) {
    Instant time = notNull(value, name);
    if (time.isBefore(Instant.EPOCH) || time.isAfter(Instant.ofEpochMilli(MAX_TIME))) {
      throw new IllegalArgumentException(
          name + " must lie in the years 1970 to 9999 (UTC), it is " + time);
    }
    return time;
  }
}
