package dev.redrive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RetryPolicyTest {
  private static final Duration CAP = Duration.ofMillis(60_000);
  private static final RetryPolicy.Exponential POLICY =
      RetryPolicy.exponential(Duration.ofMillis(1_000), CAP);

  /** Case 3.1. */
  @Test
  void case_3_1_theDelayDoublesUpToTheCap() {
    assertThat(IntStream.rangeClosed(1, 8).mapToObj(POLICY::delay).map(Duration::toMillis))
        .containsExactly(1_000L, 2_000L, 4_000L, 8_000L, 16_000L, 32_000L, 60_000L, 60_000L);
  }

  /** Case 3.1. */
  @Test
  void case_3_1_noAttemptNumberOverflows() {
    assertThat(IntStream.rangeClosed(7, 200).mapToObj(POLICY::delay)).containsOnly(CAP);
    assertThat(POLICY.delay(Integer.MAX_VALUE)).isEqualTo(CAP);
  }

  @Test
  void theLongestCapIsReachedWithoutOverflow() {
    Duration longest = Duration.ofDays(3650);
    for (Duration base : List.of(Duration.ofMillis(1), Duration.ofDays(3649), longest)) {
      RetryPolicy policy = RetryPolicy.exponential(base, longest);
      assertThat(IntStream.rangeClosed(1, 200).mapToObj(policy::delay))
          .isSorted()
          .allMatch(delay -> delay.compareTo(base) >= 0 && delay.compareTo(longest) <= 0);
      assertThat(policy.delay(200)).isEqualTo(longest);
    }
  }

  /** Case 3.3. */
  @ParameterizedTest
  @ValueSource(doubles = {0.0, 0.5, 0.999999})
  void case_3_3_jitterStaysBelowTheCap(double random) {
    RetryPolicy jittered = POLICY.jitter(0.5).random(() -> random);
    assertThat(jittered.delay(10)).isBetween(Duration.ofMillis(30_000), CAP);
    assertThat(jittered.delay(1)).isBetween(Duration.ofMillis(500), Duration.ofMillis(1_000));
    assertThat(jittered.delay(10))
        .isEqualTo(Duration.ofMillis(60_000 - Math.round(30_000 * random)));
  }

  /** Case 3.3. */
  @ParameterizedTest
  @ValueSource(doubles = {0.0, 0.5, 0.999999})
  void case_3_3_aSpreadLargerThanTheDelayIsNotNegative(double random) {
    RetryPolicy spread =
        RetryPolicy.exponential(Duration.ofMillis(100), CAP)
            .jitter(Duration.ofMillis(200))
            .random(() -> random);
    assertThat(spread.delay(1)).isBetween(Duration.ZERO, Duration.ofMillis(100));
    assertThat(spread.delay(100)).isBetween(Duration.ofMillis(59_800), CAP);
  }

  @ParameterizedTest
  @ValueSource(doubles = {-5, 2, Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY})
  void aBrokenSourceOfRandomNumbersStaysInRange(double random) {
    RetryPolicy broken = POLICY.jitter(0.5).random(() -> random);
    assertThat(broken.delay(10)).isBetween(Duration.ZERO, CAP);
  }

  @Test
  void theStandardPolicyGoesFromOneSecondToFiveMinutes() {
    for (int i = 0; i < 1_000; i++) {
      assertThat(RetryPolicy.standard().delay(1))
          .isBetween(Duration.ofMillis(500), Duration.ofSeconds(1));
      assertThat(RetryPolicy.standard().delay(50))
          .isBetween(Duration.ofMillis(150_000), Duration.ofMinutes(5));
    }
  }

  @Test
  void badInputIsRefusedByName() {
    Duration second = Duration.ofSeconds(1);
    refused("base", () -> RetryPolicy.exponential(Duration.ZERO, second));
    refused("cap", () -> RetryPolicy.exponential(second, Duration.ofMillis(999)));
    refused("cap", () -> RetryPolicy.exponential(second, Duration.ofDays(3651)));
    refused("ratio", () -> POLICY.jitter(1.01));
    refused("ratio", () -> POLICY.jitter(Double.NaN));
    refused("spread", () -> POLICY.jitter(Duration.ofMillis(-1)));
    refused("attempt", () -> POLICY.delay(0));
  }

  private static void refused(
      String argument, org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
    assertThatIllegalArgumentException().isThrownBy(call).withMessageStartingWith(argument);
  }
}
