package dev.redrive.quarantine;

import java.util.concurrent.TimeUnit;

/**
 * Keeps turns apart, so that no second holds more of them than allowed, the first second included.
 * Only turns that were used count. Time that was not used is lost: a slow turn is followed by no
 * burst.
 *
 * <p>Turns start evenly spaced. A turn may last: for it to count in no second but its own, one may
 * start only when the one that many turns before has been over for a second.
 */
final class SpeedLimit {
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  private final long[] ends;
  private final long spacing;
  private long lastStart;
  private int used;

  SpeedLimit(int perSecond) {
    this.ends = new long[perSecond];
    this.spacing = SECOND / perSecond;
  }

  /** How long until the next turn may start, in nanoseconds; 0 or less: it may start now. */
  long waitAt(long nanos) {
    long spaced = used == 0 ? 0 : lastStart + spacing - nanos;
    long windowed = used < ends.length ? 0 : ends[used % ends.length] + SECOND - nanos;
    return Math.max(spaced, windowed);
  }

  void used(long start, long end) {
    lastStart = start;
    ends[used % ends.length] = end;
    used++;
  }
}
