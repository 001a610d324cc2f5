package dev.redrive.quarantine;

import dev.redrive.DeadReason;
import dev.redrive.JobState;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jooq.Record;
import org.jspecify.annotations.Nullable;

/** Adds up the rows of {@link ReportQuery}. */
final class ReportRows {
  private final String queue;
  private final long now;
  private final List<? extends Record> rows;

  /**
   * @param rows at least one: done is counted also where there is nothing
   */
  ReportRows(String queue, long now, List<? extends Record> rows) {
    this.queue = queue;
    this.now = now;
    this.rows = rows;
  }

  Report report() {
    return new Report(
        queue, Instant.ofEpochMilli(now), dead(), live(), redrives(), lastInvestigation());
  }

  private List<? extends Record> of(String figure) {
    return rows.stream().filter(row -> figure.equals(row.get(ReportQuery.FIGURE))).toList();
  }

  private Report.Dead dead() {
    Map<DeadReason, Long> byReason = new EnumMap<>(DeadReason.class);
    Map<Optional<String>, Report.FaultGroup> byFault = new HashMap<>();
    Earliest submitted = new Earliest();
    Earliest died = new Earliest();
    Earliest unseen = new Earliest();
    long count = 0;
    long neverInvestigated = 0;
    for (Record row : of(ReportQuery.DEAD_FIGURE)) {
      long counted = row.get(ReportQuery.COUNTED);
      count += counted;
      neverInvestigated += row.get(ReportQuery.PART);
      byReason.merge(DeadReason.of(row.get(ReportQuery.WORD)), counted, Long::sum);
      Report.FaultGroup group = faultGroup(row);
      byFault.merge(group.fault(), group, ReportRows::both);
      submitted.see(row.get(ReportQuery.SUBMITTED_AT));
      died.see(row.get(ReportQuery.FIRST_AT));
      unseen.see(row.get(ReportQuery.UNSEEN_SINCE));
    }
    List<Report.FaultGroup> groups = new ArrayList<>(byFault.values());
    groups.sort(Report.FaultGroup.MOST_FIRST);
    return new Report.Dead(
        count,
        byReason,
        groups,
        submitted.age(now),
        died.age(now),
        unseen.age(now),
        neverInvestigated);
  }

  private static Report.FaultGroup faultGroup(Record row) {
    return new Report.FaultGroup(
        Optional.ofNullable(row.get(ReportQuery.DETAIL)),
        row.get(ReportQuery.COUNTED),
        Instant.ofEpochMilli(row.get(ReportQuery.FIRST_AT)),
        Instant.ofEpochMilli(row.get(ReportQuery.LAST_AT)));
  }

  private static Report.FaultGroup both(Report.FaultGroup a, Report.FaultGroup b) {
    return new Report.FaultGroup(
        a.fault(),
        a.count() + b.count(),
        a.first().isBefore(b.first()) ? a.first() : b.first(),
        a.last().isAfter(b.last()) ? a.last() : b.last());
  }

  private Report.Live live() {
    long ready = 0;
    long scheduled = 0;
    long leased = 0;
    long leaseExpired = 0;
    Earliest readySince = new Earliest();
    for (Record row : of(ReportQuery.LIVE_FIGURE)) {
      long due = row.get(ReportQuery.PART);
      long later = row.get(ReportQuery.COUNTED) - due;
      if (JobState.of(row.get(ReportQuery.WORD)) == JobState.PENDING) {
        ready = due;
        scheduled = later;
        readySince.see(due > 0 ? row.get(ReportQuery.FIRST_AT) : null);
      } else {
        leaseExpired = due;
        leased = later;
      }
    }
    long done = of(ReportQuery.DONE_FIGURE).get(0).get(ReportQuery.COUNTED);
    return new Report.Live(ready, scheduled, leased, leaseExpired, readySince.age(now), done);
  }

  private Report.Redrives redrives() {
    Map<DeadReason, Report.Fates> byReason = new EnumMap<>(DeadReason.class);
    for (Record row : of(ReportQuery.REDRIVEN_FIGURE)) {
      byReason.merge(DeadReason.of(row.get(ReportQuery.WORD)), fates(row), Report.Fates::plus);
    }
    return new Report.Redrives(byReason);
  }

  private static Report.Fates fates(Record row) {
    long counted = row.get(ReportQuery.COUNTED);
    return switch (JobState.of(row.get(ReportQuery.DETAIL))) {
      case DONE -> new Report.Fates(counted, 0, 0, 0);
      case PENDING -> new Report.Fates(0, counted, 0, 0);
      case LEASED -> new Report.Fates(0, 0, counted, 0);
      case DEAD -> new Report.Fates(0, 0, 0, counted);
    };
  }

  private Optional<Instant> lastInvestigation() {
    return rows.stream()
        .map(row -> row.get(ReportQuery.SEEN_AT))
        .filter(time -> time != null)
        .max(Long::compare)
        .map(Instant::ofEpochMilli);
  }

  /** The earliest of some times, which may all be missing. */
  private static final class Earliest {
    private @Nullable Long time;

    void see(@Nullable Long other) {
      if (other != null && (time == null || other < time)) {
        time = other;
      }
    }

    /** Never negative: a clock may have gone back. */
    Optional<Duration> age(long now) {
      return Optional.ofNullable(time).map(t -> Duration.ofMillis(Math.max(0, now - t)));
    }
  }
}
