package dev.redrive.dispatch;

import dev.redrive.Arguments;
import dev.redrive.DeadReason;
import dev.redrive.JobEvent;
import java.util.Optional;

/**
 * What one run of a {@link Dispatcher} did, as it is stored.
 *
 * @param result what happened
 * @param id the job's business ID; empty exactly for {@link Result#IDLE}
 * @param reason why the job is in quarantine; set exactly for {@link Result#DEAD}
 */
public record Dispatched(Result result, Optional<String> id, Optional<DeadReason> reason) {

  /** What became of the job. */
  public enum Result {
    /** Nothing was due. */
    IDLE,
    /** The handler said true: leased → done. */
    DONE,
    /** The handler failed, and the job waits for its next run: leased → pending. */
    RETRIED,
    /** The handler failed for good, or for the last time: leased → dead. */
    DEAD,
    /** The lease was lost meanwhile. The verdict came too late and changed nothing. */
    STALE
  }

  static final Dispatched IDLE = new Dispatched(Result.IDLE, Optional.empty(), Optional.empty());

  /** Refuses parts that do not fit together. */
  public Dispatched {
    Arguments.notNull(result, "result");
    if (Arguments.notNull(id, "id").isPresent() != (result != Result.IDLE)) {
      throw new IllegalArgumentException("id must be set unless the result is IDLE");
    }
    if (Arguments.notNull(reason, "reason").isPresent() != (result == Result.DEAD)) {
      throw new IllegalArgumentException("reason must be set exactly if the result is DEAD");
    }
  }

  /** What a finish led to, as the queue tells it; empty for what is not of a finish. */
  static Optional<Dispatched> of(JobEvent event) {
    if (event instanceof JobEvent.Died died) {
      return Optional.of(
          new Dispatched(Result.DEAD, Optional.of(died.id()), Optional.of(died.reason())));
    }
    return withoutReason(event)
        .map(result -> new Dispatched(result, Optional.of(event.id()), Optional.empty()));
  }

  private static Optional<Result> withoutReason(JobEvent event) {
    if (event instanceof JobEvent.Done) {
      return Optional.of(Result.DONE);
    }
    if (event instanceof JobEvent.Retried) {
      return Optional.of(Result.RETRIED);
    }
    if (event instanceof JobEvent.Stale stale && stale.verb() == JobEvent.Verb.FINISH) {
      return Optional.of(Result.STALE);
    }
    return Optional.empty();
  }
}
