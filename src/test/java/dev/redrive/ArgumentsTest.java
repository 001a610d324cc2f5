package dev.redrive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jooq.Configuration;
import org.jooq.ExecuteListener;
import org.jooq.TransactionContext;
import org.jooq.TransactionListener;
import org.jooq.impl.DefaultExecuteListenerProvider;
import org.jooq.impl.DefaultTransactionListenerProvider;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Broken arguments are refused by name and rule, before any SQL, and leave nothing stored. */
class ArgumentsTest extends QueueTest {
  private static final String ROCKET = "\uD83D\uDE80";
  private static final String TOO_LONG = "x".repeat(65);
  private static final List<String> NO_IDENTIFIERS =
      List.of(
          "",
          " ",
          "kim lee",
          "-kim",
          ".kim",
          "kim\n",
          "\nkim",
          "김",
          "kim\u00e9",
          "a,b",
          "a\0b",
          TOO_LONG,
          "kim@example.com");
  private static final List<String> NO_IDS =
      List.of(
          "",
          "a\nb",
          "a\0",
          "\u0001",
          "\u001f",
          "\u007f",
          "a\u0085",
          "\u009f",
          "a\uD83D",
          "\uDE80a",
          "\uDE80\uD83D",
          "i".repeat(201),
          ROCKET.repeat(201));
  private static final List<Duration> NOT_EVEN_A_MILLISECOND =
      List.of(
          Duration.ZERO,
          Duration.ofMillis(-1),
          Duration.ofNanos(1),
          Duration.ofNanos(999_999),
          Duration.ofSeconds(Long.MIN_VALUE));
  private static final List<Duration> TOO_MUCH =
      List.of(
          Duration.ofDays(3650).plusNanos(1),
          Duration.ofDays(3651),
          Duration.ofSeconds(Long.MAX_VALUE, 999_999_999));

  /** What the queue under test sent, and the transactions it began. */
  private final List<String> sent = Collections.synchronizedList(new ArrayList<>());

  private JobQueue.Builder listened;
  private JobQueue asked;

  @BeforeEach
  void listen() {
    listened = listened(store.dsl().configuration());
    asked = listened.build();
  }

  private JobQueue.Builder listened(Configuration host) {
    Configuration derived =
        host.derive(
                new DefaultExecuteListenerProvider(
                    ExecuteListener.onExecuteStart(context -> sent.add(context.sql()))))
            .derive(
                new DefaultTransactionListenerProvider(
                    new TransactionListener() {
                      @Override
                      public void beginStart(TransactionContext context) {
                        sent.add("begin");
                      }
                    }));
    return JobQueue.builder(derived.dsl())
        .clock(clock)
        .retry(RetryPolicy.exponential(Duration.ofMillis(1_000), Duration.ofMillis(60_000)));
  }

  private void refused(String argument, ThrowingCallable call) {
    List<Map<String, @Nullable Object>> before = everything();
    sent.clear();
    assertThatThrownBy(call)
        .isExactlyInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith(argument + " must");
    assertThat(sent).isEmpty();
    assertThat(everything()).isEqualTo(before);
  }

  private <T> void eachRefused(String argument, List<T> values, Function<T, ?> call) {
    values.forEach(value -> refused(argument, () -> call.apply(value)));
  }

  private List<Map<String, @Nullable Object>> everything() {
    return Stream.of("jobs", "redrives").flatMap(t -> rows("select * from " + t).stream()).toList();
  }

  @Test
  void whoClaimsIsAnIdentifier() {
    Lease lease = leased("j1");
    submit("j2");
    eachRefused("owner", NO_IDENTIFIERS, bad -> asked.claim(bad, LEASE));
    eachRefused("owner", NO_IDENTIFIERS, bad -> asked.claim(bad, LEASE, 2));
    eachRefused(
        "owner", NO_IDENTIFIERS, bad -> asked.finishAndClaim(lease, Outcome.ok(), bad, LEASE));
  }

  @Test
  void queuesNotesApproversTicketsAndWhoLookedAreIdentifiers() {
    Job dead = dead("j1");
    eachRefused("name", NO_IDENTIFIERS, listened::name);
    eachRefused("ticket", NO_IDENTIFIERS, bad -> asked.investigate(dead, bad, "kim"));
    eachRefused("by", NO_IDENTIFIERS, bad -> asked.investigate(dead, "OPS-1", bad));
    eachRefused("note", NO_IDENTIFIERS, Redrive::note);
    eachRefused("approvedBy", NO_IDENTIFIERS, bad -> Redrive.note("OPS-1").approvedBy(bad));
  }

  @Test
  void anIdHas1To200CodePointsAndNoControlCharacters() {
    eachRefused("id", NO_IDS, bad -> NewJob.of(bad, "{}"));
    eachRefused("id", NO_IDS, asked::find);
    for (String good : List.of("i".repeat(200), ROCKET.repeat(200), "주문 1", "\u00a0", "a b/c")) {
      assertThat(asked.submit(job(good)).created()).isTrue();
      assertThat(asked.find(good)).hasValueSatisfying(job -> assertThat(job.id()).isEqualTo(good));
    }
  }

  @Test
  void aPayloadIsTextThatBothEnginesStoreUnchanged() {
    eachRefused(
        "payload",
        List.of("\0", "a\0b", "\uD83D", "\uDE80", "{}\uD83D", "\uDE80\uD83D", "\uD83D\uD83D\uDE80"),
        bad -> NewJob.of("j1", bad));
    String good = "\u0001\t\r\n\u0085" + ROCKET + "주문\uFFFF\\u0000%s'";
    assertThat(asked.submit(NewJob.of("j1", good)).created()).isTrue();
    assertThat(asked.claim("A", LEASE).orElseThrow().payload()).isEqualTo(good);
    assertThat(find("j1").payload()).isEqualTo(good);
  }

  @Test
  void aPayloadHasAtMostOneMebibyteInUtf8() {
    int mebibyte = 1 << 20;
    List<String> largest =
        List.of(
            "x".repeat(mebibyte),
            "é".repeat(mebibyte / 2),
            "한".repeat(mebibyte / 3) + "x",
            ROCKET.repeat(mebibyte / 4));
    for (String payload : largest) {
      NewJob tooLarge = job("j1", payload + "x");
      refused("payload", () -> asked.submit(tooLarge));
      refused("payload", () -> asked.submitAll(List.of(job("j2"), tooLarge)));
    }
    for (int i = 0; i < largest.size(); i++) {
      assertThat(asked.submit(job("j" + i, largest.get(i))).created()).isTrue();
      assertThat(find("j" + i).payload()).isEqualTo(largest.get(i));
    }
  }

  @Test
  void aQueueMayAllowOtherPayloads() {
    eachRefused("bytes", List.of(0, -1, (256 << 20) + 1), listened::maxPayloadBytes);
    JobQueue small = listened.maxPayloadBytes(5).build();
    refused("payload", () -> small.submit(job("j1", "123456")));
    refused("payload", () -> small.submit(job("j1", "한한")));
    assertThat(small.submit(job("j1", "한ab")).created()).isTrue();
    JobQueue large = listened.maxPayloadBytes((1 << 20) + 1).build();
    assertThat(large.submit(job("j2", "x".repeat((1 << 20) + 1))).created()).isTrue();
  }

  private static NewJob job(String id, String payload) {
    return NewJob.of(id, payload);
  }

  @Test
  void leasesLastAMillisecondToTenYears() {
    Lease lease = leased("j1");
    submit("j2");
    for (List<Duration> bad : List.of(NOT_EVEN_A_MILLISECOND, TOO_MUCH)) {
      eachRefused("lease", bad, d -> asked.claim("A", d));
      eachRefused("lease", bad, d -> asked.claim("A", d, 1));
      eachRefused("lease", bad, d -> asked.renew(lease, d));
      eachRefused("lease", bad, d -> asked.finishAndClaim(lease, Outcome.ok(), "A", d));
    }
    assertThat(asked.renew(lease, Duration.ofDays(3650))).isTrue();
    assertThat(asked.claim("B", Duration.ofMillis(1)))
        .hasValueSatisfying(l -> assertThat(l.leaseUntil().toEpochMilli()).isEqualTo(T0 + 1));
  }

  @Test
  void deadlinesLastAMillisecondToTenYears() {
    for (List<Duration> bad : List.of(NOT_EVEN_A_MILLISECOND, TOO_MUCH)) {
      eachRefused("deadline", bad, d -> job("j1").deadline(d));
      eachRefused("deadline", bad, d -> Redrive.note("OPS-1").approvedBy("kim").deadline(d));
    }
  }

  @Test
  void delaysLastNothingToTenYears() {
    List<Duration> negative = List.of(Duration.ofNanos(-1), Duration.ofMillis(-5));
    eachRefused("delay", negative, d -> Outcome.retry("slow", d));
    eachRefused("delay", TOO_MUCH, d -> Outcome.retry("slow", d));
    assertThat(asked.finish(leased("j1"), Outcome.retry("slow", Duration.ofNanos(1)))).isTrue();
    assertThat(find("j1").availableAt().toEpochMilli()).isEqualTo(T0);
  }

  @Test
  void whatIsLeftOfAMillisecondDoesNotCount() {
    Duration almostTwo = Duration.ofNanos(1_999_999);
    submit("j1");
    assertThat(asked.claim("A", almostTwo).orElseThrow().leaseUntil().toEpochMilli())
        .isEqualTo(T0 + 1);
  }

  @Test
  void onlyWorkThatWasDoneADayAgoIsForgotten() {
    assertThat(queue.finish(leased("j1"), Outcome.ok())).isTrue();
    Duration day = Duration.ofHours(24);
    eachRefused("olderThan", NOT_EVEN_A_MILLISECOND, d -> asked.purgeDone(d, 1));
    eachRefused("olderThan", TOO_MUCH, d -> asked.purgeDone(d, 1));
    refused("olderThan", () -> asked.purgeDone(day.minusNanos(1), 1));
    assertThat(asked.purgeDone(day, 1)).isZero();
  }

  @Test
  void limitsAreWhatOneStatementShouldTouch() {
    submit("j1");
    List<Integer> bad = List.of(0, -1, Integer.MIN_VALUE, Integer.MAX_VALUE);
    eachRefused("limit", bad, n -> asked.claim("A", LEASE, n));
    refused("limit", () -> asked.claim("A", LEASE, 1_001));
    eachRefused("limit", bad, n -> asked.purgeDone(Duration.ofDays(2), n));
    refused("limit", () -> asked.purgeDone(Duration.ofDays(2), 10_001));
    assertThat(asked.purgeDone(Duration.ofDays(2), 10_000)).isZero();
    assertThat(asked.claim("A", LEASE, 1_000)).hasSize(1);
  }

  @Test
  void aBudgetHasOneToAMillionAttempts() {
    List<Integer> bad = List.of(0, -1, 1_000_001, Integer.MIN_VALUE, Integer.MAX_VALUE);
    eachRefused("maxAttempts", bad, n -> job("j1").maxAttempts(n));
    assertThat(asked.submit(job("j1").maxAttempts(1_000_000)).created()).isTrue();
  }

  @Test
  void timesLieInTheYears1970To9999() {
    List<Instant> bad =
        List.of(
            Instant.EPOCH.minusNanos(1),
            Instant.ofEpochMilli(253_402_300_800_000L),
            Instant.ofEpochMilli(253_402_300_799_999L).plusNanos(1),
            Instant.MIN,
            Instant.MAX);
    eachRefused("availableAt", bad, time -> job("j1").availableAt(time));
    assertThat(asked.submit(job("j1").availableAt(Instant.EPOCH)).created()).isTrue();
    assertThat(find("j1"))
        .returns(Instant.EPOCH, Job::availableAt)
        .returns(Instant.ofEpochMilli(T0 + 600_000), Job::deadline);
  }

  @Test
  void aLeaseOfAnotherQueueIsRefused() {
    JobQueue other = queue("other").build();
    assertThat(other.submit(job("j1")).created()).isTrue();
    Lease foreign = other.claim("A", LEASE).orElseThrow();
    Lease own = leased("j1");
    assertThat(own).usingRecursiveComparison().ignoringFields("queue").isEqualTo(foreign);
    refused("held", () -> asked.renew(foreign, LEASE));
    refused("held", () -> asked.release(foreign));
    refused("held", () -> asked.finish(foreign, Outcome.ok()));
    refused("held", () -> asked.finishAndClaim(foreign, Outcome.ok(), "A", LEASE));
    refused(
        "finishes[1].lease",
        () ->
            asked.finishAll(
                List.of(new Finish(own, Outcome.ok()), new Finish(foreign, Outcome.ok()))));
  }

  @Test
  void aJobOfAnotherQueueIsRefused() {
    Job own = dead("j1");
    JobQueue other = listened.name("other").build();
    refused("dead", () -> other.investigate(own, "OPS-1", "kim"));
    refused("dead", () -> other.redrive(own, ORDER));
  }

  @Test
  void nullAmongManyIsRefusedByItsPlace() {
    Lease lease = leased("j1");
    refused("jobs[1]", () -> asked.submitAll(Arrays.asList(job("j2"), null)));
    refused("jobs[0]", () -> asked.submitAll(Collections.singleton(null)));
    refused(
        "finishes[1]", () -> asked.finishAll(Arrays.asList(new Finish(lease, Outcome.ok()), null)));
  }

  @Test
  void ofNothingNothingIsAnsweredAndNothingSent() {
    assertThat(asked.submitAll(List.of())).isEmpty();
    assertThat(asked.finishAll(List.of())).isEmpty();
    assertThat(sent).isEmpty();
  }

  @Test
  void aBrokenClockIsSaidToBeBrokenAndNothingIsSent() {
    Job dead = dead("j0");
    Lease lease = leased("j1");
    submit("j2");
    List<InstantSource> broken =
        List.of(
            () -> Instant.ofEpochMilli(-1),
            () -> Instant.ofEpochMilli(253_402_300_800_000L),
            () -> Instant.MAX,
            () -> Instant.MIN,
            () -> null);
    for (InstantSource source : broken) {
      JobQueue late = listened.clock(source).build();
      for (ThrowingCallable call : everyCall(late, lease, dead)) {
        nothingHappens(call, IllegalStateException.class, "the clock");
      }
    }
  }

  @Test
  void whatAClockThrowsReachesTheCallerAndNothingIsSent() {
    Job dead = dead("j0");
    Lease lease = leased("j1");
    JobQueue late =
        listened
            .clock(
                () -> {
                  throw new DateTimeException("no time");
                })
            .build();
    for (ThrowingCallable call : everyCall(late, lease, dead)) {
      nothingHappens(call, DateTimeException.class, "no time");
    }
  }

  private static List<ThrowingCallable> everyCall(JobQueue late, Lease lease, Job dead) {
    return List.of(
        () -> late.submit(job("j3")),
        () -> late.submitAll(List.of(job("j3"))),
        () -> late.claim("A", LEASE),
        () -> late.renew(lease, LEASE),
        () -> late.release(lease),
        () -> late.finish(lease, Outcome.ok()),
        () -> late.finishAndClaim(lease, Outcome.ok(), "A", LEASE),
        () -> late.investigate(dead, "OPS-1", "kim"),
        () -> late.redrive(dead, ORDER),
        () -> late.purgeDone(Duration.ofDays(1), 1));
  }

  @Test
  void aBrokenRetryPolicyIsSaidToBeBrokenBeforeAnySql() {
    Lease lease = leased("j1");
    submit("j2");
    List<RetryPolicy> broken =
        List.of(
            attempt -> null,
            attempt -> Duration.ofMillis(-1),
            attempt -> Duration.ofDays(3651),
            attempt -> Duration.ofSeconds(Long.MAX_VALUE));
    for (RetryPolicy policy : broken) {
      for (ThrowingCallable call : everyRetry(listened.retry(policy).build(), lease)) {
        nothingHappens(call, IllegalStateException.class, "the retry policy is broken: delay must");
        assertThat(sent).isEmpty();
      }
    }
  }

  @Test
  void whatARetryPolicyThrowsReachesTheCallerBeforeAnySql() {
    Lease lease = leased("j1");
    RetryPolicy throwing =
        attempt -> {
          throw new UnsupportedOperationException("attempt " + attempt);
        };
    for (ThrowingCallable call : everyRetry(listened.retry(throwing).build(), lease)) {
      nothingHappens(call, UnsupportedOperationException.class, "attempt 1");
      assertThat(sent).isEmpty();
    }
  }

  private static List<ThrowingCallable> everyRetry(JobQueue queue, Lease lease) {
    return List.of(
        () -> queue.finish(lease, Outcome.retry("slow")),
        () -> queue.finishAll(List.of(new Finish(lease, Outcome.retry("slow")))),
        () -> queue.finishAndClaim(lease, Outcome.retry("slow"), "A", LEASE));
  }

  /** A transaction may have begun, and is rolled back. */
  private void nothingHappens(
      ThrowingCallable call, Class<? extends Exception> type, String message) {
    List<Map<String, @Nullable Object>> before = everything();
    sent.clear();
    assertThatThrownBy(call).isExactlyInstanceOf(type).hasMessageStartingWith(message);
    assertThat(sent).allMatch("begin"::equals);
    assertThat(everything()).isEqualTo(before);
  }

  @Test
  void aPolicyOfItsOwnIsRefusedByNameToo() {
    Duration second = Duration.ofSeconds(1);
    RetryPolicy.Exponential policy = RetryPolicy.exponential(second, second);
    for (List<Duration> bad : List.of(NOT_EVEN_A_MILLISECOND, TOO_MUCH)) {
      eachRefused("base", bad, d -> RetryPolicy.exponential(d, second));
      eachRefused("cap", bad, d -> RetryPolicy.exponential(second, d));
    }
    refused("cap", () -> RetryPolicy.exponential(second, second.minusNanos(1)));
    eachRefused("spread", TOO_MUCH, policy::jitter);
    refused("spread", () -> policy.jitter(Duration.ofNanos(-1)));
    eachRefused(
        "ratio",
        List.of(-0.001, 1.001, Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY),
        policy::jitter);
    eachRefused("attempt", List.of(0, -1, Integer.MIN_VALUE), policy::delay);
  }

  @Test
  void aLeaseThatNoClaimAnsweredIsRefused() {
    Lease good = leased("j1");
    refused("token", () -> lease(good, 0, 1, 3));
    refused("attempt", () -> lease(good, 1, 0, 3));
    refused("maxAttempts", () -> lease(good, 1, 1, 0));
  }

  private static Lease lease(Lease good, long token, int attempt, int maxAttempts) {
    return new Lease(
        good.queue(),
        good.id(),
        good.owner(),
        token,
        attempt,
        maxAttempts,
        good.leaseUntil(),
        good.deadline(),
        good.payload());
  }

  @Test
  void noRefusalQuotesWhatItRefuses() {
    String secret = "kim@example.com 4111-1111";
    Stream.<ThrowingCallable>of(
            () -> asked.claim(secret, LEASE),
            () -> NewJob.of(secret + "\n", "{}"),
            () -> NewJob.of("j1", secret + "\0"),
            () -> NewJob.of("j1", secret + "\uD83D"),
            () -> asked.submit(NewJob.of("j1", secret.repeat(100_000))),
            () -> Redrive.note(secret))
        .forEach(
            call ->
                assertThatThrownBy(call)
                    .isInstanceOf(IllegalArgumentException.class)
                    .message()
                    .doesNotContain("kim", "4111"));
  }

  @Test
  void anyTextIsMadeAFault() {
    Map<String, String> made =
        Map.ofEntries(
            Map.entry("http-503", "http-503"),
            Map.entry("SocketTimeoutException", "SocketTimeoutException"),
            Map.entry("", "unnamed"),
            Map.entry("   ", "unnamed"),
            Map.entry("...", "unnamed"),
            Map.entry("일시 오류", "unnamed"),
            Map.entry(ROCKET + "\uD83D\0", "unnamed"),
            Map.entry("...timeout", "timeout"),
            Map.entry("  a  b  ", "a-b"),
            Map.entry("오류 503 발생", "503"),
            Map.entry("a\0b", "a-b"),
            Map.entry("HTTP 503: Service Unavailable\n at x", "HTTP-503:-Service-Unavailable-at-x"),
            Map.entry(TOO_LONG, "x".repeat(64)),
            Map.entry("x".repeat(63) + " y", "x".repeat(63)),
            Map.entry("x".repeat(62) + " y", "x".repeat(62) + "-y"),
            Map.entry("x".repeat(1 << 20), "x".repeat(64)),
            Map.entry(" ".repeat(1 << 20) + "late", "late"));
    made.forEach(
        (text, fault) -> {
          assertThat(Outcome.retry(text)).isEqualTo(new Outcome.Retry(fault, null));
          assertThat(Outcome.permanent(text)).isEqualTo(new Outcome.Permanent(fault));
          assertThat(Arguments.identifier(fault, "fault")).isEqualTo(fault);
        });
  }

  @Test
  void aFaultOfAnyTextIsStored() {
    int jobs = 0;
    for (String text : Arrays.asList(null, "", "일시 오류", "a\0b", "x".repeat(1 << 20))) {
      String id = "j" + ++jobs;
      assertThat(asked.finish(leased(id), Outcome.permanent(text))).isTrue();
      assertThat(find(id).fault()).hasValue(((Outcome.Permanent) Outcome.permanent(text)).fault());
    }
  }

  @Test
  void noValueTellsItsPayload() {
    String payload = "card=4111-1111";
    NewJob job = NewJob.of("j1", payload);
    assertThat(queue.submit(job).created()).isTrue();
    Lease lease = claim("A").orElseThrow();
    Job found = find("j1");
    Finish finish = new Finish(lease, Outcome.ok());
    FinishedAndClaimed both = new FinishedAndClaimed(true, Optional.of(lease));
    assertThat(List.of(job, lease, found, finish, both))
        .allSatisfy(
            value ->
                assertThat(value.toString())
                    .doesNotContain("4111")
                    .contains("j1", "14 characters"));
  }
}
