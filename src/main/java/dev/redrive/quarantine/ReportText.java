package dev.redrive.quarantine;

import dev.redrive.DeadReason;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.StringJoiner;

/** Writes a report for people. */
final class ReportText {
  private static final int TOP_FAULTS = 10;

  private ReportText() {}

  static String of(Report report) {
    StringJoiner lines = new StringJoiner("\n");
    lines.add("queue " + report.queue() + " at " + report.at());
    live(lines, report.live());
    dead(lines, report.dead());
    lines.add(
        "last investigation  " + report.lastInvestigation().map(Instant::toString).orElse("never"));
    redrives(lines, report.redrives());
    return lines.toString();
  }

  private static void live(StringJoiner lines, Report.Live live) {
    lines.add(
        line(
            "live                ready %d, scheduled %d, leased %d, lease expired %d, done %s",
            live.ready(),
            live.scheduled(),
            live.leased(),
            live.leaseExpired(),
            live.done() > ReportQuery.DONE_BOUND
                ? "more than " + ReportQuery.DONE_BOUND
                : String.valueOf(live.done())));
    lines.add("oldest ready        " + age(live.oldestReady()));
  }

  private static void dead(StringJoiner lines, Report.Dead dead) {
    lines.add(
        line(
            "dead                %d, never investigated %d",
            dead.count(), dead.neverInvestigated()));
    for (Map.Entry<DeadReason, Long> reason : dead.byReason().entrySet()) {
      lines.add(
          line(
              "  %-17s %d (%.1f %%)",
              reason.getKey(), reason.getValue(), 100 * dead.ratio(reason.getKey())));
    }
    lines.add("  since submit      " + age(dead.oldestSinceSubmit()));
    lines.add("  in quarantine     " + age(dead.longestInQuarantine()));
    lines.add("  without a look    " + age(dead.longestWithoutLook()));
    List<Report.FaultGroup> groups = dead.byFault();
    for (Report.FaultGroup group : groups.subList(0, Math.min(TOP_FAULTS, groups.size()))) {
      lines.add(
          line(
              "  fault %-22s %6d  first %s  last %s",
              group.fault().orElse("(none)"), group.count(), group.first(), group.last()));
    }
    if (groups.size() > TOP_FAULTS) {
      lines.add(line("  and %d faults more", groups.size() - TOP_FAULTS));
    }
  }

  private static void redrives(StringJoiner lines, Report.Redrives redrives) {
    lines.add("redrives            " + fates(redrives.total()));
    redrives
        .byPreviousReason()
        .forEach((reason, fates) -> lines.add(line("  after %-11s %s", reason, fates(fates))));
  }

  private static String fates(Report.Fates fates) {
    return line(
        "%d: done %d, pending %d, leased %d, dead again %d (%.1f %%)",
        fates.count(),
        fates.done(),
        fates.pending(),
        fates.leased(),
        fates.deadAgain(),
        100 * fates.ratioDeadAgain());
  }

  private static String age(Optional<Duration> age) {
    return age.map(ReportText::spoken).orElse("-");
  }

  /** The two largest units of a time: more would not be read. */
  private static String spoken(Duration age) {
    if (age.toDays() > 0) {
      return line("%d d %d h", age.toDays(), age.toHoursPart());
    }
    if (age.toHours() > 0) {
      return line("%d h %d min", age.toHours(), age.toMinutesPart());
    }
    return age.toMinutes() > 0
        ? line("%d min %d s", age.toMinutes(), age.toSecondsPart())
        : line("%d.%03d s", age.toSeconds(), age.toMillisPart());
  }

  private static String line(String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }
}
