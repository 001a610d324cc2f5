package dev.redrive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.sql.DataSource;
import org.jooq.SQLDialect;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteDataSource;

/** SQLite files under other processes' locks, in both journal modes. */
@ParameterizedClass(name = "{0}")
@EnumSource(Journal.class)
class SqliteTransactionTest {
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final Redrive ORDER =
      Redrive.note("OPS-1").approvedBy("kim").deadline(Duration.ofHours(1));

  @Parameter Journal journal;
  @TempDir Path folder;

  private Path file;
  private SqliteDatabase database;
  private JobQueue queue;

  @BeforeEach
  void open() {
    file = folder.resolve("queue.db");
    database = Engine.sqlite(file).journal(journal).busyTimeout(Duration.ofSeconds(20)).open();
    queue = JobQueue.on(database.dsl());
  }

  @AfterEach
  void close() throws SQLException {
    try (Connection connection = raw();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("pragma integrity_check")) {
      assertThat(rows.getString(1)).isEqualTo("ok");
    }
    database.close();
  }

  /** A queue on the same file that gives up soon. */
  private SqliteDatabase impatient() {
    return Engine.sqlite(file).journal(journal).busyTimeout(Duration.ofMillis(50)).open();
  }

  private Connection raw() throws SQLException {
    Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
    try (Statement statement = connection.createStatement()) {
      statement.execute("pragma busy_timeout = 100");
    }
    return connection;
  }

  private Lease leased(String id) {
    assertThat(queue.submit(NewJob.of(id, "{}")).created()).isTrue();
    return queue.claim("A", LEASE).orElseThrow();
  }

  private JobState state(String id) {
    return queue.find(id).orElseThrow().state();
  }

  /** Case 5.5. */
  @Test
  void case_5_5_aClaimIsVisibleAndLocksNothingOnceAnswered() throws SQLException {
    assertThat(queue.submit(NewJob.of("other", "{}")).created()).isTrue();
    assertThat(leased("j1").id()).isEqualTo("other");
    try (Connection second = raw();
        Statement statement = second.createStatement()) {
      try (ResultSet rows = statement.executeQuery("select state from jobs where id = 'other'")) {
        assertThat(rows.getString(1)).isEqualTo("leased");
      }
      assertThat(statement.executeUpdate("update jobs set fault = 'x' where id = 'j1'"))
          .isEqualTo(1);
    }
  }

  /** Case 5.5: the process dies right after the answer. */
  @Test
  void case_5_5_aClaimSurvivesItsProcess() throws Exception {
    assertThat(queue.submit(NewJob.of("j1", "{}")).created()).isTrue();
    try (ChildJvm child = ChildJvm.start(SqliteChild.class, file.toString())) {
      if (journal == Journal.DELETE) {
        child.say("claim-and-halt");
        child.expect("claimed j1");
        assertThat(child.exitCode()).isEqualTo(73);
        assertThat(state("j1")).isEqualTo(JobState.LEASED);
      }
    }
  }

  /** Case 10.6. */
  @Test
  void case_10_6_aFinishWaitsForAnotherProcess() throws Exception {
    Lease lease = leased("j1");
    ExecutorService thread = Executors.newSingleThreadExecutor();
    try (ChildJvm child = ChildJvm.start(SqliteChild.class, file.toString())) {
      child.say("begin");
      child.expect("begin");
      CountDownLatch started = new CountDownLatch(1);
      Future<Boolean> finished =
          thread.submit(
              () -> {
                started.countDown();
                return queue.finish(lease, Outcome.ok());
              });
      started.await();
      child.say("write");
      child.expect("write");
      child.say("commit");
      child.expect("commit");
      assertThat(finished.get()).isTrue();
      assertThat(state("j1")).isEqualTo(JobState.DONE);
    } finally {
      thread.shutdownNow();
    }
  }

  /** Case 10.6: beyond the busy timeout. */
  @Test
  void case_10_6_aFinishThatWaitedInVainThrowsAndWorksLater() throws Exception {
    Lease lease = leased("j1");
    try (SqliteDatabase second = impatient();
        ChildJvm child = ChildJvm.start(SqliteChild.class, file.toString())) {
      JobQueue waiting = JobQueue.on(second.dsl());
      child.say("begin");
      child.expect("begin");
      assertThatExceptionOfType(DataAccessException.class)
          .isThrownBy(() -> waiting.finish(lease, Outcome.ok()))
          .withMessageContaining("SQLITE_BUSY");
      child.say("commit");
      child.expect("commit");
      assertThat(state("j1")).isEqualTo(JobState.LEASED);
      assertThat(waiting.finish(lease, Outcome.ok())).isTrue();
    }
  }

  /** A reader that stays longer than the busy timeout makes a COMMIT fail, with this journal. */
  @Test
  void aCommitThatFailsStoresNothingAndLocksNobodyOut() throws Exception {
    Lease lease = leased("j1");
    try (SqliteDatabase second = impatient();
        ChildJvm child = ChildJvm.start(SqliteChild.class, file.toString())) {
      JobQueue waiting = JobQueue.on(second.dsl());
      child.say("read");
      child.expect("read");
      if (journal == Journal.WAL) {
        assertThat(waiting.finish(lease, Outcome.ok())).isTrue();
        child.say("commit");
        child.expect("commit");
        return;
      }
      assertThatExceptionOfType(DataAccessException.class)
          .isThrownBy(() -> waiting.finish(lease, Outcome.ok()))
          .withMessageContaining("SQLITE_BUSY");
      child.say("commit");
      child.expect("commit");
      assertThat(state("j1")).isEqualTo(JobState.LEASED);
      // neither another process nor the pool that failed is locked out
      child.say("writes");
      child.expect("writes");
      assertThat(waiting.finish(lease, Outcome.ok())).isTrue();
    }
  }

  /** A commit that stored its work does not throw for the BEGIN that the driver hides in it. */
  @Test
  void aStoredCommitNeverThrowsWhileAnotherProcessWrites() throws Exception {
    Lease held = leased("outside");
    try (ChildJvm child = ChildJvm.start(SqliteChild.class, file.toString())) {
      child.say("begin");
      child.expect("begin");
      child.say("commit");
      child.expect("commit");
      child.say("writes");
      for (int i = 0; i < 100; i++) {
        Lease lease = leased("j" + i);
        assertThat(queue.finish(lease, Outcome.ok())).isTrue();
      }
      child.expect("writes");
    }
    assertThat(queue.finish(held, Outcome.ok())).isTrue();
  }

  @Test
  void aThreadWaitsNoLongerThanTheBusyTimeoutForItsTurn() throws Exception {
    Lease lease = leased("j1");
    try (SqliteDatabase second = impatient()) {
      JobQueue waiting = JobQueue.on(second.dsl());
      database
          .dsl()
          .transaction(
              open ->
                  assertThatExceptionOfType(DataAccessException.class)
                      .isThrownBy(() -> waiting.finish(lease, Outcome.ok()))
                      .withMessageContaining("busy timeout"));
      assertThat(waiting.finish(lease, Outcome.ok())).isTrue();
    }
  }

  @Test
  void anInterruptedWorkerCanStillFinish() {
    Lease lease = leased("j1");
    Thread.currentThread().interrupt();
    assertThat(queue.finish(lease, Outcome.ok())).isTrue();
    assertThat(Thread.interrupted()).isTrue();
  }

  @Test
  void aFullDiskIsAnErrorAndNothingIsLost() throws SQLException {
    Lease lease = leased("j1");
    try (Connection connection = small()) {
      JobQueue full = JobQueue.on(DSL.using(connection, SQLDialect.SQLITE));
      assertThatExceptionOfType(DataAccessException.class)
          .isThrownBy(() -> full.submit(NewJob.of("big", "x".repeat(900_000))))
          .withMessageContaining("SQLITE_FULL");
      assertThat(full.find("big")).isEmpty();
      assertThat(full.finish(lease, Outcome.ok())).isTrue();
    }
    assertThat(queue.submit(NewJob.of("big", "x".repeat(900_000))).created()).isTrue();
  }

  /** A connection to which the file is as large as it may get. */
  private Connection small() throws SQLException {
    SQLiteConfig config = new SQLiteConfig();
    config.enforceForeignKeys(true);
    config.setBusyTimeout(1_000);
    config.setSynchronous(SQLiteConfig.SynchronousMode.FULL);
    SQLiteDataSource source = new SQLiteDataSource(config);
    source.setUrl("jdbc:sqlite:" + file);
    Connection connection = source.getConnection();
    try (Statement statement = connection.createStatement()) {
      statement.execute("pragma max_page_count = 60");
    }
    return connection;
  }

  /** Case 5.4, second part: each connection of a host's pool is looked at. */
  @Test
  void case_5_4_aLaterConnectionWithoutForeignKeysIsRefused() throws SQLException {
    try (Connection good = small();
        Connection bad = raw()) {
      int[] handedOut = {0};
      DataSource mixed =
          (DataSource)
              java.lang.reflect.Proxy.newProxyInstance(
                  getClass().getClassLoader(),
                  new Class<?>[] {DataSource.class},
                  (proxy, method, arguments) -> handedOut[0]++ == 0 ? good : bad);
      JobQueue mixedQueue = JobQueue.on(DSL.using(mixed, SQLDialect.SQLITE));
      assertThatExceptionOfType(IllegalStateException.class)
          .isThrownBy(() -> mixedQueue.submit(NewJob.of("j1", "{}")))
          .withMessageContaining("foreign keys");
    }
    assertThat(queue.find("j1")).isEmpty();
  }

  /** The host's own transactions through our provider, with ours inside. */
  @Test
  void hostsTransactionsQueueWithOurs() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      for (Future<?> done :
          threads.invokeAll(
              java.util.stream.IntStream.range(0, 4)
                  .<java.util.concurrent.Callable<Void>>mapToObj(
                      t ->
                          () -> {
                            for (int i = 0; i < 25; i++) {
                              String id = t + "-" + i;
                              database
                                  .dsl()
                                  .transaction(
                                      inner -> {
                                        JobQueue inHost = JobQueue.on(inner.dsl());
                                        assertThat(inHost.find(id)).isEmpty(); // read, then write
                                        assertThat(inHost.submit(NewJob.of(id, "{}")).created())
                                            .isTrue();
                                      });
                            }
                            return null;
                          })
                  .toList())) {
        done.get();
      }
    } finally {
      threads.shutdownNow();
    }
    assertThat(queue.claim("A", LEASE, 1_000)).hasSize(100);
  }

  @Test
  void aRedriveIsWholeUnderAnotherProcessesWrites() throws Exception {
    try (ChildJvm child = ChildJvm.start(SqliteChild.class, file.toString())) {
      for (int i = 0; i < 20; i++) {
        assertThat(queue.finish(leased("j" + i), Outcome.permanent("http-422"))).isTrue();
      }
      child.say("writes");
      for (int i = 0; i < 20; i++) {
        assertThat(queue.redrive(queue.find("j" + i).orElseThrow(), ORDER)).isTrue();
      }
      child.expect("writes");
    }
    assertThat(queue.claim("A", LEASE, 1_000)).hasSize(20);
  }

  @ParameterizedTest
  @EnumSource(Journal.class)
  void aFileThatIsNoDatabaseIsAnError(Journal wanted) throws IOException {
    Path text = Files.writeString(folder.resolve("text.db"), "no database\n".repeat(1_000));
    assertThatExceptionOfType(RuntimeException.class)
        .isThrownBy(() -> Engine.sqlite(text).journal(wanted).open())
        .withStackTraceContaining("SQLITE_NOTADB");
    assertThat(text).content().startsWith("no database");
  }

  @Test
  void aPathThatCannotBeAFileIsRefusedByName() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Engine.sqlite(folder))
        .withMessageContaining("file must not be a folder");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Engine.sqlite(folder.resolve("no/such/folder.db")))
        .withMessageContaining("file must lie in a folder that exists");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Engine.sqlite(folder.resolve("what?.db")))
        .withMessageContaining("question mark");
  }

  /** Two processes that chose different journals would switch it under each other's feet. */
  @Test
  void anotherJournalThanTheOthersIsRefusedWhileTheyHaveItOpen() throws Exception {
    Lease lease = leased("j1");
    Journal other = journal == Journal.WAL ? Journal.DELETE : Journal.WAL;
    try (ChildJvm child = ChildJvm.start(SqliteChild.class, file.toString())) {
      child.say("read");
      child.expect("read");
      assertThatExceptionOfType(RuntimeException.class)
          .isThrownBy(
              () ->
                  Engine.sqlite(file)
                      .journal(other)
                      .busyTimeout(Duration.ofMillis(50))
                      .open()
                      .close());
    }
    assertThat(queue.finish(lease, Outcome.ok())).isTrue();
  }
}
