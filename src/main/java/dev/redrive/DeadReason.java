package dev.redrive;

import java.util.Locale;

/** What put a job into quarantine. Its text form is the word stored in {@code jobs.reason}. */
public enum DeadReason {
  /** A worker said that no repetition can help. */
  PERMANENT,
  /** The attempts of this life are used up. */
  EXHAUSTED,
  /** The time of this life is over, or would be before the next run. */
  DEADLINE;

  /**
   * The word stored in the database.
   *
   * @return the name in lower case
   */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * The reason of its stored word.
   *
   * @param stored one of permanent, exhausted, deadline
   * @return the reason
   * @throws IllegalArgumentException if null or another word
   */
  public static DeadReason of(String stored) {
    Arguments.notNull(stored, "stored");
    for (DeadReason reason : values()) {
      if (reason.toString().equals(stored)) {
        return reason;
      }
    }
    throw new IllegalArgumentException("stored must be one of permanent, exhausted, deadline");
  }
}
