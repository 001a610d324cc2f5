package dev.redrive.quarantine;

import dev.redrive.Death;
import dev.redrive.JobState;
import dev.redrive.QueueReader;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Watches what becomes of the jobs that a run has redriven. A job that is done or dead again has an
 * outcome, which stays; the others are looked at again, the longest unseen first, some at a time.
 */
final class Brake {
  private static final long LOOK_EVERY = TimeUnit.MILLISECONDS.toNanos(100);
  private static final int MIN_LOOKS = 50;
  private static final int CHECKS_PER_SECOND = 10;

  private final QueueReader reader;
  private final double share;
  private final int fromOutcomes;
  private final int looks;
  private final Deque<Death> undecided = new ArrayDeque<>();
  private long lastLook;
  private int watched;
  private int done;
  private int deadAgain;

  /**
   * @param share pulled when more than this share of the outcomes is dead again
   * @param fromOutcomes how many outcomes it takes to judge
   * @param perSecond how fast the run goes, so that looking keeps up
   */
  Brake(QueueReader reader, double share, int fromOutcomes, int perSecond) {
    this.reader = reader;
    this.share = share;
    this.fromOutcomes = fromOutcomes;
    this.looks = Math.max(MIN_LOOKS, 2 * perSecond / CHECKS_PER_SECOND);
  }

  void watch(Death redriven) {
    undecided.addLast(redriven);
    watched++;
  }

  int done() {
    return done;
  }

  int deadAgain() {
    return deadAgain;
  }

  /** Looks, unless it has just done so or too few are redriven to judge, and judges. */
  boolean pulledAt(long nanos) {
    if (watched < fromOutcomes) {
      lastLook = nanos - LOOK_EVERY;
    } else if (nanos - lastLook >= LOOK_EVERY) {
      lastLook = nanos;
      look();
    }
    int outcomes = done + deadAgain;
    return outcomes >= fromOutcomes && deadAgain > share * outcomes;
  }

  private void look() {
    List<Death> some = new ArrayList<>();
    while (some.size() < looks && !undecided.isEmpty()) {
      some.add(undecided.removeFirst());
    }
    List<JobState> fates = fates(some);
    for (int i = 0; i < some.size(); i++) {
      switch (fates.get(i)) {
        case DONE -> done++;
        case DEAD -> deadAgain++;
        default -> undecided.addLast(some.get(i));
      }
    }
  }

  private List<JobState> fates(List<Death> deaths) {
    return reader.read(
        scope -> {
          QuarantineQueries queries = new QuarantineQueries(scope);
          return deaths.stream()
              .map(death -> JobState.of(queries.fate(death).fetchSingle().value1()))
              .toList();
        });
  }
}
