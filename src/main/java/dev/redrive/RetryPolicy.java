package dev.redrive;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.DoubleSupplier;

/** How long a failed job waits before its next run. */
@FunctionalInterface
public interface RetryPolicy {

  /**
   * The wait after a failed attempt.
   *
   * @param attempt which claim of this life failed, 1 to {@link Integer#MAX_VALUE}
   * @return 0 to 3,650 days
   */
  Duration delay(int attempt);

  /**
   * The default: 1 s, doubled with each attempt up to 5 minutes, half of it random.
   *
   * @return the policy
   */
  static RetryPolicy standard() {
    return exponential(Duration.ofSeconds(1), Duration.ofMinutes(5)).jitter(0.5);
  }

  /**
   * A delay that doubles with each attempt up to a cap, without jitter.
   *
   * @param base the delay after the first attempt, 1 ms to 3,650 days
   * @param cap the longest delay, from {@code base} to 3,650 days
   * @return the policy
   * @throws IllegalArgumentException if an argument breaks its rule
   */
  static Exponential exponential(Duration base, Duration cap) {
    return new Exponential(
        base, cap, 0.0, Duration.ZERO, () -> ThreadLocalRandom.current().nextDouble());
  }

  /**
   * Exponential backoff with cap and jitter. The jitter only shortens: many jobs that failed at
   * once come back spread out, and none later than the cap (Brooker, "Exponential Backoff And
   * Jitter", AWS Architecture Blog, 2015). No attempt number overflows.
   *
   * @param base the delay after the first attempt
   * @param cap the longest delay
   * @param ratio the share of a delay that is random, 0 to 1
   * @param spread the part of a delay that is random, as a duration; a delay never gets below zero
   * @param random where the random part comes from
   */
  record Exponential(
      Duration base, Duration cap, double ratio, Duration spread, DoubleSupplier random)
      implements RetryPolicy {
    /** Refuses bad input, naming argument and rule. */
    public Exponential {
      Arguments.positive(base, "base");
      Arguments.positive(cap, "cap");
      if (cap.compareTo(base) < 0) {
        throw new IllegalArgumentException("cap must be at least base, it is " + cap);
      }
      if (!(ratio >= 0 && ratio <= 1)) {
        throw new IllegalArgumentException("ratio must be 0 to 1, it is " + ratio);
      }
      Arguments.duration(spread, "spread", Duration.ZERO);
      Arguments.notNull(random, "random");
    }

    /**
     * This policy with a random share: a delay d becomes d × (1 − ratio) to d.
     *
     * @param ratio 0 to 1
     * @return a copy
     * @throws IllegalArgumentException if out of range
     */
    public Exponential jitter(double ratio) {
      return new Exponential(base, cap, ratio, Duration.ZERO, random);
    }

    /**
     * This policy with a random part: a delay d becomes max(0, d − spread) to d.
     *
     * @param spread 0 to 3,650 days
     * @return a copy
     * @throws IllegalArgumentException if null or out of range
     */
    public Exponential jitter(Duration spread) {
      return new Exponential(base, cap, 0.0, spread, random);
    }

    /**
     * This policy with another source of random numbers, for tests that have to repeat.
     *
     * @param random the source: 0 inclusive to 1 exclusive
     * @return a copy
     * @throws IllegalArgumentException if null
     */
    public Exponential random(DoubleSupplier random) {
      return new Exponential(base, cap, ratio, spread, random);
    }

    @Override
    public Duration delay(int attempt) {
      Arguments.range(attempt, "attempt", 1, Integer.MAX_VALUE);
      long longest = cap.toMillis();
      long full = doubled(base.toMillis(), attempt - 1, longest);
      double randomPart = Math.max(full * ratio, (double) spread.toMillis()) * random.getAsDouble();
      return Duration.ofMillis(Math.min(longest, Math.max(0, full - Math.round(randomPart))));
    }

    private static long doubled(long millis, int times, long cap) {
      boolean overflows = times >= Long.numberOfLeadingZeros(millis) - 1;
      return overflows ? cap : Math.min(cap, millis << times);
    }
  }
}
