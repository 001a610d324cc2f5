package dev.redrive.quarantine;

import dev.redrive.Arguments;
import dev.redrive.DeadReason;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * How a queue and its quarantine stand, all figures of one moment. {@link #toString} is the report
 * for people.
 *
 * @param queue the queue's name
 * @param at the moment, by the queue's clock
 * @param dead the quarantine
 * @param live what is not dead
 * @param redrives what became of redrives
 * @param lastInvestigation the last look at any death, redriven since or not; empty if nobody ever
 *     looked
 */
public record Report(
    String queue,
    Instant at,
    Dead dead,
    Live live,
    Redrives redrives,
    Optional<Instant> lastInvestigation) {

  /** Refuses missing parts. */
  public Report {
    Arguments.notNull(queue, "queue");
    Arguments.notNull(at, "at");
    Arguments.notNull(dead, "dead");
    Arguments.notNull(live, "live");
    Arguments.notNull(redrives, "redrives");
    Arguments.notNull(lastInvestigation, "lastInvestigation");
  }

  /**
   * The quarantine. No age is negative, also where a clock went back.
   *
   * @param count how many jobs are dead
   * @param byReason how many of each reason; a reason of none is missing
   * @param byFault the faults, most jobs first
   * @param oldestSinceSubmit how long ago the oldest of them was submitted; empty if none is dead
   * @param longestInQuarantine how long ago the first of them died; empty if none is dead
   * @param longestWithoutLook the longest time since one of them died or was last looked at; empty
   *     if none is dead
   * @param neverInvestigated how many nobody has looked at since they died
   */
  public record Dead(
      long count,
      Map<DeadReason, Long> byReason,
      List<FaultGroup> byFault,
      Optional<Duration> oldestSinceSubmit,
      Optional<Duration> longestInQuarantine,
      Optional<Duration> longestWithoutLook,
      long neverInvestigated) {

    /** Refuses missing parts. */
    public Dead {
      byReason = copy(Arguments.notNull(byReason, "byReason"));
      byFault = List.copyOf(Arguments.notNull(byFault, "byFault"));
      Arguments.notNull(oldestSinceSubmit, "oldestSinceSubmit");
      Arguments.notNull(longestInQuarantine, "longestInQuarantine");
      Arguments.notNull(longestWithoutLook, "longestWithoutLook");
    }

    /**
     * The share of the dead that died of a reason.
     *
     * @param reason the reason
     * @return 0 to 1; 0 if none is dead
     * @throws IllegalArgumentException if null
     */
    public double ratio(DeadReason reason) {
      Arguments.notNull(reason, "reason");
      return Report.ratio(byReason.getOrDefault(reason, 0L), count);
    }
  }

  /**
   * The dead of one fault, whatever their reason.
   *
   * @param fault the code; empty for those that never failed
   * @param count how many
   * @param first when the first of them died
   * @param last when the last of them died
   */
  public record FaultGroup(Optional<String> fault, long count, Instant first, Instant last) {
    static final Comparator<FaultGroup> MOST_FIRST =
        Comparator.comparingLong(FaultGroup::count)
            .reversed()
            .thenComparing(group -> group.fault().orElse(""));

    /** Refuses missing parts. */
    public FaultGroup {
      Arguments.notNull(fault, "fault");
      Arguments.notNull(first, "first");
      Arguments.notNull(last, "last");
    }
  }

  /**
   * Work that is not in quarantine.
   *
   * @param ready pending, and the next run is due
   * @param scheduled pending, and the next run is later
   * @param leased held under a lease
   * @param leaseExpired held, but the lease is over: the next claim takes it
   * @param oldestReady how long the oldest ready job has been due; empty if none is ready
   * @param done finished ok, counted up to 10,000: what is above says 10,001
   */
  public record Live(
      long ready,
      long scheduled,
      long leased,
      long leaseExpired,
      Optional<Duration> oldestReady,
      long done) {

    /** Refuses missing parts. */
    public Live {
      Arguments.notNull(oldestReady, "oldestReady");
    }
  }

  /**
   * What became of redrives.
   *
   * @param byPreviousReason by the reason of the death that was redriven; a reason of none is
   *     missing
   */
  public record Redrives(Map<DeadReason, Fates> byPreviousReason) {
    /** Refuses missing parts. */
    public Redrives {
      byPreviousReason = copy(Arguments.notNull(byPreviousReason, "byPreviousReason"));
    }

    /**
     * Those after deaths of a reason.
     *
     * @param reason the reason of the death that was redriven
     * @return what became of them; all 0 if there are none
     * @throws IllegalArgumentException if null
     */
    public Fates after(DeadReason reason) {
      return byPreviousReason.getOrDefault(Arguments.notNull(reason, "reason"), Fates.NONE);
    }

    /**
     * All of them.
     *
     * @return the sum over the reasons
     */
    public Fates total() {
      return byPreviousReason.values().stream().reduce(Fates.NONE, Fates::plus);
    }
  }

  /**
   * Where the lives stand that redrives began.
   *
   * @param done finished ok
   * @param pending wait for a run
   * @param leased are held
   * @param deadAgain ended in quarantine once more, redriven again or not
   */
  public record Fates(long done, long pending, long leased, long deadAgain) {
    static final Fates NONE = new Fates(0, 0, 0, 0);

    /**
     * How many there are.
     *
     * @return the sum
     */
    public long count() {
      return done + pending + leased + deadAgain;
    }

    /**
     * The share of all that has died again.
     *
     * @return 0 to 1; 0 if there are none
     */
    public double ratioDeadAgain() {
      return ratio(deadAgain, count());
    }

    /**
     * The share of those with an outcome, done or dead again, that has died again.
     *
     * @return 0 to 1; 0 if none has an outcome
     */
    public double deadAgainOfOutcomes() {
      return ratio(deadAgain, done + deadAgain);
    }

    Fates plus(Fates more) {
      return new Fates(
          done + more.done,
          pending + more.pending,
          leased + more.leased,
          deadAgain + more.deadAgain);
    }
  }

  /**
   * The report for people, in lines.
   *
   * @return a text of a dozen lines or more, without ids and payloads
   */
  @Override
  public String toString() {
    return ReportText.of(this);
  }

  static double ratio(long part, long whole) {
    return whole == 0 ? 0 : (double) part / whole;
  }

  private static <V> Map<DeadReason, V> copy(Map<DeadReason, V> map) {
    EnumMap<DeadReason, V> copy = new EnumMap<>(DeadReason.class);
    copy.putAll(map);
    return Collections.unmodifiableMap(copy);
  }
}
