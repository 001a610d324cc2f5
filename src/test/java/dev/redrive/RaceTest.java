package dev.redrive;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Threads that start at a barrier, on one database. */
class RaceTest extends QueueTest {
  private static final int THREADS = 8;

  protected static Stream<Backend> backends() {
    return Stream.of(Backend.values());
  }

  /** Runs the tasks at the same moment and answers what they answered. */
  private static <T> List<T> together(List<Callable<T>> tasks) throws Exception {
    CyclicBarrier start = new CyclicBarrier(tasks.size());
    ExecutorService threads = Executors.newFixedThreadPool(tasks.size());
    try {
      List<Future<T>> futures = new ArrayList<>();
      for (Callable<T> task : tasks) {
        futures.add(
            threads.submit(
                () -> {
                  start.await();
                  return task.call();
                }));
      }
      List<T> answers = new ArrayList<>();
      for (Future<T> future : futures) {
        answers.add(future.get());
      }
      return answers;
    } finally {
      threads.shutdownNow();
    }
  }

  private static <T> List<Callable<T>> times(int n, Callable<T> task) {
    return IntStream.range(0, n).mapToObj(i -> task).toList();
  }

  private void submitMany(int n) {
    assertThat(queue.submitAll(IntStream.range(0, n).mapToObj(i -> job("j" + i)).toList()))
        .allMatch(Submission::created);
  }

  @Test
  void eachJobIsClaimedOnce() throws Exception {
    submitMany(400);
    List<List<Lease>> answers =
        together(
            times(
                THREADS,
                () -> {
                  List<Lease> mine = new ArrayList<>();
                  for (List<Lease> got = queue.claim("A", LEASE, 3);
                      !got.isEmpty();
                      got = queue.claim("A", LEASE, 3)) {
                    mine.addAll(got);
                  }
                  return mine;
                }));
    List<Lease> all = answers.stream().flatMap(List::stream).toList();
    assertThat(all).hasSize(400);
    assertThat(all).extracting(Lease::id).doesNotHaveDuplicates();
    assertThat(all).allMatch(lease -> lease.token() == 1 && lease.attempt() == 1);
  }

  /** Case 5.1: claims and finishes beside redrives, no exception, each job claimed once. */
  @Test
  void case_5_1_claimsFinishesAndRedrivesTogether() throws Exception {
    int perThread = 200;
    List<Job> dead = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      dead.add(dead("dead-" + i));
    }
    submitMany(THREADS * perThread);
    List<Callable<Integer>> tasks = new ArrayList<>();
    for (int t = 0; t < THREADS; t++) {
      String owner = "w" + t;
      tasks.add(
          () -> {
            int finished = 0;
            for (Optional<Lease> lease = queue.claim(owner, LEASE);
                lease.isPresent();
                lease = queue.claim(owner, LEASE)) {
              assertThat(queue.finish(lease.get(), Outcome.ok())).isTrue();
              finished++;
            }
            return finished;
          });
    }
    tasks.add(
        () -> {
          for (Job job : dead) {
            assertThat(queue.redrive(job, ORDER)).isTrue();
          }
          return 0;
        });
    int finished = together(tasks).stream().mapToInt(Integer::intValue).sum();
    for (Optional<Lease> late = claim("late"); late.isPresent(); late = claim("late")) {
      assertThat(queue.finish(late.get(), Outcome.ok())).isTrue();
      finished++;
    }
    assertThat(finished).isEqualTo(THREADS * perThread + 50);
    assertThat(rows("select 1 as x from jobs where state <> 'done'")).isEmpty();
    assertThat(auditRows()).isEqualTo(50);
  }

  /** Case 4.1: 200 rounds. */
  @Test
  void case_4_1_twoRedrivesOfOneDeathAreOneRedrive() throws Exception {
    Job dead = dead("j1");
    for (int round = 1; round <= 200; round++) {
      Job death = dead;
      assertThat(together(times(2, () -> queue.redrive(death, ORDER))))
          .containsExactlyInAnyOrder(true, false);
      assertThat(audit("j1")).hasSize(round);
      assertThat(row("j1"))
          .containsEntry("state", "pending")
          .containsEntry("attempts", 0L)
          .containsEntry("token", (long) round);
      Lease lease = claim("A").orElseThrow();
      assertThat(lease.token()).isEqualTo(round + 1L);
      assertThat(lease.attempt()).isEqualTo(1);
      assertThat(queue.finish(lease, Outcome.permanent("http-422"))).isTrue();
      dead = find("j1");
    }
  }

  /** Case 10.2: a finish and a reclaim of the same lease; the number of rounds is the case's. */
  @Test
  void case_10_2_aFinishAndAReclaimHaveOneWinner() throws Exception {
    int finishedFirst = 0;
    for (int round = 0; round < 1_000; round++) {
      clock.at(T0);
      String id = "j" + round;
      Lease lease = leased(id);
      clock.at(T0 + 30_000);
      List<Boolean> won =
          together(
              List.of(
                  () -> queue.finish(lease, Outcome.ok()),
                  () -> queue.claim("B", LEASE).isPresent()));
      assertThat(won).containsExactlyInAnyOrder(true, false);
      finishedFirst += won.get(0) ? 1 : 0;
      assertThat(find(id).state()).isEqualTo(won.get(0) ? JobState.DONE : JobState.LEASED);
      if (!won.get(0)) {
        assertThat(find(id).token()).isEqualTo(2);
        plant(
            "update jobs set lease_until = "
                + (T0 + 90_000_000)
                + ", deadline_at = "
                + (T0 + 90_000_000)
                + " where id = '"
                + id
                + "'");
      }
    }
    assertThat(rows("select 1 as x from jobs where state = 'done'")).hasSize(finishedFirst);
    assertThat(jobRows()).isEqualTo(1_000);
  }

  @Test
  void oneIdSubmittedByManyIsCreatedOnce() throws Exception {
    for (int round = 0; round < 20; round++) {
      String id = "j" + round;
      assertThat(together(times(THREADS, () -> queue.submit(job(id)).created())))
          .containsOnlyOnce(true);
    }
  }
}
