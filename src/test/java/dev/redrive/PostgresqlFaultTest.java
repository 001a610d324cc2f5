package dev.redrive;

import static dev.redrive.schema.Tables.JOBS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.params.provider.EnumSource.Mode.EXCLUDE;

import com.zaxxer.hikari.HikariDataSource;
import dev.redrive.CuttingProxy.Cut;
import dev.redrive.dispatch.Dispatcher;
import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jooq.DSLContext;
import org.jooq.ExecuteListener;
import org.jooq.Field;
import org.jooq.exception.DataAccessException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Whatever happens to a PostgreSQL server or the way to it: each kind of call tells it, loses
 * nothing, and works on the same queue and pool when it is over.
 */
class PostgresqlFaultTest {
  private static PostgresqlNode server;
  private static PGSimpleDataSource direct;
  private static HikariDataSource apart;
  private static Connection admin;
  private static Desk laid;

  private CuttingProxy proxy;
  private HikariDataSource pool;

  @BeforeAll
  static void startServer() throws IOException, SQLException {
    server =
        PostgresqlNode.start(
            Map.of("max_connections", "12", "superuser_reserved_connections", "0"));
    direct = new PGSimpleDataSource();
    direct.setUrl(server.url());
    Migrations.of(direct).migrate();
    apart = PostgresqlServer.pool(server.url(), 1);
    admin = direct.getConnection();
    laid = Desk.lay(PostgresqlStore.dsl(apart), "laid");
  }

  @AfterAll
  static void stopServer() throws IOException {
    apart.close();
    server.close();
  }

  /** One connection, so that a broken one is met again if it is kept. */
  @BeforeEach
  void openPool() throws IOException {
    proxy = new CuttingProxy("localhost", server.port());
    pool = PostgresqlServer.pool(proxy.url(server.url()), 1);
  }

  @AfterEach
  void closePool() throws IOException {
    pool.close();
    proxy.close();
  }

  private Trial trial(Call call) {
    return trial(call, PostgresqlStore.dsl(pool));
  }

  private static Trial trial(Call call, DSLContext dsl) {
    String name = PostgresqlServer.freshName("trial");
    // a queue that has just claimed buries nothing first: its first commit is the claim's
    Desk desk = call == Call.CLAIM ? Desk.lay(dsl, name) : copy(dsl, name);
    return new Trial(call, dsl, apart, desk);
  }

  /** What was laid once, under another name. */
  private static Desk copy(DSLContext dsl, String name) {
    String columns =
        JOBS.fieldStream()
            .filter(column -> !column.equals(JOBS.QUEUE) && !column.equals(JOBS.DUE_AT))
            .map(Field::getName)
            .collect(Collectors.joining(", "));
    try (Statement statement = admin.createStatement()) {
      statement.execute(
          String.format(
              "insert into jobs (queue, %1$s) select '%2$s', %1$s from jobs where queue = '%3$s'",
              columns, name, laid.queue().name()));
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
    return laid.of(dsl, name);
  }

  private static void isMended(Trial trial) {
    trial.changedNothing();
    trial.works();
  }

  @ParameterizedTest
  @EnumSource(
      names = {"FIND", "REPORT"},
      mode = EXCLUDE)
  void aCommitThatNeverArrivedChangedNothing(Call call) {
    Trial trial = trial(call);
    proxy.cutNextCommit(Cut.BEFORE_IT_ARRIVES);
    assertThat(trial.failure()).hasMessageStartingWith("The answer of a commit was lost");
    isMended(trial);
  }

  /** The commit of the bury is the first one of a claim that buries. */
  @ParameterizedTest
  @EnumSource(
      names = {"FIND", "REPORT", "BURY_AND_CLAIM"},
      mode = EXCLUDE)
  void aCommitWhoseAnswerIsLostIsStoredWhole(Call call) {
    Trial trial = trial(call);
    proxy.cutNextCommit(Cut.BEFORE_ITS_ANSWER);
    assertThat(trial.failure()).hasMessageStartingWith("The answer of a commit was lost");
    trial.isStoredWhole();
    assertThat(trial.desk().queue().find("due")).isPresent();
  }

  /** Before its first statement, before its second, and so on until it has no more. */
  @ParameterizedTest
  @EnumSource
  void aSessionEndedBeforeAnyStatementOfACallChangedNothing(Call call) {
    int statement = 1;
    while (isEndedBefore(statement, call)) {
      statement++;
    }
    assertThat(statement).isGreaterThan(1);
  }

  /** False if the call worked, because it has fewer statements. */
  private boolean isEndedBefore(int statement, Call call) {
    AtomicInteger countdown = new AtomicInteger(Integer.MAX_VALUE);
    DSLContext dsl = PostgresqlStore.dsl(pool);
    dsl.configuration()
        .set(
            ExecuteListener.onExecuteStart(
                context -> {
                  if (countdown.decrementAndGet() == 0) {
                    end(context.connection());
                  }
                }));
    Trial trial = trial(call, dsl);
    countdown.set(statement);
    @Nullable Throwable thrown = catchThrowable(() -> trial.works());
    if (countdown.get() > 0) {
      assertThat(thrown).isNull();
      return false;
    }
    assertThat(thrown).isInstanceOf(DataAccessException.class);
    assertThat(((DataAccessException) thrown).sqlState()).isIn("57P01", "08006");
    if (call != Call.BURY_AND_CLAIM) { // whose bury may have been committed
      trial.changedNothing();
    }
    trial.works();
    return true;
  }

  private static void end(Connection connection) {
    try (Statement statement = connection.createStatement();
        ResultSet found = statement.executeQuery("select pg_backend_pid()")) {
      assertThat(found.next()).isTrue();
      int session = found.getInt(1);
      assertThat(shown("select pg_terminate_backend(" + session + ")")).isEqualTo("t");
      PostgresqlTest.await(
          () -> shown("select count(*) from pg_stat_activity where pid = " + session).equals("0"));
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String shown(String query) throws SQLException {
    return shown(admin, query);
  }

  private static String shown(Connection connection, String query) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet found = statement.executeQuery(query)) {
      return found.next() ? found.getString(1) : "";
    }
  }

  private static List<Trial> trials(DSLContext dsl) {
    return Stream.of(Call.values()).map(call -> trial(call, dsl)).toList();
  }

  /** Case 8.5 c, as after a failover to a replica. */
  @Test
  void case_8_5_aServerThatTakesNoWritesIsAnErrorUntilItDoes() throws SQLException {
    List<Trial> trials = trials(PostgresqlStore.dsl(pool));
    readOnly(true);
    try {
      for (Trial trial : trials) {
        if (trial.call().reads()) {
          trial.works();
        } else {
          DataAccessException thrown = trial.failure();
          assertThat(thrown.sqlState()).isEqualTo("25006");
          assertThat(thrown).hasMessageContaining("read-only transaction");
        }
      }
    } finally {
      readOnly(false);
    }
    trials.forEach(PostgresqlFaultTest::isMended);
  }

  /** Case 8.5 c: no hot loop. */
  @Test
  void case_8_5_aWorkerOnAServerThatTakesNoWritesStopsAtOnce() throws SQLException {
    AtomicInteger statements = new AtomicInteger();
    DSLContext dsl = PostgresqlStore.dsl(pool);
    dsl.configuration().set(ExecuteListener.onExecuteStart(any -> statements.incrementAndGet()));
    Desk desk = Desk.lay(dsl, PostgresqlServer.freshName("worker"));
    Dispatcher worker = new Dispatcher(desk.queue(), "W", QueueTest.LEASE, lease -> true);
    readOnly(true);
    try {
      statements.set(0);
      assertThatExceptionOfType(DataAccessException.class)
          .isThrownBy(worker::runUntilIdle)
          .withMessageContaining("read-only transaction");
      assertThat(statements).hasValue(1);
    } finally {
      readOnly(false);
    }
    assertThatNoException().isThrownBy(worker::runUntilIdle);
    assertThat(desk.queue().find("due").orElseThrow().state()).isEqualTo(JobState.DONE);
  }

  /** The setting of the whole server, once the pool's own session has heard of it. */
  private void readOnly(boolean on) throws SQLException {
    String value = on ? "on" : "off";
    try (Statement statement = admin.createStatement()) {
      statement.execute("set default_transaction_read_only = off");
      statement.execute("alter system set default_transaction_read_only = " + value);
      statement.execute("select pg_reload_conf()");
    }
    PostgresqlTest.await(
        () -> {
          try (Connection connection = pool.getConnection()) {
            return shown(connection, "show default_transaction_read_only").equals(value);
          }
        });
  }

  /** Without a pool: each call asks for a connection of its own. */
  @Test
  void aServerOutOfConnectionsIsAnErrorUntilSomeAreFree() throws SQLException {
    List<Trial> trials = trials(PostgresqlStore.dsl(pool));
    List<Desk> unpooled = trials.stream().map(trial -> unpooled(trial.desk())).toList();
    List<Connection> taken = takeAllConnections();
    try {
      for (int i = 0; i < trials.size(); i++) {
        DataAccessException thrown = trials.get(i).failure(unpooled.get(i));
        assertThat(thrown.sqlState()).isEqualTo("53300");
        assertThat(thrown).hasMessageContaining("too many clients");
      }
    } finally {
      for (Connection connection : taken) {
        connection.close();
      }
    }
    PostgresqlTest.await(
        () ->
            Integer.parseInt(
                    shown(
                        "select count(*) from pg_stat_activity"
                            + " where backend_type = 'client backend'"))
                < 6);
    for (int i = 0; i < trials.size(); i++) {
      trials.get(i).changedNothing();
      trials.get(i).works(unpooled.get(i));
      trials.get(i).isStoredWhole();
    }
  }

  private static Desk unpooled(Desk desk) {
    return desk.through(
        JobQueue.builder(PostgresqlStore.dsl(direct))
            .name(desk.queue().name())
            .clock(desk.clock())
            .build());
  }

  private static List<Connection> takeAllConnections() throws SQLException {
    List<Connection> taken = new ArrayList<>();
    for (; ; ) {
      try {
        taken.add(DriverManager.getConnection(server.url()));
      } catch (SQLException e) {
        assertThat(e.getSQLState()).isEqualTo("53300");
        return taken;
      }
    }
  }

  @Test
  void aPoolWithoutAFreeConnectionIsAnError() throws SQLException {
    try (HikariDataSource impatient = impatient()) {
      List<Trial> trials = trials(PostgresqlStore.dsl(impatient));
      try (Connection taken = impatient.getConnection()) {
        for (Trial trial : trials) {
          assertThat(trial.failure()).hasMessageContaining("Connection is not available");
        }
        assertThat(taken.isClosed()).isFalse();
      }
      trials.forEach(PostgresqlFaultTest::isMended);
    }
  }

  /** Killed, not stopped: what was answered is there, and the pool finds the way back. */
  @Test
  void aServerThatWentDownAndCameBackIsTheSameToAQueueThatStayed() throws Exception {
    try (HikariDataSource impatient = impatient()) {
      List<Trial> trials = trials(PostgresqlStore.dsl(impatient));
      server.kill();
      try {
        for (Trial trial : trials) {
          assertThat(trial.failure()).hasMessageMatching("(?s).*(connection|backend).*");
        }
      } finally {
        server.start();
        admin = direct.getConnection();
      }
      PostgresqlTest.await(() -> isReached(impatient) && isReached(apart));
      trials.forEach(PostgresqlFaultTest::isMended);
    }
  }

  /** A pool that waits a quarter of a second for a connection. */
  private HikariDataSource impatient() {
    return PostgresqlServer.pool(proxy.url(server.url()), 1, 250);
  }

  private static boolean isReached(HikariDataSource pool) {
    try (Connection connection = pool.getConnection()) {
      return connection.isValid(5);
    } catch (SQLException notYet) {
      return false;
    }
  }
}
