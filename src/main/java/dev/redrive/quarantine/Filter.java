package dev.redrive.quarantine;

import dev.redrive.Arguments;
import dev.redrive.DeadReason;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Which dead jobs: {@code Filter.all().reason(DeadReason.EXHAUSTED).fault("http-503")}. Everything
 * asked for has to hold. A list, a preview and a bulk redrive of the same filter ask the database
 * by the same condition.
 */
public final class Filter {
  private static final Filter ALL = new Filter(null, null, null, null, null, "");
  private static final String NONE = "";

  private final @Nullable DeadReason reason;
  private final @Nullable String fault;
  private final @Nullable Duration atLeast;
  private final @Nullable Duration atMost;
  private final @Nullable Boolean investigated;
  private final String idPrefix;

  private Filter(
      @Nullable DeadReason reason,
      @Nullable String fault,
      @Nullable Duration atLeast,
      @Nullable Duration atMost,
      @Nullable Boolean investigated,
      String idPrefix) {
    this.reason = reason;
    this.fault = fault;
    this.atLeast = atLeast;
    this.atMost = atMost;
    this.investigated = investigated;
    this.idPrefix = idPrefix;
  }

  /**
   * Every dead job.
   *
   * @return a filter that asks for nothing
   */
  public static Filter all() {
    return ALL;
  }

  /**
   * Those that died of this.
   *
   * @param reason the reason
   * @return the narrower filter
   * @throws IllegalArgumentException if null
   */
  public Filter reason(DeadReason reason) {
    Arguments.notNull(reason, "reason");
    return new Filter(reason, fault, atLeast, atMost, investigated, idPrefix);
  }

  /**
   * Those whose latest failure has this code.
   *
   * @param fault the whole code, an identifier
   * @return the narrower filter
   * @throws IllegalArgumentException if no identifier
   */
  public Filter fault(String fault) {
    Arguments.identifier(fault, "fault");
    return new Filter(reason, fault, atLeast, atMost, investigated, idPrefix);
  }

  /**
   * Those that never failed: their time was over before anybody claimed them.
   *
   * @return the narrower filter
   */
  public Filter withoutFault() {
    return new Filter(reason, NONE, atLeast, atMost, investigated, idPrefix);
  }

  /**
   * Those that have been dead at least this long.
   *
   * @param age 0 to 3,650 days
   * @return the narrower filter
   * @throws IllegalArgumentException if null or out of range
   */
  public Filter deadAtLeast(Duration age) {
    Arguments.duration(age, "age", Duration.ZERO);
    return new Filter(reason, fault, age, atMost, investigated, idPrefix);
  }

  /**
   * Those that have been dead at most this long.
   *
   * @param age 0 to 3,650 days
   * @return the narrower filter
   * @throws IllegalArgumentException if null or out of range
   */
  public Filter deadAtMost(Duration age) {
    Arguments.duration(age, "age", Duration.ZERO);
    return new Filter(reason, fault, atLeast, age, investigated, idPrefix);
  }

  /**
   * Those that somebody has looked at since they died, or those that nobody has.
   *
   * @param investigated whether somebody has
   * @return the narrower filter
   */
  public Filter investigated(boolean investigated) {
    return new Filter(reason, fault, atLeast, atMost, investigated, idPrefix);
  }

  /**
   * Those whose id begins so, letter by letter: nothing in it is a wildcard.
   *
   * @param prefix 0 to 200 code points that an id may hold
   * @return the narrower filter
   * @throws IllegalArgumentException if null, or no id can begin so
   */
  public Filter idPrefix(String prefix) {
    Arguments.idPrefix(prefix, "prefix");
    return new Filter(reason, fault, atLeast, atMost, investigated, prefix);
  }

  @Nullable String reasonWord() {
    return reason == null ? null : reason.toString();
  }

  /** Empty text stands for no fault; null asks for nothing. */
  @Nullable String faultWord() {
    return fault;
  }

  @Nullable Long atLeastMillis() {
    return atLeast == null ? null : atLeast.toMillis();
  }

  @Nullable Long atMostMillis() {
    return atMost == null ? null : atMost.toMillis();
  }

  /** 1 for those looked at, 0 for the others. */
  @Nullable Integer investigatedFlag() {
    return investigated == null ? null : investigated ? 1 : 0;
  }

  IdRange ids() {
    return IdRange.of(idPrefix);
  }

  @Override
  public String toString() {
    return "Filter[reason="
        + reason
        + ", fault="
        + (NONE.equals(fault) ? "none" : fault)
        + ", deadAtLeast="
        + atLeast
        + ", deadAtMost="
        + atMost
        + ", investigated="
        + investigated
        + ", idPrefix of "
        + idPrefix.length()
        + " characters]";
  }
}
