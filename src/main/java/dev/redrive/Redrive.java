package dev.redrive;

import java.time.Duration;

/**
 * The permission to start a dead job again: {@code
 * Redrive.note("OPS-17").approvedBy("kim").deadline(Duration.ofHours(6))}. All three are required
 * and go into the audit row. After Amazon SQS's dead-letter queue redrive.
 *
 * @param note why, as an identifier such as a ticket number
 * @param approvedBy who allowed it, as an identifier
 * @param deadline how long the new life may take, 1 ms to 3,650 days from the redrive
 */
public record Redrive(String note, String approvedBy, Duration deadline) {
  /** Refuses bad input, naming argument and rule. */
  public Redrive {
    Arguments.identifier(note, "note");
    Arguments.identifier(approvedBy, "approvedBy");
    Arguments.positive(deadline, "deadline");
  }

  /**
   * Starts with the reason.
   *
   * @param note an identifier such as a ticket number
   * @return the next step
   * @throws IllegalArgumentException if it is no identifier
   */
  public static Noted note(String note) {
    return new Noted(note);
  }

  /**
   * A redrive that lacks its approver.
   *
   * @param note why
   */
  public record Noted(String note) {
    /** Refuses bad input, naming argument and rule. */
    public Noted {
      Arguments.identifier(note, "note");
    }

    /**
     * Says who allowed it.
     *
     * @param approvedBy an identifier
     * @return the next step
     * @throws IllegalArgumentException if it is no identifier
     */
    public Approved approvedBy(String approvedBy) {
      return new Approved(note, approvedBy);
    }
  }

  /**
   * A redrive that lacks its deadline.
   *
   * @param note why
   * @param approvedBy who allowed it
   */
  public record Approved(String note, String approvedBy) {
    /** Refuses bad input, naming argument and rule. */
    public Approved {
      Arguments.identifier(note, "note");
      Arguments.identifier(approvedBy, "approvedBy");
    }

    /**
     * Gives the new life its time.
     *
     * @param deadline 1 ms to 3,650 days, counted from the redrive
     * @return the complete permission
     * @throws IllegalArgumentException if null or out of range
     */
    public Redrive deadline(Duration deadline) {
      return new Redrive(note, approvedBy, deadline);
    }
  }
}
