package dev.redrive;

import java.time.Instant;
import java.util.Optional;

/**
 * A job as it was when it was looked at. Investigate and redrive are guarded by the token seen
 * here, so what they change is what was looked at.
 *
 * @param queue the queue's name
 * @param id the business ID
 * @param state where it stands
 * @param reason why it is dead; empty unless dead
 * @param fault code of the latest failure; empty if there was none
 * @param owner who holds it; empty unless leased
 * @param leaseUntil until when; empty unless leased
 * @param token the fencing token; grows with every claim and bury, and is never reset
 * @param attempts claims in this life
 * @param maxAttempts the budget of claims
 * @param availableAt the earliest next run
 * @param deadline the end of this life's time budget
 * @param submittedAt when it was submitted
 * @param finishedAt when it became done or dead; empty before
 * @param investigation the last look at this death; empty unless dead and looked at
 * @param payload the submitted text
 */
public record Job(
    String queue,
    String id,
    JobState state,
    Optional<DeadReason> reason,
    Optional<String> fault,
    Optional<String> owner,
    Optional<Instant> leaseUntil,
    long token,
    int attempts,
    int maxAttempts,
    Instant availableAt,
    Instant deadline,
    Instant submittedAt,
    Optional<Instant> finishedAt,
    Optional<Investigation> investigation,
    String payload) {

  /**
   * One look at a death.
   *
   * @param at when
   * @param by who
   * @param ticket where it is written down
   */
  public record Investigation(Instant at, String by, String ticket) {
    /** Refuses bad input, naming argument and rule. */
    public Investigation {
      Arguments.notNull(at, "at");
      Arguments.identifier(by, "by");
      Arguments.identifier(ticket, "ticket");
    }
  }

  /** Refuses missing parts. */
  public Job {
    Arguments.identifier(queue, "queue");
    Arguments.id(id);
    Arguments.notNull(state, "state");
    Arguments.notNull(reason, "reason");
    Arguments.notNull(fault, "fault");
    Arguments.notNull(owner, "owner");
    Arguments.notNull(leaseUntil, "leaseUntil");
    Arguments.notNull(availableAt, "availableAt");
    Arguments.notNull(deadline, "deadline");
    Arguments.notNull(submittedAt, "submittedAt");
    Arguments.notNull(finishedAt, "finishedAt");
    Arguments.notNull(investigation, "investigation");
    Arguments.notNull(payload, "payload");
  }

  /**
   * Whether the claim that gave this lease is over by its own finish or release. After an answer
   * that was lost, this tells whether the change was stored: true, it was; false, the lease is
   * still held or another claim or a bury has taken the job since.
   *
   * @param lease the lease whose answer was lost
   * @return true if the job's token is the lease's and the job is not leased
   */
  public boolean endedBy(Lease lease) {
    Arguments.notNull(lease, "lease");
    return queue.equals(lease.queue())
        && id.equals(lease.id())
        && token == lease.token()
        && state != JobState.LEASED;
  }

  /**
   * Everything but the payload, of which only the length is told.
   *
   * @return a text for logs
   */
  @Override
  public String toString() {
    return String.format(
        "Job[%s/%s, %s%s, token=%d, attempts=%d of %d, availableAt=%s, deadline=%s,"
            + " payload=%d characters]",
        queue,
        id,
        state,
        reason.map(r -> " " + r + fault.map(f -> " " + f).orElse("")).orElse(""),
        token,
        attempts,
        maxAttempts,
        availableAt,
        deadline,
        payload.length());
  }
}
