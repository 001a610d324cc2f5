package dev.redrive.quarantine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SpeedLimitTest {
  private static final long SECOND = 1_000_000_000L;

  /** Turns that last for random times, some longer than a second; a turn counts anywhere in it. */
  @ParameterizedTest
  @ValueSource(ints = {1, 3, 10, 1_000})
  void noSecondHoldsMoreThanTheLimit(int perSecond) {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    SpeedLimit limit = new SpeedLimit(perSecond);
    List<long[]> turns = new ArrayList<>();
    long now = Long.MAX_VALUE - SECOND / 2; // nanoTime may wrap
    for (int i = 0; i < 5 * perSecond; i++) {
      now += Math.max(0, limit.waitAt(now));
      long end =
          now + random.nextInt(random.nextInt(10) == 0 ? 2_000_000_000 : 2_000_000_000 / perSecond);
      limit.used(now, end);
      turns.add(new long[] {now, end});
      now = end;
    }
    for (int i = perSecond; i < turns.size(); i++) {
      assertThat(turns.get(i)[0] - turns.get(i - perSecond)[1])
          .as("seed %d, turn %d", seed, i)
          .isGreaterThanOrEqualTo(SECOND);
      assertThat(turns.get(i)[0] - turns.get(i - 1)[0]).isGreaterThanOrEqualTo(SECOND / perSecond);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {10, 50})
  void shortTurnsHardlyCostSpeed(int perSecond) {
    SpeedLimit limit = new SpeedLimit(perSecond);
    long now = 0;
    for (int i = 0; i < 60 * perSecond; i++) {
      now += Math.max(0, limit.waitAt(now));
      limit.used(now, now + 3_000_000);
      now += 3_000_000;
    }
    assertThat(now).isBetween(59 * SECOND, 61 * SECOND);
  }
}
