package dev.redrive;

/**
 * What a submit found. Only {@link Result#CREATED} changed anything.
 *
 * @param id the business ID
 * @param result what happened
 * @param state where the job of that id stands now; {@link JobState#PENDING} when created. A
 *     duplicate of quarantined work says {@link JobState#DEAD}: it won't run until it is redriven
 */
public record Submission(String id, Result result, JobState state) {

  /** What happened to a submitted job. */
  public enum Result {
    /** The job is new and stored. */
    CREATED,
    /** A job of this id and this payload was there already. */
    DUPLICATE,
    /** A job of this id with another payload was there already; it was left as it is. */
    CONFLICT
  }

  /** Refuses missing parts. */
  public Submission {
    Arguments.id(id);
    Arguments.notNull(result, "result");
    Arguments.notNull(state, "state");
  }

  /** The answer to a submit that led to this. */
  static Submission of(JobEvent event) {
    return event instanceof JobEvent.Refused refused
        ? new Submission(refused.id(), refused.result(), refused.state())
        : new Submission(event.id(), Result.CREATED, JobState.PENDING);
  }

  /**
   * Whether this call stored the job.
   *
   * @return true exactly for {@link Result#CREATED}
   */
  public boolean created() {
    return result == Result.CREATED;
  }
}
