package dev.redrive;

import java.util.Locale;

/** Where a job stands. Its text form is the word stored in {@code jobs.state}. */
public enum JobState {
  /** Waits for its next run. */
  PENDING,
  /** Held by an owner, until the lease is over. */
  LEASED,
  /** Finished ok. */
  DONE,
  /** In quarantine: only a redrive starts it again. */
  DEAD;

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
   * The state of its stored word.
   *
   * @param stored one of pending, leased, done, dead
   * @return the state
   * @throws IllegalArgumentException if null or another word
   */
  public static JobState of(String stored) {
    Arguments.notNull(stored, "stored");
    for (JobState state : values()) {
      if (state.toString().equals(stored)) {
        return state;
      }
    }
    throw new IllegalArgumentException("stored must be one of pending, leased, done, dead");
  }
}
