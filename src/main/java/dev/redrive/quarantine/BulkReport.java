package dev.redrive.quarantine;

import dev.redrive.Arguments;
import dev.redrive.Death;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * What a bulk redrive did. Redriven, skipped, failed and remaining add up to matched. What is not
 * redriven is still dead, so that another run of the same filter does the rest.
 *
 * @param end why it ended
 * @param matched how many jobs the filter matched at the start
 * @param redriven the deaths that this run redrove, in its order
 * @param skipped how many were no longer this death when their turn came
 * @param failed the deaths whose redrive threw
 * @param remaining how many that matched it did not come to
 * @param seenDone how many of the redriven it saw done before it ended
 * @param seenDeadAgain how many of the redriven it saw dead again before it ended
 * @param lastError what was thrown last; empty if nothing was
 */
public record BulkReport(
    End end,
    long matched,
    List<Death> redriven,
    int skipped,
    List<Death> failed,
    long remaining,
    int seenDone,
    int seenDeadAgain,
    Optional<RuntimeException> lastError) {

  /** Why a run ended. */
  public enum End {
    /** It came to all members; more may have matched than its limit. */
    COMPLETE,
    /** Its stop condition said so. */
    CANCELLED,
    /** Its thread was interrupted, and still is. */
    INTERRUPTED,
    /** Too many of the jobs it redrove were dead again. */
    BRAKED,
    /** The database threw ten times in a row, or would not tell what became of redriven jobs. */
    FAILED
  }

  /** Refuses missing parts. */
  public BulkReport {
    Arguments.notNull(end, "end");
    redriven = List.copyOf(Arguments.notNull(redriven, "redriven"));
    failed = List.copyOf(Arguments.notNull(failed, "failed"));
    Arguments.notNull(lastError, "lastError");
  }

  /**
   * The numbers, without ids.
   *
   * @return one line
   */
  @Override
  public String toString() {
    return String.format(
        Locale.ROOT,
        "%s: matched %d, redriven %d (seen done %d, dead again %d), skipped %d, failed %d,"
            + " remaining %d%s",
        end,
        matched,
        redriven.size(),
        seenDone,
        seenDeadAgain,
        skipped,
        failed.size(),
        remaining,
        lastError.map(e -> ", last error " + e.getClass().getName()).orElse(""));
  }
}
