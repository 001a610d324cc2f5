package dev.redrive.quarantine;

import dev.redrive.Arguments;
import dev.redrive.Death;

/**
 * How far a bulk redrive has come.
 *
 * @param last the death it has just handled
 * @param step what came of that
 * @param redriven how many are redriven so far
 * @param skipped how many were no longer this death
 * @param failed how many threw
 * @param remaining how many of those that matched at the start it has not come to
 */
public record BulkProgress(
    Death last, Step step, int redriven, int skipped, int failed, long remaining) {

  /** What came of one death. */
  public enum Step {
    /** It is pending again, with its audit row. */
    REDRIVEN,
    /** Somebody else has redriven it meanwhile; this run changed nothing. */
    SKIPPED,
    /** The database threw. The death stands as it was, unless only the answer was lost. */
    FAILED
  }

  /** Refuses missing parts. */
  public BulkProgress {
    Arguments.notNull(last, "last");
    Arguments.notNull(step, "step");
  }
}
