package dev.redrive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jooq.SQLDialect;
import org.jooq.TransactionContext;
import org.jooq.TransactionListener;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.DSL;
import org.jooq.impl.DefaultConfiguration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteConnection;
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
    assertThat(queue.submit(NewJob.of("first", "{}")).created()).isTrue();
    assertThat(leased("j1").id()).isEqualTo("first");
    try (Connection second = raw();
        Statement statement = second.createStatement()) {
      try (ResultSet rows = statement.executeQuery("select state from jobs where id = 'first'")) {
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
      child.say("claim-and-halt-" + journal);
      child.expect("claimed j1");
      assertThat(child.exitCode()).isEqualTo(73);
      assertThat(state("j1")).isEqualTo(JobState.LEASED);
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
      SQLiteConnection failed;
      try (Connection only = second.dataSource().getConnection()) {
        failed = only.unwrap(SQLiteConnection.class);
      }
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
      // the connection whose commit failed is never handed out again
      try (Connection next = second.dataSource().getConnection()) {
        assertThat(next.unwrap(SQLiteConnection.class)).isNotSameAs(failed);
      }
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
      ExecutorService thread = Executors.newSingleThreadExecutor();
      database
          .dsl()
          .transaction(
              open ->
                  assertThat(thread.submit(() -> waiting.finish(lease, Outcome.ok())))
                      .failsWithin(Duration.ofMinutes(1))
                      .withThrowableOfType(ExecutionException.class)
                      .withCauseInstanceOf(DataAccessException.class)
                      .withMessageContaining("busy timeout"));
      thread.shutdownNow();
      assertThat(waiting.finish(lease, Outcome.ok())).isTrue();
    }
  }

  /** The mistake is told at once, and what to do instead. */
  @Test
  void aTransactionThatWouldWaitForItselfIsRefused() {
    Lease lease = leased("j1");
    database
        .dsl()
        .transaction(
            open ->
                assertThatExceptionOfType(DataAccessException.class)
                    .isThrownBy(() -> queue.finish(lease, Outcome.ok()))
                    .withMessageContaining("this thread has a transaction open")
                    .withMessageContaining("JobQueue.within(tx.dsl())"));
    assertThat(queue.finish(lease, Outcome.ok())).isTrue();
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
      DataSource mixed = handingOut(() -> handedOut[0]++ < 2 ? unclosed(good) : bad);
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
                  .<Callable<Void>>mapToObj(
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

  /** A journal is changed under the feet of those who have the file open. */
  @Test
  void aFileWithAnotherJournalIsRefused() throws SQLException {
    Journal other = journal == Journal.WAL ? Journal.DELETE : Journal.WAL;
    assertThatIllegalStateException()
        .isThrownBy(() -> Engine.sqlite(file).journal(other).open().close())
        .withMessageContaining("has journal mode")
        .withMessageContaining("journal(Journal." + journal + ")");
    try (Connection connection = raw();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("pragma journal_mode")) {
      assertThat(rows.getString(1)).isEqualToIgnoringCase(journal.name());
    }
  }

  /** SQLite undoes the whole transaction of the host: what comes next must not be stored alone. */
  @Test
  void afterAFullDiskTheHostsTransactionStoresNothingMore() throws SQLException {
    try (Connection connection = small()) {
      connection.setAutoCommit(false);
      JobQueue inHost = JobQueue.on(DSL.using(connection, SQLDialect.SQLITE));
      assertThat(inHost.submit(NewJob.of("first", "{}")).created()).isTrue();
      assertThatExceptionOfType(DataAccessException.class)
          .isThrownBy(() -> inHost.submit(NewJob.of("big", "x".repeat(900_000))))
          .withMessageContaining("undone the whole transaction")
          .withStackTraceContaining("SQLITE_FULL");
      assertThatExceptionOfType(DataAccessException.class)
          .isThrownBy(() -> inHost.submit(NewJob.of("second", "{}")));
    }
    assertThat(queue.claim("A", LEASE, 10)).isEmpty();
    assertThat(queue.submit(NewJob.of("first", "{}")).created()).isTrue();
  }

  /** The driver still believes in the transaction that the host's own statement has lost. */
  @Test
  void afterTheHostsOwnFullDiskNothingIsStoredEither() throws SQLException {
    try (Connection connection = small()) {
      connection.setAutoCommit(false);
      JobQueue inHost = JobQueue.on(DSL.using(connection, SQLDialect.SQLITE));
      try (Statement statement = connection.createStatement()) {
        statement.execute("create table host as select 1 as x");
        assertThatExceptionOfType(SQLException.class)
            .isThrownBy(() -> statement.execute("insert into host values (zeroblob(900000))"));
      }
      assertThatExceptionOfType(DataAccessException.class)
          .isThrownBy(() -> inHost.submit(NewJob.of("after", "{}")))
          .withMessageContaining("undone the whole transaction");
    }
    assertThat(queue.find("after")).isEmpty();
    assertThat(queue.submit(NewJob.of("next", "{}")).created()).isTrue();
  }

  /** The same through our own provider, with a host that swallows the error. */
  @Test
  void afterAFullDiskOurProvidersTransactionStoresNothingMore() {
    try (SqliteDatabase one = Engine.sqlite(file).journal(journal).connections(1).open()) {
      one.dsl().execute("pragma max_page_count = 60");
      JobQueue full = JobQueue.on(one.dsl());
      assertThatExceptionOfType(DataAccessException.class)
          .isThrownBy(
              () ->
                  one.dsl()
                      .transaction(
                          tx -> {
                            JobQueue inHost = full.within(tx.dsl());
                            assertThat(inHost.submit(NewJob.of("first", "{}")).created()).isTrue();
                            assertThatExceptionOfType(DataAccessException.class)
                                .isThrownBy(
                                    () -> inHost.submit(NewJob.of("big", "x".repeat(900_000))));
                            assertThatExceptionOfType(DataAccessException.class)
                                .isThrownBy(() -> inHost.submit(NewJob.of("second", "{}")));
                          }));
      assertThat(full.find("second")).isEmpty();
      assertThat(full.submit(NewJob.of("third", "{}")).created()).isTrue();
    }
    assertThat(queue.claim("A", LEASE, 10)).extracting(Lease::id).containsExactly("third");
  }

  /** Like Spring's SingleConnectionDataSource. */
  @Test
  void threadsThatShareOneConnectionLoseNothing() throws Exception {
    ExecutorService thread = Executors.newSingleThreadExecutor();
    try (Connection connection = good()) {
      JobQueue shared = JobQueue.on(DSL.using(single(connection), SQLDialect.SQLITE));
      AtomicBoolean enough = new AtomicBoolean();
      Future<?> looking =
          thread.submit(
              () -> {
                while (!enough.get()) {
                  assertThat(shared.find("none")).isEmpty();
                }
              });
      for (int i = 0; i < 100; i++) {
        assertThat(shared.submit(NewJob.of("j" + i, "{}")).created()).isTrue();
      }
      enough.set(true);
      looking.get();
    } finally {
      thread.shutdownNow();
    }
    assertThat(queue.claim("A", LEASE, 1_000)).hasSize(100);
  }

  private Connection good() throws SQLException {
    SQLiteConfig config = new SQLiteConfig();
    config.enforceForeignKeys(true);
    config.setBusyTimeout(20_000);
    SQLiteDataSource source = new SQLiteDataSource(config);
    source.setUrl("jdbc:sqlite:" + file);
    return source.getConnection();
  }

  /** A data source that always hands out the same connection, which nobody closes. */
  private static DataSource single(Connection connection) {
    Connection unclosed = unclosed(connection);
    return handingOut(() -> unclosed);
  }

  private static Connection unclosed(Connection connection) {
    return (Connection)
        Proxy.newProxyInstance(
            SqliteTransactionTest.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (proxy, method, arguments) -> {
              try {
                return method.getName().equals("close")
                    ? null
                    : method.invoke(connection, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  private static DataSource handingOut(Supplier<Connection> next) {
    return (DataSource)
        Proxy.newProxyInstance(
            SqliteTransactionTest.class.getClassLoader(),
            new Class<?>[] {DataSource.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "getConnection" -> next.get();
                  case "equals" -> proxy == arguments[0];
                  case "hashCode" -> System.identityHashCode(proxy);
                  default -> throw new UnsupportedOperationException(method.getName());
                });
  }

  /** Those who wait for their turn leave the pool to the others. */
  @Test
  void aSmallPoolIsNotDrainedByThoseWhoWait() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(8);
    try (SqliteDatabase small =
        Engine.sqlite(file)
            .journal(journal)
            .connections(2)
            .busyTimeout(Duration.ofSeconds(20))
            .open()) {
      JobQueue busy = JobQueue.on(small.dsl());
      assertThat(busy.submit(NewJob.of("warm", "{}")).created()).isTrue();
      List<Callable<Boolean>> tasks = new ArrayList<>();
      for (int i = 0; i < 24; i++) {
        String id = "j" + i;
        tasks.add(
            () ->
                small
                    .dsl()
                    .transactionResult(
                        tx -> {
                          // on a second connection of the pool, while the first holds the turn
                          assertThat(busy.find("none")).isEmpty();
                          return busy.within(tx.dsl()).submit(NewJob.of(id, "{}")).created();
                        }));
      }
      for (Future<Boolean> created : threads.invokeAll(tasks)) {
        assertThat(created.get()).isTrue();
      }
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void theHostsTransactionModeIsLeftAsItWas() throws SQLException {
    try (Connection connection = good()) {
      connection
          .unwrap(SQLiteConnection.class)
          .getConnectionConfig()
          .setTransactionMode(SQLiteConfig.TransactionMode.IMMEDIATE);
      JobQueue plain = JobQueue.on(DSL.using(connection, SQLDialect.SQLITE));
      assertThat(plain.submit(NewJob.of("j1", "{}")).created()).isTrue();
      assertThat(
              connection.unwrap(SQLiteConnection.class).getConnectionConfig().getTransactionMode())
          .isEqualTo(SQLiteConfig.TransactionMode.IMMEDIATE);
      try (Statement statement = connection.createStatement();
          ResultSet rows = statement.executeQuery("pragma busy_timeout")) {
        assertThat(rows.getInt(1)).isEqualTo(20_000);
      }
    }
  }

  /** jOOQ calls no rollback when a listener throws at its start. */
  @Test
  void aListenerThatFailsAtARollbackLocksNobodyOut() {
    DefaultConfiguration failing = new DefaultConfiguration();
    failing.set(database.dsl().configuration().connectionProvider()).set(SQLDialect.SQLITE);
    failing.set(
        TransactionListener.onCommitStart(SqliteTransactionTest::fail),
        TransactionListener.onRollbackStart(SqliteTransactionTest::fail));
    JobQueue broken = JobQueue.on(DSL.using(failing));
    assertThatIllegalStateException()
        .isThrownBy(() -> broken.submit(NewJob.of("j1", "{}")))
        .withMessage("listener");
    assertThat(queue.find("j1")).isEmpty();
    assertThat(queue.submit(NewJob.of("j1", "{}")).created()).isTrue();
  }

  private static void fail(TransactionContext context) {
    throw new IllegalStateException("listener");
  }

  @Test
  void aPathThatTheDriverWouldChangeIsRefusedByName() throws IOException {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Engine.sqlite(folder.resolve("space.db ")))
        .withMessageStartingWith("file must not end with a space");
    Path archive = folder.resolve("archive.zip");
    try (FileSystem zip = FileSystems.newFileSystem(archive, Map.of("create", "true"))) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> Engine.sqlite(zip.getPath("queue.db")))
          .withMessageStartingWith("file must lie in the machine's own file system");
    }
  }

  /** The shape of a table is not enough: without its key one id could be stored twice. */
  @Test
  void tablesThatOnlyLookLikeOursAreRefused() throws SQLException {
    try (Connection connection = raw();
        Statement statement = connection.createStatement()) {
      for (String table : List.of("redrives", "jobs")) {
        statement.execute("create table copy as select * from " + table);
        statement.execute("drop table " + table);
        statement.execute("alter table copy rename to " + table);
      }
      statement.execute("drop table " + Installation.HISTORY);
    }
    assertThatIllegalStateException()
        .isThrownBy(() -> JobQueue.on(database.dsl()))
        .withMessageContaining("that redrive did not create");
  }

  @Test
  void tablesThatTheHistoryKnowsButThatAreGoneAreMissed() throws SQLException {
    try (Connection connection = raw();
        Statement statement = connection.createStatement()) {
      statement.execute("drop table redrives");
    }
    assertThatIllegalStateException()
        .isThrownBy(() -> JobQueue.builder(database.dsl()).verifyOnly().build())
        .withMessageContaining("missing: table redrives");
    assertThatIllegalStateException()
        .isThrownBy(() -> JobQueue.on(database.dsl()))
        .withMessageContaining("incomplete though");
  }
}
