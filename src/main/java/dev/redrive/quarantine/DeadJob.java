package dev.redrive.quarantine;

import dev.redrive.Arguments;
import dev.redrive.DeadReason;
import dev.redrive.Death;
import dev.redrive.Job;
import java.time.Instant;
import java.util.Optional;

/**
 * A dead job as it was when it was looked at.
 *
 * @param death what names this death, for {@code investigate} and {@code redrive}
 * @param reason why it died
 * @param fault code of the latest failure; empty if it never failed
 * @param attempts claims in the life that ended
 * @param maxAttempts the budget of claims
 * @param submittedAt when it was submitted
 * @param diedAt when it died
 * @param investigation the last look at this death; empty if nobody has looked
 * @param payload the submitted text; empty unless asked for
 */
public record DeadJob(
    Death death,
    DeadReason reason,
    Optional<String> fault,
    int attempts,
    int maxAttempts,
    Instant submittedAt,
    Instant diedAt,
    Optional<Job.Investigation> investigation,
    Optional<String> payload) {

  /** Refuses missing parts. */
  public DeadJob {
    Arguments.notNull(death, "death");
    Arguments.notNull(reason, "reason");
    Arguments.notNull(fault, "fault");
    Arguments.notNull(submittedAt, "submittedAt");
    Arguments.notNull(diedAt, "diedAt");
    Arguments.notNull(investigation, "investigation");
    Arguments.notNull(payload, "payload");
  }

  /**
   * Everything but the payload, of which only the length is told.
   *
   * @return a text for logs
   */
  @Override
  public String toString() {
    return String.format(
        "DeadJob[%s/%s, %s%s, token=%d, attempts=%d of %d, diedAt=%s%s%s]",
        death.queue(),
        death.id(),
        reason,
        fault.map(code -> " " + code).orElse(""),
        death.token(),
        attempts,
        maxAttempts,
        diedAt,
        investigation.map(look -> ", " + look.ticket()).orElse(""),
        payload.map(text -> ", payload=" + text.length() + " characters").orElse(""));
  }
}
