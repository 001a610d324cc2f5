package dev.redrive.quarantine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.redrive.JobEvent;
import dev.redrive.JobState;
import dev.redrive.Lease;
import dev.redrive.Outcome;
import dev.redrive.QueueTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class PurgeTest extends QueueTest {
  private static final Duration WEEK = Duration.ofDays(7);
  private static final long LATER = T0 + 8L * 86_400_000;

  /** Done jobs of long ago. */
  private void done(int n) {
    plant(
        "insert into jobs (queue, id, state, token, attempts, max_attempts, available_at,"
            + " deadline_at, submitted_at, finished_at, payload)"
            + " with recursive n(i) as (select 1 union all select i + 1 from n where i < "
            + n
            + ") select 'default', 'done-' || i, 'done', 1, 1, 3, 1, 1, 1, "
            + T0
            + " + i, '' from n");
  }

  private Purge purge() {
    return Quarantine.of(queue).purgeDone(WEEK);
  }

  @Test
  void itForgetsInBatchesUntilNoMoreAreOldEnough() {
    done(25);
    clock.at(LATER);
    List<Long> progress = new ArrayList<>();
    assertThat(purge().batch(10).onProgress(progress::add).run())
        .isEqualTo(new Purge.Purged(25, true));
    assertThat(progress).containsExactly(10L, 20L, 25L);
    assertThat(jobRows()).isZero();
    assertThat(purge().run()).isEqualTo(new Purge.Purged(0, true));
  }

  /** Case 9.3: what stays. */
  @Test
  void case_9_3_deadLeasedPendingAndRedrivenJobsStay() {
    assertThat(queue.redrive(dead("redriven"), ORDER)).isTrue();
    assertThat(queue.finish(claim("A").orElseThrow(), Outcome.ok())).isTrue();
    assertThat(dead("dead").id()).isEqualTo("dead");
    assertThat(leased("leased").id()).isEqualTo("leased");
    submit("pending");
    done(5);
    clock.at(LATER);
    assertThat(queue.submit(job("young")).created()).isTrue();
    plant(
        "update jobs set state = 'done', finished_at = "
            + (LATER - WEEK.toMillis())
            + " where id = 'young'");
    assertThat(purge().run().jobs()).isEqualTo(5);
    assertThat(rows("select id from jobs order by id"))
        .extracting(row -> row.get("id"))
        .containsExactly("dead", "leased", "pending", "redriven", "young");
    assertThat(auditRows()).isEqualTo(1);
  }

  /** Case 9.3: a purge that was stopped goes on with the next call. */
  @Test
  void case_9_3_aStoppedPurgeResumes() {
    done(30);
    clock.at(LATER);
    int[] batches = new int[1];
    assertThat(
            purge().batch(10).onProgress(n -> batches[0]++).stopWhen(() -> batches[0] == 2).run())
        .isEqualTo(new Purge.Purged(20, false));
    assertThatExceptionOfType(UnsupportedOperationException.class)
        .isThrownBy(
            () ->
                purge()
                    .batch(4)
                    .onProgress(
                        n -> {
                          throw new UnsupportedOperationException("stop");
                        })
                    .run());
    assertThat(jobRows()).isEqualTo(6);
    assertThat(purge().run()).isEqualTo(new Purge.Purged(6, true));
  }

  @Test
  void anInterruptStopsItBetweenBatches() {
    done(30);
    clock.at(LATER);
    Purge.Purged purged;
    try {
      purged = purge().batch(10).onProgress(n -> Thread.currentThread().interrupt()).run();
    } finally {
      assertThat(Thread.interrupted()).isTrue();
    }
    assertThat(purged).isEqualTo(new Purge.Purged(10, false));
  }

  /** Case 9.3: claims go on meanwhile, and none sees trouble. */
  @Test
  void case_9_3_claimsGoOnMeanwhile() throws Exception {
    done(5_000);
    clock.at(LATER);
    for (int i = 0; i < 100; i++) {
      submit("j" + i);
    }
    List<JobEvent> purged = new ArrayList<>();
    Quarantine heard = Quarantine.of(queue.listening(purged::add));
    ExecutorService thread = Executors.newSingleThreadExecutor();
    try {
      Future<Purge.Purged> purge = thread.submit(() -> heard.purgeDone(WEEK).batch(250).run());
      int finished = 0;
      for (Lease lease : claims()) {
        assertThat(queue.finish(lease, Outcome.ok())).isTrue();
        finished++;
      }
      assertThat(finished).isEqualTo(100);
      assertThat(purge.get()).isEqualTo(new Purge.Purged(5_000, true));
    } finally {
      thread.shutdownNow();
    }
    assertThat(purged).hasSize(5_000);
    assertThat(rows("select state from jobs"))
        .hasSize(100)
        .allMatch(row -> JobState.DONE.toString().equals(row.get("state")));
  }

  private List<Lease> claims() {
    List<Lease> leases = new ArrayList<>();
    claim("A").ifPresent(leases::add);
    while (leases.size() < 100) {
      leases.add(claim("A").orElseThrow());
    }
    return leases;
  }

  @Test
  void badArgumentsAndHostTransactionsAreRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Quarantine.of(queue).purgeDone(Duration.ofHours(24).minusMillis(1)))
        .withMessageStartingWith("olderThan");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> purge().batch(0))
        .withMessageStartingWith("jobs");
    store
        .dsl()
        .transaction(
            host ->
                assertThatIllegalStateException()
                    .isThrownBy(
                        () -> Quarantine.of(queue.within(host.dsl())).purgeDone(WEEK).run()));
  }
}
