package dev.redrive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What listeners hear: every change once, every answer that came too late, and nothing else. */
class JobEventTest extends QueueTest {
  private final List<JobEvent> events = new ArrayList<>();

  @BeforeEach
  void listen() {
    queue = queue.listening(events::add);
  }

  private static JobEvent died(String id, long token, DeadReason reason, String fault) {
    return new JobEvent.Died("default", id, token, reason, Optional.ofNullable(fault));
  }

  private static JobEvent claimed(String id, long token, int attempt) {
    return new JobEvent.Claimed("default", id, token, "A", attempt);
  }

  private void heard(JobEvent... expected) {
    assertThat(events).containsExactly(expected);
    events.clear();
  }

  @Test
  void submitsTellWhatTheyFound() {
    submit("j1");
    heard(new JobEvent.Submitted("default", "j1"));
    assertThat(leased("j2").id()).isEqualTo("j1");
    events.clear();
    assertThat(queue.submitAll(List.of(job("j3"), job("j1"), NewJob.of("j2", "other")))).hasSize(3);
    heard(
        new JobEvent.Submitted("default", "j3"),
        new JobEvent.Refused("default", "j1", 1, Submission.Result.DUPLICATE, JobState.LEASED),
        new JobEvent.Refused("default", "j2", 0, Submission.Result.CONFLICT, JobState.PENDING));
  }

  @Test
  void everyVerbTellsItsChange() {
    Lease lease = leased("j1");
    assertThat(queue.renew(lease, LEASE)).isTrue();
    assertThat(queue.release(lease)).isTrue();
    Lease second = claim("A").orElseThrow();
    assertThat(queue.finish(second, Outcome.retry("http-503", Duration.ZERO))).isTrue();
    Lease third = claim("A").orElseThrow();
    assertThat(queue.finish(third, Outcome.permanent("http-422"))).isTrue();
    Job dead = find("j1");
    assertThat(queue.investigate(dead, "OPS-1", "lee")).isTrue();
    assertThat(queue.redrive(dead, ORDER)).isTrue();
    assertThat(queue.finish(claim("A").orElseThrow(), Outcome.ok())).isTrue();
    heard(
        new JobEvent.Submitted("default", "j1"),
        claimed("j1", 1, 1),
        new JobEvent.Renewed("default", "j1", 1),
        new JobEvent.Released("default", "j1", 1),
        claimed("j1", 2, 1),
        new JobEvent.Retried("default", "j1", 2, "http-503"),
        claimed("j1", 3, 2),
        died("j1", 3, DeadReason.PERMANENT, "http-422"),
        new JobEvent.Investigated("default", "j1", 3, "OPS-1", "lee"),
        new JobEvent.Redriven("default", "j1", 3, ORDER),
        claimed("j1", 4, 1),
        new JobEvent.Done("default", "j1", 4));
  }

  @Test
  void everyVerbTellsThatItCameTooLate() {
    Lease lease = leased("j1");
    assertThat(queue.finish(lease, Outcome.ok())).isTrue();
    Job done = find("j1");
    events.clear();
    assertThat(queue.renew(lease, LEASE)).isFalse();
    assertThat(queue.release(lease)).isFalse();
    assertThat(queue.finish(lease, Outcome.ok())).isFalse();
    assertThat(queue.investigate(done, "OPS-1", "lee")).isFalse();
    assertThat(queue.redrive(done, ORDER)).isFalse();
    assertThat(events)
        .containsExactlyElementsOf(
            List.of(JobEvent.Verb.values()).stream()
                .map(verb -> (JobEvent) new JobEvent.Stale("default", "j1", 1, verb))
                .toList());
  }

  @Test
  void purgeTellsEachJob() {
    assertThat(queue.finish(leased("j1"), Outcome.ok())).isTrue();
    assertThat(queue.finish(leased("j2"), Outcome.ok())).isTrue();
    events.clear();
    clock.at(T0 + 86_400_001);
    assertThat(queue.purgeDone(Duration.ofDays(1), 10)).isEqualTo(2);
    assertThat(events)
        .containsExactlyInAnyOrder(
            new JobEvent.Purged("default", "j1", 1), new JobEvent.Purged("default", "j2", 1));
  }

  /** Case 10.16: by a worker, by a reclaim, and by a claim that finds the deadline over. */
  @Test
  void case_10_16_theSameDeathIsTheSameEventWhateverPathLedToIt() {
    assertThat(queue.submit(job("worker").maxAttempts(1)).created()).isTrue();
    assertThat(queue.finish(claim("A").orElseThrow(), Outcome.retry("http-503"))).isTrue();
    assertThat(queue.submit(job("reclaim").maxAttempts(1)).created()).isTrue();
    assertThat(claim("A")).isPresent();
    clock.at(T0 + 30_000);
    assertThat(claim("A")).isEmpty();
    submit("late");
    clock.at(T0 + 630_000);
    assertThat(claim("A")).isEmpty();
    assertThat(events.stream().filter(JobEvent.Died.class::isInstance))
        .containsExactly(
            died("worker", 1, DeadReason.EXHAUSTED, "http-503"),
            died("reclaim", 2, DeadReason.EXHAUSTED, "lease-expired"),
            died("late", 1, DeadReason.DEADLINE, null));
  }

  @Test
  void finishAndClaimTellsInTheOrderOfWhatHappened() {
    assertThat(queue.submit(job("spent").maxAttempts(1)).created()).isTrue();
    assertThat(claim("A")).isPresent();
    clock.at(T0 + 30_000);
    submit("first");
    Lease first = queue.claim("A", LEASE, 1).get(0);
    submit("next");
    plant(
        "update jobs set state = 'pending', reason = null, finished_at = null where id = 'spent'");
    events.clear();
    clock.at(T0 + 31_000);
    assertThat(queue.finishAndClaim(first, Outcome.ok(), "A", LEASE).next()).isPresent();
    heard(
        new JobEvent.Done("default", "first", 1),
        died("spent", 3, DeadReason.EXHAUSTED, "lease-expired"),
        claimed("next", 1, 1));
  }

  @Test
  void whatIsHeardIsStored() {
    List<Object> states = new ArrayList<>();
    JobQueue looking = queue.listening(event -> states.add(row("j1").get("state")));
    assertThat(looking.submit(job("j1")).created()).isTrue();
    Lease lease = looking.claim("A", LEASE).orElseThrow();
    assertThat(looking.finish(lease, Outcome.ok())).isTrue();
    assertThat(states).containsExactly("pending", "leased", "done");
  }

  @Test
  void inAHostsTransactionAllIsHeardAtOnceAndAFailedCallIsNot() throws SQLException {
    assertThat(queue.submit(job("spent").maxAttempts(1)).created()).isTrue();
    assertThat(claim("A")).isPresent();
    clock.at(T0 + 30_000);
    events.clear();
    try (Connection connection = store.dataSource().getConnection()) {
      connection.setAutoCommit(false);
      JobQueue inHost =
          JobQueue.builder(DSL.using(connection, backend.engine().dialect()))
              .clock(clock)
              .listener(events::add)
              .build();
      assertThat(inHost.submit(job("j1")).created()).isTrue();
      heard(new JobEvent.Submitted("default", "j1"));
      assertThat(inHost.claim("A", LEASE)).isPresent();
      heard(died("spent", 2, DeadReason.EXHAUSTED, "lease-expired"), claimed("j1", 1, 1));
      connection.rollback();
      connection.setAutoCommit(true);
    }
    assertThat(row("spent")).containsEntry("state", "leased");
  }

  @Test
  void aBuryThatAFailedClaimTakesBackIsNotHeard() throws SQLException {
    assertThat(queue.submit(job("spent").maxAttempts(1)).created()).isTrue();
    assertThat(claim("A")).isPresent();
    clock.at(T0 + 30_000);
    submit("j1");
    events.clear();
    breakClaims();
    try (Connection connection = store.dataSource().getConnection()) {
      connection.setAutoCommit(false);
      JobQueue inHost =
          JobQueue.builder(DSL.using(connection, backend.engine().dialect()))
              .clock(clock)
              .listener(events::add)
              .build();
      assertThatExceptionOfType(DataAccessException.class)
          .isThrownBy(() -> inHost.claim("A", LEASE));
      connection.commit();
      connection.setAutoCommit(true);
    }
    assertThat(row("spent")).containsEntry("state", "leased");
    heard();
    assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> claim("A"));
    assertThat(row("spent")).containsEntry("state", "dead");
    heard(died("spent", 2, DeadReason.EXHAUSTED, "lease-expired"));
    mendClaims();
  }

  /** Makes each claim fail but no bury: no row may become leased. */
  private void breakClaims() {
    plant("create unique index no_leases on jobs (max_attempts, owner) where state = 'leased'");
    plant(
        "insert into jobs (queue, id, state, owner, lease_until, token, attempts, max_attempts,"
            + " available_at, deadline_at, submitted_at, payload) values ('other', 'x', 'leased',"
            + " 'A', 1, 1, 1, 3, 1, 1, 1, '')");
  }

  private void mendClaims() {
    plant("drop index no_leases");
  }

  @Test
  void aListenerThatFailsBreaksNoCallAndNoOtherListener() {
    JobQueue heard =
        queue("default")
            .listener(
                event -> {
                  throw new StackOverflowError("listener");
                })
            .listener(events::add)
            .build();
    assertThat(heard.submit(job("j1")).created()).isTrue();
    Lease lease = heard.claim("A", LEASE).orElseThrow();
    assertThat(heard.finish(lease, Outcome.permanent("x"))).isTrue();
    assertThat(heard.redrive(find("j1"), ORDER)).isTrue();
    assertThat(events).hasSize(4);
  }

  @Test
  void aListenerMayUseTheQueue() {
    JobQueue chained =
        queue("default")
            .listener(
                event -> {
                  if (event instanceof JobEvent.Done done) {
                    submit("after-" + done.id());
                  }
                })
            .build();
    assertThat(chained.finish(leased("j1"), Outcome.ok())).isTrue();
    assertThat(find("after-j1").state()).isEqualTo(JobState.PENDING);
  }
}
