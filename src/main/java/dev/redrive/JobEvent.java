package dev.redrive;

import java.util.Optional;

/** What a transition did to a job. The same change is the same event, whatever call led to it. */
public sealed interface JobEvent {

  /**
   * The queue's name.
   *
   * @return an identifier
   */
  String queue();

  /**
   * The job's business ID.
   *
   * @return the ID
   */
  String id();

  /**
   * The fencing token that the job has after the change, or for {@link Stale} the one that came too
   * late.
   *
   * @return 1 or more
   */
  long token();

  /**
   * A finish ok: leased → done.
   *
   * @param queue the queue's name
   * @param id the job's business ID
   * @param token the job's token
   */
  record Done(String queue, String id, long token) implements JobEvent {
    /** Refuses missing parts. */
    public Done {
      Arguments.notNull(queue, "queue");
      Arguments.notNull(id, "id");
    }
  }

  /**
   * A finish that failed with budget left: leased → pending.
   *
   * @param queue the queue's name
   * @param id the job's business ID
   * @param token the job's token
   * @param fault what went wrong
   */
  record Retried(String queue, String id, long token, String fault) implements JobEvent {
    /** Refuses missing parts. */
    public Retried {
      Arguments.notNull(queue, "queue");
      Arguments.notNull(id, "id");
      Arguments.notNull(fault, "fault");
    }
  }

  /**
   * A death: the job went into quarantine.
   *
   * @param queue the queue's name
   * @param id the job's business ID
   * @param token the job's token, which names this death
   * @param reason why
   * @param fault the latest failure; empty if it never failed, because nobody claimed it in time
   */
  record Died(String queue, String id, long token, DeadReason reason, Optional<String> fault)
      implements JobEvent {
    /** Refuses missing parts. */
    public Died {
      Arguments.notNull(queue, "queue");
      Arguments.notNull(id, "id");
      Arguments.notNull(reason, "reason");
      Arguments.notNull(fault, "fault");
    }
  }

  /**
   * A finish whose lease was stale: it answered false and changed nothing.
   *
   * @param queue the queue's name
   * @param id the job's business ID
   * @param token the token that came too late
   */
  record Stale(String queue, String id, long token) implements JobEvent {
    /** Refuses missing parts. */
    public Stale {
      Arguments.notNull(queue, "queue");
      Arguments.notNull(id, "id");
    }
  }
}
