package dev.redrive;

import java.util.Locale;
import java.util.Optional;

/**
 * What a call did to a job, or that it came too late. The same change is the same event, whatever
 * path led to it: a death says nothing of whether a worker or a claim found it.
 */
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
   * @return 0 for a job that nobody has claimed yet, else 1 or more
   */
  long token();

  /**
   * A submit that stored a job: – → pending.
   *
   * @param queue the queue's name
   * @param id the job's business ID
   */
  record Submitted(String queue, String id) implements JobEvent {
    /** Refuses missing parts. */
    public Submitted {
      present(queue, id);
    }

    @Override
    public long token() {
      return 0;
    }
  }

  /**
   * A submit that found a job of its id, and changed nothing.
   *
   * @param queue the queue's name
   * @param id the job's business ID
   * @param token the token of the job found
   * @param result a duplicate or a conflict
   * @param state where the job found stands
   */
  record Refused(String queue, String id, long token, Submission.Result result, JobState state)
      implements JobEvent {
    /** Refuses missing parts. */
    public Refused {
      present(queue, id);
      Arguments.notNull(result, "result");
      Arguments.notNull(state, "state");
    }
  }

  /**
   * A claim: pending, or leased with the lease over → leased.
   *
   * @param queue the queue's name
   * @param id the job's business ID
   * @param token the job's token, which names this claim
   * @param owner who claimed
   * @param attempt which claim of this life this is, from 1
   */
  record Claimed(String queue, String id, long token, String owner, int attempt)
      implements JobEvent {
    /** Refuses missing parts. */
    public Claimed {
      present(queue, id);
      Arguments.notNull(owner, "owner");
    }
  }

  /**
   * A renewal: leased → leased.
   *
   * @param queue the queue's name
   * @param id the job's business ID
   * @param token the job's token
   */
  record Renewed(String queue, String id, long token) implements JobEvent {
    /** Refuses missing parts. */
    public Renewed {
      present(queue, id);
    }
  }

  /**
   * A release: leased → pending.
   *
   * @param queue the queue's name
   * @param id the job's business ID
   * @param token the job's token
   */
  record Released(String queue, String id, long token) implements JobEvent {
    /** Refuses missing parts. */
    public Released {
      present(queue, id);
    }
  }

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
      present(queue, id);
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
      present(queue, id);
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
      present(queue, id);
      Arguments.notNull(reason, "reason");
      Arguments.notNull(fault, "fault");
    }
  }

  /**
   * A look at a death: dead → dead.
   *
   * @param queue the queue's name
   * @param id the job's business ID
   * @param token the token of the death
   * @param ticket where the look is written down
   * @param by who looked
   */
  record Investigated(String queue, String id, long token, String ticket, String by)
      implements JobEvent {
    /** Refuses missing parts. */
    public Investigated {
      present(queue, id);
      Arguments.notNull(ticket, "ticket");
      Arguments.notNull(by, "by");
    }
  }

  /**
   * A redrive: dead → pending.
   *
   * @param queue the queue's name
   * @param id the job's business ID
   * @param token the token of the death, which the job keeps until it is claimed
   * @param order why, who allowed it, and for how long
   */
  record Redriven(String queue, String id, long token, Redrive order) implements JobEvent {
    /** Refuses missing parts. */
    public Redriven {
      present(queue, id);
      Arguments.notNull(order, "order");
    }
  }

  /**
   * A purge: done → gone.
   *
   * @param queue the queue's name
   * @param id the job's business ID, free again
   * @param token the last token of the job, forgotten with it
   */
  record Purged(String queue, String id, long token) implements JobEvent {
    /** Refuses missing parts. */
    public Purged {
      present(queue, id);
    }
  }

  /**
   * A call that came too late: it answered false and changed nothing.
   *
   * @param queue the queue's name
   * @param id the job's business ID
   * @param token the token that came too late
   * @param verb what was tried
   */
  record Stale(String queue, String id, long token, Verb verb) implements JobEvent {
    /** Refuses missing parts. */
    public Stale {
      present(queue, id);
      Arguments.notNull(verb, "verb");
    }
  }

  /** What can come too late. */
  enum Verb {
    /** {@link JobQueue#renew}, also when the lease was over and nobody had taken the job. */
    RENEW,
    /** {@link JobQueue#release}. */
    RELEASE,
    /** {@link JobQueue#finish}, whatever the outcome. */
    FINISH,
    /** {@link JobQueue#investigate}. */
    INVESTIGATE,
    /** {@link JobQueue#redrive}. */
    REDRIVE;

    /**
     * The word for logs and metrics.
     *
     * @return the name in lower case
     */
    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private static void present(String queue, String id) {
    Arguments.notNull(queue, "queue");
    Arguments.notNull(id, "id");
  }
}
