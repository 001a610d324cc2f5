package dev.redrive;

/**
 * The name of one death. A job that is redriven and dies again dies another death: the token grew
 * in between. So what is allowed for this death can't happen to a later one.
 *
 * @param queue the queue's name
 * @param id the job's business ID
 * @param token the token that the job had when it died
 */
public record Death(String queue, String id, long token) {
  /** Refuses bad input, naming argument and rule. */
  public Death {
    Arguments.identifier(queue, "queue");
    Arguments.id(id);
    if (token < 0) {
      throw new IllegalArgumentException("token must be 0 or more, it is " + token);
    }
  }

  /** The death of a job that is dead. */
  static Death of(Job job) {
    return new Death(job.queue(), job.id(), job.token());
  }
}
