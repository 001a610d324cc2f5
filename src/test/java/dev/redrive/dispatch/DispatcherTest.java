package dev.redrive.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redrive.DeadReason;
import dev.redrive.JobEvent;
import dev.redrive.JobQueue;
import dev.redrive.Lease;
import dev.redrive.Outcome;
import dev.redrive.QueueTest;
import java.io.IOException;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.Test;

class DispatcherTest extends QueueTest {
  private final List<Lease> handled = new ArrayList<>();

  private Dispatcher dispatcher(Handler handler) {
    return new Dispatcher(
        queue,
        "A",
        LEASE,
        lease -> {
          handled.add(lease);
          return handler.handle(lease);
        });
  }

  private Dispatcher throwing(Supplier<? extends Throwable> trouble) {
    return dispatcher(
        lease -> {
          return sneakyThrow(trouble.get());
        });
  }

  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <E extends Throwable> Boolean sneakyThrow(Throwable trouble) throws E {
    throw (E) trouble;
  }

  private static Dispatched dispatched(Dispatched.Result result, String id) {
    return new Dispatched(result, Optional.of(id), Optional.empty());
  }

  private static Dispatched dead(String id, DeadReason reason) {
    return new Dispatched(Dispatched.Result.DEAD, Optional.of(id), Optional.of(reason));
  }

  @Test
  void withNothingDueItIsIdle() throws Exception {
    assertThat(dispatcher(lease -> true).runOnce()).isEqualTo(Dispatched.IDLE);
    assertThat(handled).isEmpty();
  }

  @Test
  void trueIsDone() throws Exception {
    submit("j1");
    assertThat(dispatcher(lease -> true).runOnce())
        .isEqualTo(dispatched(Dispatched.Result.DONE, "j1"));
    assertThat(row("j1")).containsEntry("state", "done").containsEntry("token", 1L);
    assertThat(handled).extracting(Lease::owner).containsExactly("A");
  }

  @Test
  void retryableIsRetriedByThePolicyOfTheQueue() throws Exception {
    submit("j1");
    assertThat(throwing(() -> new Retryable("http-503")).runOnce())
        .isEqualTo(dispatched(Dispatched.Result.RETRIED, "j1"));
    assertThat(row("j1"))
        .containsEntry("state", "pending")
        .containsEntry("fault", "http-503")
        .containsEntry("available_at", T0 + 1_000);
  }

  @Test
  void retryableMaySayWhen() throws Exception {
    submit("j1");
    assertThat(throwing(() -> new Retryable("busy", Duration.ofMillis(77), null)).runOnce())
        .isEqualTo(dispatched(Dispatched.Result.RETRIED, "j1"));
    assertThat(row("j1")).containsEntry("available_at", T0 + 77);
  }

  @Test
  void retryableOnTheLastAttemptIsDeadExhausted() throws Exception {
    assertThat(queue.submit(job("j1").maxAttempts(1)).created()).isTrue();
    assertThat(throwing(() -> new Retryable("http-503")).runOnce())
        .isEqualTo(dead("j1", DeadReason.EXHAUSTED));
    assertThat(row("j1")).containsEntry("state", "dead").containsEntry("reason", "exhausted");
  }

  @Test
  void retryableBeyondTheDeadlineIsDeadDeadline() throws Exception {
    submit("j1");
    assertThat(throwing(() -> new Retryable("http-503", DEADLINE, null)).runOnce())
        .isEqualTo(dead("j1", DeadReason.DEADLINE));
    assertThat(row("j1")).containsEntry("state", "dead").containsEntry("reason", "deadline");
  }

  @Test
  void permanentIsDead() throws Exception {
    submit("j1");
    assertThat(throwing(() -> new Permanent("http-422")).runOnce())
        .isEqualTo(dead("j1", DeadReason.PERMANENT));
    assertThat(row("j1"))
        .containsEntry("state", "dead")
        .containsEntry("reason", "permanent")
        .containsEntry("fault", "http-422");
  }

  @Test
  void aFaultThatIsNoCodeIsMadeOne() throws Exception {
    submit("j1");
    assertThat(throwing(() -> new Permanent("naïve: 100 %!")).runOnce().result())
        .isEqualTo(Dispatched.Result.DEAD);
    assertThat(row("j1")).containsEntry("fault", "na-ve:-100");
  }

  @Test
  void falseIsNoVerdict() {
    assertNoVerdict(dispatcher(lease -> false), BadAckException.class);
  }

  @Test
  void nullIsNoVerdict() {
    assertNoVerdict(dispatcher(lease -> null), BadAckException.class);
  }

  @Test
  void anUnexpectedExceptionIsNoVerdict() {
    assertNoVerdict(throwing(() -> new IllegalStateException("bug")), IllegalStateException.class);
  }

  @Test
  void aCheckedExceptionIsNoVerdict() {
    assertNoVerdict(throwing(() -> new IOException("disk")), IOException.class);
  }

  @Test
  void anInterruptIsNoVerdict() {
    assertNoVerdict(throwing(InterruptedException::new), InterruptedException.class);
  }

  @Test
  void anErrorIsNoVerdict() {
    assertNoVerdict(throwing(() -> new StackOverflowError("deep")), StackOverflowError.class);
  }

  @Test
  void aVerdictInsideAnotherExceptionIsNoVerdict() {
    assertNoVerdict(
        throwing(() -> new RuntimeException(new Permanent("http-422"))), RuntimeException.class);
  }

  /** The caller gets what came out of the handler, and the row stays exactly as claimed. */
  private void assertNoVerdict(Dispatcher dispatcher, Class<? extends Throwable> expected) {
    submit("j1");
    assertThatThrownBy(dispatcher::runOnce).isExactlyInstanceOf(expected);
    assertThat(row("j1"))
        .containsEntry("state", "leased")
        .containsEntry("owner", "A")
        .containsEntry("token", 1L)
        .containsEntry("attempts", 1L)
        .containsEntry("fault", null)
        .containsEntry("lease_until", T0 + 30_000);
    assertThat(claim("B")).isEmpty();
    clock.at(T0 + 30_000);
    assertThat(claim("B")).get().extracting(Lease::token).isEqualTo(2L);
  }

  @Test
  void aJobThatNeverGetsAVerdictEndsExhausted() throws Exception {
    submit("j1");
    Dispatcher dispatcher = dispatcher(lease -> null);
    for (int i = 0; i < 3; i++) {
      assertThatThrownBy(dispatcher::runUntilIdle).isInstanceOf(BadAckException.class);
      clock.at(T0 + (i + 1) * 30_000L);
    }
    assertThat(dispatcher.runUntilIdle().total()).isZero();
    assertThat(row("j1"))
        .containsEntry("reason", "exhausted")
        .containsEntry("fault", "lease-expired");
    assertThat(handled).hasSize(3);
  }

  @Test
  void aVerdictAfterTheLeaseWasLostIsStale() throws Exception {
    submit("j1");
    for (Outcome late : List.of(Outcome.ok(), Outcome.retry("x"), Outcome.permanent("x"))) {
      Dispatcher slow =
          dispatcher(
              lease -> {
                clock.at(clock.millis() + 30_000);
                Map<String, Object> taken = takenBy("B");
                assertThat(taken).containsEntry("owner", "B");
                return verdict(late);
              });
      assertThat(slow.runOnce()).isEqualTo(dispatched(Dispatched.Result.STALE, "j1"));
      assertThat(row("j1")).containsEntry("owner", "B");
      restart("j1");
    }
  }

  private Map<String, Object> takenBy(String owner) {
    Lease lease = claim(owner).orElseThrow();
    return row(lease.id());
  }

  private void restart(String id) {
    plant("update jobs set state = 'pending', owner = null, lease_until = null, attempts = 0");
    assertThat(row(id)).containsEntry("state", "pending");
  }

  private static Boolean verdict(Outcome outcome) {
    if (outcome instanceof Outcome.Retry retry) {
      throw new Retryable(retry.fault());
    }
    if (outcome instanceof Outcome.Permanent permanent) {
      throw new Permanent(permanent.fault());
    }
    return true;
  }

  @Test
  void untilIdleHandlesEverythingThatIsDue() throws Exception {
    submit("j1-ok");
    submit("j2-retry");
    submit("j3-permanent");
    assertThat(queue.submit(job("j4-later").availableAt(clock.instant().plusMillis(1))).created())
        .isTrue();
    Dispatcher dispatcher =
        dispatcher(
            lease -> {
              if (lease.id().endsWith("retry")) {
                throw new Retryable("busy");
              }
              if (lease.id().endsWith("permanent")) {
                throw new Permanent("wrong");
              }
              return true;
            });
    assertThat(dispatcher.runUntilIdle()).isEqualTo(new Tally(1, 1, 1, 0));
    assertThat(handled).extracting(Lease::id).containsExactly("j1-ok", "j2-retry", "j3-permanent");
    assertThat(rows("select id from jobs where state = 'leased'")).isEmpty();
  }

  @Test
  void untilIdleCountsWhatCameTooLate() throws Exception {
    submit("j1");
    Dispatcher dispatcher =
        dispatcher(
            lease -> {
              clock.at(T0 + 30_000);
              assertThat(claim("B")).isPresent();
              return true;
            });
    assertThat(dispatcher.runUntilIdle()).isEqualTo(new Tally(0, 0, 0, 1));
  }

  @Test
  void finishAndNextClaimShareATransaction() throws Exception {
    submit("j1");
    submit("j2");
    List<String> states = new ArrayList<>();
    JobQueue heard =
        queue.listening(
            event -> {
              if (event instanceof JobEvent.Done) {
                states.add(row("j1").get("state") + " " + row("j2").get("state"));
              }
            });
    assertThat(new Dispatcher(heard, "A", LEASE, lease -> true).runUntilIdle().done()).isEqualTo(2);
    assertThat(states).containsExactly("done leased", "done done");
  }

  @Test
  void anExceptionEndsTheRunAndKeepsWhatWasBefore() throws Exception {
    submit("j1");
    submit("j2");
    submit("j3");
    Dispatcher dispatcher =
        dispatcher(
            lease -> {
              if (lease.id().equals("j2")) {
                throw new IllegalStateException("bug");
              }
              return true;
            });
    assertThatThrownBy(dispatcher::runUntilIdle).isInstanceOf(IllegalStateException.class);
    assertThat(rows("select state from jobs order by id"))
        .extracting(row -> row.get("state"))
        .containsExactly("done", "leased", "pending");
    assertThat(dispatcher.runUntilIdle()).isEqualTo(new Tally(1, 0, 0, 0));
  }

  @Test
  void anInterruptEndsTheRunAfterTheVerdictIsStored() throws Exception {
    submit("j1");
    submit("j2");
    Dispatcher dispatcher =
        dispatcher(
            lease -> {
              Thread.currentThread().interrupt();
              return true;
            });
    Tally tally;
    boolean stillInterrupted;
    try {
      tally = dispatcher.runUntilIdle();
    } finally {
      stillInterrupted = Thread.interrupted();
    }
    assertThat(tally).isEqualTo(new Tally(1, 0, 0, 0));
    assertThat(stillInterrupted).isTrue();
    assertThat(row("j1")).containsEntry("state", "done");
    assertThat(row("j2")).containsEntry("state", "pending").containsEntry("attempts", 0L);
  }

  @Test
  void listenersOfTheQueueHearTheDispatcher() throws Exception {
    submit("j1");
    List<JobEvent> events = new ArrayList<>();
    Dispatcher dispatcher = new Dispatcher(queue.listening(events::add), "A", LEASE, lease -> true);
    assertThat(dispatcher.runOnce().result()).isEqualTo(Dispatched.Result.DONE);
    assertThat(events)
        .containsExactly(
            new JobEvent.Claimed("default", "j1", 1, "A", 1),
            new JobEvent.Done("default", "j1", 1));
  }

  @Test
  void aHostsTransactionIsRefusedBeforeAnythingIsClaimed() {
    submit("j1");
    store
        .dsl()
        .transaction(
            host -> {
              JobQueue joined = JobQueue.builder(host.dsl()).clock(clock).build();
              assertThat(joined.joinsHostTransaction()).isTrue();
              Dispatcher dispatcher = new Dispatcher(joined, "A", LEASE, lease -> true);
              assertThatThrownBy(dispatcher::runOnce)
                  .isInstanceOf(IllegalStateException.class)
                  .hasMessageContaining("transaction of the host");
              assertThatThrownBy(dispatcher::runUntilIdle)
                  .isInstanceOf(IllegalStateException.class);
            });
    assertThat(queue.joinsHostTransaction()).isFalse();
    assertThat(row("j1")).containsEntry("state", "pending");
  }

  @Test
  void aTransactionThatTheHandlerLeftOpenKeepsItsVerdictOut() throws Exception {
    submit("j1");
    try (Connection connection = store.dataSource().getConnection()) {
      JobQueue plain =
          JobQueue.builder(DSL.using(connection, store.dsl().dialect())).clock(clock).build();
      Dispatcher dispatcher =
          new Dispatcher(
              plain,
              "A",
              LEASE,
              lease -> {
                connection.setAutoCommit(false);
                return true;
              });
      assertThatThrownBy(dispatcher::runOnce).isInstanceOf(IllegalStateException.class);
      connection.rollback();
      connection.setAutoCommit(true);
    }
    assertThat(row("j1")).containsEntry("state", "leased");
  }

  @Test
  void twoThreadsMayShareADispatcher() throws Exception {
    submit("j1");
    submit("j2");
    CountDownLatch bothRun = new CountDownLatch(2);
    Dispatcher shared =
        new Dispatcher(
            queue,
            "A",
            LEASE,
            lease -> {
              bothRun.countDown();
              assertThat(bothRun.await(30, TimeUnit.SECONDS)).isTrue();
              if (lease.id().equals("j2")) {
                throw new Permanent("wrong");
              }
              return true;
            });
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try {
      Future<Dispatched> first = threads.submit(shared::runOnce);
      Future<Dispatched> second = threads.submit(shared::runOnce);
      assertThat(List.of(first.get(), second.get()))
          .containsExactlyInAnyOrder(
              dispatched(Dispatched.Result.DONE, "j1"), dead("j2", DeadReason.PERMANENT));
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void brokenArgumentsAreRefusedByName() {
    Handler ok = lease -> true;
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Dispatcher(null, "A", LEASE, ok))
        .withMessage("queue must not be null");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Dispatcher(queue, "not an identifier", LEASE, ok))
        .withMessageStartingWith("owner must be an identifier");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Dispatcher(queue, "A", Duration.ZERO, ok))
        .withMessageStartingWith("lease must be 1 ms to");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Dispatcher(queue, "A", null, ok))
        .withMessage("lease must not be null");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Dispatcher(queue, "A", LEASE, null))
        .withMessage("handler must not be null");
  }

  @Test
  void aDelayOutOfRangeIsRefusedAndNoVerdict() {
    assertNoVerdict(
        throwing(() -> new Retryable("x", Duration.ofMillis(-5), null)),
        IllegalArgumentException.class);
  }
}
