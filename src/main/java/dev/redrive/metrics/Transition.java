package dev.redrive.metrics;

import dev.redrive.DeadReason;
import dev.redrive.JobEvent;
import dev.redrive.JobState;
import dev.redrive.Submission;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * What is counted apart: a transition and where it led, or for a submit what it found.
 *
 * @param name the transition's word; a death is {@code die}, whether a finish or a bury found it
 * @param result the state reached, the reason of a death, or what a submit found
 */
record Transition(String name, String result) {
  private static final String FINISH = "finish";
  private static final String DIE = "die";
  private static final String SUBMIT = "submit";
  private static final Transition CLAIM = new Transition("claim", JobState.LEASED.toString());
  private static final Transition RENEW = new Transition("renew", JobState.LEASED.toString());
  private static final Transition RELEASE = new Transition("release", JobState.PENDING.toString());
  private static final Transition DONE = new Transition(FINISH, JobState.DONE.toString());
  private static final Transition RETRY = new Transition(FINISH, JobState.PENDING.toString());
  private static final Transition LOOK = new Transition("investigate", JobState.DEAD.toString());
  private static final Transition REDRIVE = new Transition("redrive", JobState.PENDING.toString());
  private static final Transition PURGE = new Transition("purge", "gone");

  /** All there are, so that each has its counter from the start. */
  static List<Transition> all() {
    List<Transition> all =
        new ArrayList<>(List.of(CLAIM, RENEW, RELEASE, DONE, RETRY, LOOK, REDRIVE, PURGE));
    for (Submission.Result result : Submission.Result.values()) {
      all.add(submit(result));
    }
    for (DeadReason reason : DeadReason.values()) {
      all.add(die(reason));
    }
    return all;
  }

  /** What an event counts as; no stale one is any. */
  static Transition of(JobEvent event) {
    if (event instanceof JobEvent.Refused refused) {
      return submit(refused.result());
    }
    if (event instanceof JobEvent.Died died) {
      return die(died.reason());
    }
    return ofItsKind(event);
  }

  private static Transition ofItsKind(JobEvent event) {
    if (event instanceof JobEvent.Submitted) {
      return submit(Submission.Result.CREATED);
    } else if (event instanceof JobEvent.Claimed) {
      return CLAIM;
    } else if (event instanceof JobEvent.Renewed) {
      return RENEW;
    } else if (event instanceof JobEvent.Released) {
      return RELEASE;
    } else if (event instanceof JobEvent.Done) {
      return DONE;
    } else if (event instanceof JobEvent.Retried) {
      return RETRY;
    } else if (event instanceof JobEvent.Investigated) {
      return LOOK;
    } else if (event instanceof JobEvent.Redriven) {
      return REDRIVE;
    } else if (event instanceof JobEvent.Purged) {
      return PURGE;
    }
    throw new IllegalArgumentException("event must be a transition, it is " + event);
  }

  private static Transition submit(Submission.Result result) {
    return new Transition(SUBMIT, result.name().toLowerCase(Locale.ROOT));
  }

  private static Transition die(DeadReason reason) {
    return new Transition(DIE, reason.toString());
  }
}
