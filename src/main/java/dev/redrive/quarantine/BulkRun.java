package dev.redrive.quarantine;

import dev.redrive.Death;
import dev.redrive.Redrive;
import dev.redrive.quarantine.BulkProgress.Step;
import dev.redrive.quarantine.BulkRedrive.Settings;
import dev.redrive.quarantine.BulkReport.End;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** One run of a bulk redrive. */
final class BulkRun {
  private static final long LONGEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(100);
  private static final int FAILURES_IN_A_ROW = 10;

  private final Quarantine quarantine;
  private final Settings settings;
  private final Redrive order;
  private final Pacer pacer;
  private final Members members;
  private final SpeedLimit limit;
  private final Brake brake;

  private final List<Death> redriven = new ArrayList<>();
  private final List<Death> failed = new ArrayList<>();
  private int skipped;
  private int failuresInARow;
  private @Nullable RuntimeException lastError;

  /** The members are taken down here, once. */
  BulkRun(Quarantine quarantine, Filter filter, Settings settings, Redrive order) {
    this.quarantine = quarantine;
    this.settings = settings;
    this.order = order;
    this.pacer = settings.pacer();
    this.members = quarantine.members(filter, settings.limit());
    this.limit = new SpeedLimit(settings.perSecond());
    this.brake =
        new Brake(
            quarantine.reader(),
            settings.brakeShare(),
            settings.brakeOutcomes(),
            settings.perSecond());
  }

  /**
   * Who takes part.
   *
   * @param deaths oldest first
   * @param matched how many there were, which may be more
   */
  record Members(List<Death> deaths, long matched) {}

  BulkReport run() {
    Iterator<Death> turns = members.deaths().iterator();
    Optional<End> end = Optional.empty();
    while (end.isEmpty()) {
      if (turns.hasNext()) {
        end = awaitTurn();
        if (end.isEmpty()) {
          Death death = turns.next();
          Step step = redrive(death);
          settings.progress().accept(progress(death, step));
        }
      } else {
        end = Optional.of(End.COMPLETE);
      }
    }
    return report(end.get());
  }

  /** Waits, unless the run is over. */
  private Optional<End> awaitTurn() {
    Optional<End> end = end();
    long wait = limit.waitAt(pacer.nanos());
    while (end.isEmpty() && wait > 0) {
      try {
        pacer.pause(Math.min(wait, LONGEST_PAUSE));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      end = end();
      wait = limit.waitAt(pacer.nanos());
    }
    return end;
  }

  private Optional<End> end() {
    if (Thread.currentThread().isInterrupted()) {
      return Optional.of(End.INTERRUPTED);
    }
    if (settings.stop().getAsBoolean()) {
      return Optional.of(End.CANCELLED);
    }
    if (failuresInARow == FAILURES_IN_A_ROW) {
      return Optional.of(End.FAILED);
    }
    try {
      return brake.pulledAt(pacer.nanos()) ? Optional.of(End.BRAKED) : Optional.empty();
    } catch (RuntimeException e) {
      lastError = e;
      return Optional.of(End.FAILED);
    }
  }

  private Step redrive(Death death) {
    long start = pacer.nanos();
    try {
      if (!quarantine.queue().redrive(death, order)) {
        skipped++;
        failuresInARow = 0;
        return Step.SKIPPED;
      }
      redriven.add(death);
      brake.watch(death);
      failuresInARow = 0;
      limit.used(start, pacer.nanos());
      return Step.REDRIVEN;
    } catch (RuntimeException e) {
      failed.add(death);
      lastError = e;
      failuresInARow++;
      limit.used(start, pacer.nanos());
      return Step.FAILED;
    }
  }

  private long remaining() {
    return members.matched() - redriven.size() - skipped - failed.size();
  }

  private BulkProgress progress(Death last, Step step) {
    return new BulkProgress(last, step, redriven.size(), skipped, failed.size(), remaining());
  }

  private BulkReport report(End end) {
    return new BulkReport(
        end,
        members.matched(),
        redriven,
        skipped,
        failed,
        remaining(),
        brake.done(),
        brake.deadAgain(),
        Optional.ofNullable(lastError));
  }
}
