package dev.redrive;

import java.time.Duration;
import java.util.Optional;
import java.util.function.Function;
import org.jooq.Record2;
import org.jooq.Result;
import org.jooq.ResultQuery;

/** A finish whose arguments are checked and whose delay is decided, before any SQL. */
record FinishQuery(
    Lease held,
    Optional<String> fault,
    Function<Transitions, ResultQuery<Record2<String, String>>> query) {

  /**
   * Decides what to send.
   *
   * @throws IllegalStateException if the policy answers no valid delay
   */
  static FinishQuery of(Finish finish, RetryPolicy retry) {
    Lease held = finish.lease();
    if (finish.outcome() instanceof Outcome.Retry retried) {
      Duration delay =
          retried.delay() != null ? retried.delay() : policyDelay(retry, held.attempt());
      return new FinishQuery(
          held, Optional.of(retried.fault()), t -> t.finishRetry(held, retried.fault(), delay));
    }
    if (finish.outcome() instanceof Outcome.Permanent permanent) {
      return new FinishQuery(
          held, Optional.of(permanent.fault()), t -> t.finishPermanent(held, permanent.fault()));
    }
    return new FinishQuery(held, Optional.empty(), t -> t.finishOk(held));
  }

  private static Duration policyDelay(RetryPolicy retry, int attempt) {
    try {
      return Arguments.duration(retry.delay(attempt), "delay", Duration.ZERO);
    } catch (IllegalArgumentException e) {
      throw new IllegalStateException("the retry policy is broken: " + e.getMessage(), e);
    }
  }

  String id() {
    return held.id();
  }

  /** Sends it, and answers what it led to as the statement tells. */
  JobEvent run(Transitions transitions) {
    Result<Record2<String, String>> changed = query.apply(transitions).fetch();
    if (changed.isEmpty()) {
      return new JobEvent.Stale(held.queue(), held.id(), held.token(), JobEvent.Verb.FINISH);
    }
    String reason = changed.get(0).value2();
    return switch (JobState.of(changed.get(0).value1())) {
      case DONE -> new JobEvent.Done(held.queue(), held.id(), held.token());
      case DEAD ->
          new JobEvent.Died(held.queue(), held.id(), held.token(), DeadReason.of(reason), fault);
      default -> new JobEvent.Retried(held.queue(), held.id(), held.token(), fault.orElseThrow());
    };
  }
}
