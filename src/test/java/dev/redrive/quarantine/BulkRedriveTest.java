package dev.redrive.quarantine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.redrive.Death;
import dev.redrive.Job;
import dev.redrive.JobQueue;
import dev.redrive.JobState;
import dev.redrive.Lease;
import dev.redrive.NewJob;
import dev.redrive.Outcome;
import dev.redrive.QueueTest;
import dev.redrive.Submission;
import dev.redrive.quarantine.BulkProgress.Step;
import dev.redrive.quarantine.BulkReport.End;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class BulkRedriveTest extends QueueTest {
  private final FakePacer pacer = new FakePacer();

  private BulkRedrive bulk() {
    return Quarantine.of(queue).redrive(Filter.all()).pacedBy(pacer);
  }

  /** Dead jobs j00, j01, … of one moment. */
  private void deadJobs(int n) {
    List<NewJob> jobs =
        IntStream.range(0, n).mapToObj(i -> job(String.format("j%02d", i))).toList();
    assertThat(queue.submitAll(jobs)).allMatch(Submission::created);
    for (Lease lease : queue.claim("A", LEASE, n)) {
      assertThat(queue.finish(lease, Outcome.permanent("http-422"))).isTrue();
    }
  }

  private static List<String> ids(List<Death> deaths) {
    return deaths.stream().map(Death::id).toList();
  }

  private int count(String state) {
    return rows("select id from jobs where state = '" + state + "'").size();
  }

  private void workEndsWith(Outcome outcome) {
    for (Lease lease : queue.claim("A", LEASE, 1_000)) {
      assertThat(queue.finish(lease, outcome)).isTrue();
    }
  }

  @Test
  void oldestDeathsComeFirstAndEachHasItsAudit() {
    deadJobs(3);
    plant("update jobs set finished_at = finished_at - 1 where id = 'j02'");
    clock.at(T0 + 1_000);
    BulkReport report = bulk().run(ORDER);
    assertThat(report.end()).isEqualTo(End.COMPLETE);
    assertThat(ids(report.redriven())).containsExactly("j02", "j00", "j01");
    assertThat(report.toString())
        .isEqualTo(
            "COMPLETE: matched 3, redriven 3 (seen done 0, dead again 0), skipped 0, failed 0,"
                + " remaining 0");
    assertThat(auditRows()).isEqualTo(3);
    assertThat(row("j00"))
        .containsEntry("state", "pending")
        .containsEntry("deadline_at", T0 + 601_000);
    assertThat(audit("j00").get(0))
        .containsEntry("note", "OPS-17")
        .containsEntry("approved_by", "kim");
  }

  @Test
  void theFilterOfThePreviewIsTheFilterOfTheRun() {
    deadJobs(5);
    plant("update jobs set fault = 'http-503' where id in ('j01', 'j03')");
    BulkRedrive some = Quarantine.of(queue).redrive(Filter.all().fault("http-503")).pacedBy(pacer);
    Preview preview = some.preview(10);
    assertThat(preview.matched()).isEqualTo(2);
    assertThat(some.run(ORDER).redriven())
        .isEqualTo(preview.sample().stream().map(DeadJob::death).toList());
    assertThat(count("dead")).isEqualTo(3);
  }

  @Test
  void nothingMatchedIsComplete() {
    assertThat(bulk().run(ORDER).toString())
        .isEqualTo(
            "COMPLETE: matched 0, redriven 0 (seen done 0, dead again 0), skipped 0, failed 0,"
                + " remaining 0");
  }

  @Test
  void whatIsBeyondTheLimitRemains() {
    deadJobs(5);
    BulkReport report = bulk().limit(2).run(ORDER);
    assertThat(report.end()).isEqualTo(End.COMPLETE);
    assertThat(ids(report.redriven())).containsExactly("j00", "j01");
    assertThat(report.matched()).isEqualTo(5);
    assertThat(report.remaining()).isEqualTo(3);
    assertThat(count("dead")).isEqualTo(3);
  }

  /** Case 4.5: misses cost no waiting, and no second holds more than the limit. */
  @Test
  void case_4_5_theLimitCountsRedrivesAndNothingElse() {
    deadJobs(40);
    List<Job> gone =
        IntStream.rangeClosed(1, 15).mapToObj(i -> find(String.format("j%02d", 2 * i))).toList();
    List<Long> moments = new ArrayList<>();
    BulkReport report =
        bulk()
            .perSecond(10)
            .onProgress(
                first(
                    () -> gone.forEach(job -> assertThat(queue.redrive(job, ORDER)).isTrue()),
                    progress -> {
                      if (progress.step() == Step.REDRIVEN) {
                        moments.add(pacer.nanos());
                      }
                    }))
            .run(ORDER);
    assertThat(report.redriven()).hasSize(25);
    assertThat(report.skipped()).isEqualTo(15);
    assertThat(moments).hasSize(25);
    for (int i = 1; i < moments.size(); i++) {
      assertThat(moments.get(i) - moments.get(i - 1)).isEqualTo(100_000_000);
    }
    assertThat(auditRows()).isEqualTo(40);
  }

  private static Consumer<BulkProgress> first(Runnable once, Consumer<BulkProgress> each) {
    boolean[] done = new boolean[1];
    return progress -> {
      if (!done[0]) {
        done[0] = true;
        once.run();
      }
      each.accept(progress);
    };
  }

  /** Case 4.5: during a pause another connection can write at once. */
  @Test
  void case_4_5_nothingIsOpenDuringAPause() throws SQLException {
    deadJobs(3);
    try (Connection other = store.dataSource().getConnection();
        Statement statement = other.createStatement()) {
      String patience =
          backend.name().startsWith("SQLITE")
              ? "pragma busy_timeout = 200"
              : "set lock_timeout = 200";
      statement.execute(patience);
      pacer.whileWaiting(
          () -> {
            try {
              assertThat(statement.executeUpdate("update jobs set available_at = available_at"))
                  .isEqualTo(3);
            } catch (SQLException e) {
              throw new IllegalStateException(e);
            }
          });
      assertThat(bulk().run(ORDER).redriven()).hasSize(3);
      assertThat(pacer.pauses).isNotEmpty();
      statement.execute(patience.replace("200", "5000"));
    }
  }

  @Test
  void case_4_5_aSpeedOfNothingIsRefused() {
    for (int speed : new int[] {0, -1, 1_001}) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> bulk().perSecond(speed))
          .withMessageContaining("jobs must be 1 to 1000");
    }
  }

  /** Case 4.5. */
  @Test
  void case_4_5_anInterruptStopsItBetweenJobs() {
    deadJobs(10);
    BulkReport report;
    boolean stillInterrupted;
    try {
      report =
          bulk()
              .onProgress(
                  progress -> {
                    if (progress.redriven() == 4) {
                      Thread.currentThread().interrupt();
                    }
                  })
              .run(ORDER);
    } finally {
      stillInterrupted = Thread.interrupted();
    }
    assertThat(stillInterrupted).isTrue();
    stoppedAfterFour(report, End.INTERRUPTED);
  }

  @Test
  void anInterruptWhileWaitingStopsIt() {
    deadJobs(10);
    pacer.whileWaiting(
        () -> {
          if (auditRows() == 4) {
            Thread.currentThread().interrupt();
          }
        });
    BulkReport report;
    try {
      report = bulk().run(ORDER);
    } finally {
      assertThat(Thread.interrupted()).isTrue();
    }
    stoppedAfterFour(report, End.INTERRUPTED);
  }

  @Test
  void itStopsWhenToldTo() {
    deadJobs(10);
    stoppedAfterFour(bulk().stopWhen(() -> auditRows() == 4).run(ORDER), End.CANCELLED);
  }

  private void stoppedAfterFour(BulkReport report, End end) {
    assertThat(report.end()).isEqualTo(end);
    assertThat(ids(report.redriven())).containsExactly("j00", "j01", "j02", "j03");
    assertThat(report.remaining()).isEqualTo(6);
    assertThat(auditRows()).isEqualTo(4);
    assertThat(count("dead")).isEqualTo(6);
    assertThat(bulk().run(ORDER).redriven()).hasSize(6);
    assertThat(auditRows()).isEqualTo(10);
  }

  /** Cases 4.3 and 10.10: one bad row does not keep the others back. */
  @Test
  void case_4_3_oneBadRowOfTenIsCountedAndTheOthersAreRedriven() {
    deadJobs(10);
    List<Step> steps = new ArrayList<>();
    badRow("j05");
    BulkReport report = bulk().onProgress(progress -> steps.add(progress.step())).run(ORDER);
    assertThat(report.end()).isEqualTo(End.COMPLETE);
    assertThat(report.redriven()).hasSize(9);
    assertThat(ids(report.failed())).containsExactly("j05");
    assertThat(report.lastError()).isPresent();
    assertThat(steps.get(5)).isEqualTo(Step.FAILED);
    assertThat(auditRows()).isEqualTo(9);
    assertThat(find("j05").state()).isEqualTo(JobState.DEAD);
    mendRow();
    assertThat(ids(bulk().run(ORDER).redriven())).containsExactly("j05");
    assertThat(auditRows()).isEqualTo(10);
  }

  private void badRow(String id) {
    if (backend.name().startsWith("SQLITE")) {
      plant(
          "create trigger bad_row before insert on redrives when new.job_id = '"
              + id
              + "' begin select raise(abort, 'bad row'); end");
    } else {
      plant("alter table redrives add constraint bad_row check (job_id <> '" + id + "')");
    }
  }

  private void mendRow() {
    plant(
        backend.name().startsWith("SQLITE")
            ? "drop trigger bad_row"
            : "alter table redrives drop constraint bad_row");
  }

  @Test
  void aDatabaseThatFailsTenTimesInARowEndsIt() {
    deadJobs(15);
    if (backend.name().startsWith("SQLITE")) {
      plant(
          "create trigger bad_row before insert on redrives"
              + " begin select raise(abort, 'bad row'); end");
    } else {
      plant("alter table redrives add constraint bad_row check (note <> 'OPS-17')");
    }
    BulkReport report = bulk().run(ORDER);
    assertThat(report.end()).isEqualTo(End.FAILED);
    assertThat(report.failed()).hasSize(10);
    assertThat(report.remaining()).isEqualTo(5);
    assertThat(auditRows()).isZero();
    mendRow();
    assertThat(bulk().run(ORDER).redriven()).hasSize(15);
  }

  /** Frozen membership: even with a clock that stands still or goes back. */
  @Test
  void case_9_2_jobsThatDieAgainAreNotPickedAgainWhateverTheClockDoes() {
    deadJobs(5);
    clock.at(T0 + 20_000);
    BulkReport report =
        bulk()
            .brake(1, 1)
            .onProgress(
                progress -> {
                  clock.at(T0 + 20_000);
                  workEndsWith(Outcome.permanent("http-500"));
                  clock.at(T0 - 3_600_000);
                })
            .run(ORDER);
    assertThat(report.end()).isEqualTo(End.COMPLETE);
    assertThat(report.redriven()).hasSize(5);
    assertThat(auditRows()).isEqualTo(5);
    assertThat(pacer.pauses).allMatch(pause -> pause > 0 && pause <= 1_000_000_000L);
  }

  @Test
  void theBrakeStopsItWhenMostAreDeadAgain() {
    deadJobs(60);
    BulkReport report =
        bulk()
            .perSecond(50)
            .onProgress(progress -> workEndsWith(Outcome.permanent("http-500")))
            .run(ORDER);
    assertThat(report.end()).isEqualTo(End.BRAKED);
    assertThat(report.redriven()).hasSize(20);
    assertThat(report.seenDeadAgain()).isEqualTo(20);
    assertThat(report.remaining()).isEqualTo(40);
    assertThat(auditRows()).isEqualTo(20);
  }

  @Test
  void theBrakeLeavesAloneWhatIsJustAtItsShare() {
    deadJobs(40);
    BulkReport report =
        bulk()
            .onProgress(
                progress ->
                    workEndsWith(
                        progress.redriven() % 2 == 0
                            ? Outcome.permanent("http-500")
                            : Outcome.ok()))
            .run(ORDER);
    assertThat(report.end()).isEqualTo(End.COMPLETE);
    assertThat(report.redriven()).hasSize(40);
    assertThat(report.seenDone() + report.seenDeadAgain()).isGreaterThanOrEqualTo(38);
  }

  @Test
  void theBrakeCountsADeathThatSomebodyRedroveAgain() {
    deadJobs(30);
    BulkReport report =
        bulk()
            .onProgress(
                progress -> {
                  workEndsWith(Outcome.permanent("http-500"));
                  assertThat(queue.redrive(find(progress.last().id()), ORDER)).isTrue();
                  plant(
                      "update jobs set available_at = "
                          + (T0 + 1)
                          + " where id = '"
                          + progress.last().id()
                          + "'");
                })
            .run(ORDER);
    assertThat(report.end()).isEqualTo(End.BRAKED);
    assertThat(report.seenDeadAgain()).isEqualTo(20);
  }

  @Test
  void theBrakeSeesOutcomesThatComeLateAndInAnyOrder() {
    deadJobs(99);
    BulkReport report =
        bulk()
            .brake(0.2, 5)
            .onProgress(
                progress -> {
                  if (progress.redriven() == 80) {
                    workEndsWith(Outcome.permanent("http-500"));
                  }
                })
            .run(ORDER);
    assertThat(report.end()).isEqualTo(End.BRAKED);
    assertThat(report.redriven()).hasSize(80);
    assertThat(report.seenDeadAgain()).isEqualTo(50);
  }

  @Test
  void badBrakesAreRefused() {
    for (double share : new double[] {-0.1, 1.1, Double.NaN}) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> bulk().brake(share, 1))
          .withMessageStartingWith("share must be 0 to 1");
    }
    assertThatIllegalArgumentException()
        .isThrownBy(() -> bulk().brake(0.5, 0))
        .withMessageStartingWith("fromOutcomes");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> bulk().limit(100_001))
        .withMessageStartingWith("jobs");
  }

  @Test
  void anExceptionOfTheCallbackEndsItAndAnotherRunDoesTheRest() {
    deadJobs(10);
    assertThatExceptionOfType(UnsupportedOperationException.class)
        .isThrownBy(
            () ->
                bulk()
                    .onProgress(
                        progress -> {
                          if (progress.redriven() == 3) {
                            throw new UnsupportedOperationException("stop");
                          }
                        })
                    .run(ORDER));
    assertThat(auditRows()).isEqualTo(3);
    assertThat(count("pending")).isEqualTo(3);
    assertThat(count("dead")).isEqualTo(7);
    assertThat(ids(bulk().run(ORDER).redriven())).hasSize(7).startsWith("j03");
    assertThat(auditRows()).isEqualTo(10);
  }

  @Test
  void twoAtOnceRedriveEachDeathOnce() throws Exception {
    deadJobs(80);
    CyclicBarrier start = new CyclicBarrier(2);
    Callable<BulkReport> run =
        () -> {
          FakePacer own = new FakePacer();
          BulkRedrive mine = Quarantine.of(queue).redrive(Filter.all()).pacedBy(own);
          start.await();
          return mine.run(ORDER);
        };
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try {
      Future<BulkReport> one = threads.submit(run);
      Future<BulkReport> two = threads.submit(run);
      List<String> all = new ArrayList<>(ids(one.get().redriven()));
      all.addAll(ids(two.get().redriven()));
      assertThat(all).hasSize(80).doesNotHaveDuplicates();
      for (BulkReport report : List.of(one.get(), two.get())) {
        assertThat(report.failed()).isEmpty();
        assertThat(report.redriven().size() + report.skipped()).isEqualTo(report.matched());
      }
    } finally {
      threads.shutdownNow();
    }
    assertThat(auditRows()).isEqualTo(80);
  }

  /** Case 10.10: a submit of a quarantined id says so, and drops nothing. */
  @Test
  void case_10_10_aSubmitOfAQuarantinedIdSaysThatItIsDead() {
    assertThat(dead("42").id()).isEqualTo("42");
    Submission again = queue.submit(job("42"));
    assertThat(again.result()).isEqualTo(Submission.Result.DUPLICATE);
    assertThat(again.state()).isEqualTo(JobState.DEAD);
    assertThat(bulk().run(ORDER).redriven()).hasSize(1);
  }

  @Test
  void itRefusesAHostsTransaction() {
    deadJobs(1);
    store
        .dsl()
        .transaction(
            host -> {
              JobQueue joined = queue.within(host.dsl());
              assertThatIllegalStateException()
                  .isThrownBy(() -> Quarantine.of(joined).redrive(Filter.all()).run(ORDER))
                  .withMessageStartingWith("a bulk redrive must not run inside a transaction");
              assertThat(Quarantine.of(joined).report().dead().count()).isEqualTo(1);
            });
    assertThat(auditRows()).isZero();
  }
}
