package dev.redrive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import org.jooq.DSLContext;
import org.jooq.ExecuteContext;
import org.jooq.ExecuteListener;
import org.jooq.exception.DataAccessException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** redrive's own transactions: their level, their connections, and what is repeated. */
class PostgresqlTransactionsTest extends PostgresqlTest {

  @ParameterizedTest
  @CsvSource({"serializable,8", "repeatable read,4", "read committed,2"})
  void theyAreReadCommittedWhateverTheDefaultIs(String level, int jdbcLevel) throws Exception {
    try (PostgresqlServer.Database database = PostgresqlServer.database("")) {
      PostgresqlServer.execute(
          "alter database "
              + database.name()
              + " set default_transaction_isolation = '"
              + level
              + "'");
      try (HikariDataSource source = PostgresqlServer.pool(database.url(), 8)) {
        Set<String> seen = ConcurrentHashMap.newKeySet();
        JobQueue jobs = JobQueue.on(levelsSeen(source, seen));
        workOffInParallel(jobs);
        assertThat(seen).containsExactly("read committed");
        try (Connection connection = source.getConnection()) {
          assertThat(connection.getTransactionIsolation()).isEqualTo(jdbcLevel);
          assertThat(connection.getAutoCommit()).isTrue();
        }
      }
    }
  }

  /** Collects the level that every updating statement runs at. */
  private static DSLContext levelsSeen(HikariDataSource source, Collection<String> seen) {
    DSLContext dsl = PostgresqlStore.dsl(source);
    dsl.configuration()
        .set(
            new ExecuteListener() {
              @Override
              public void executeStart(ExecuteContext context) {
                try (Statement statement = context.connection().createStatement();
                    ResultSet rows = statement.executeQuery("show transaction_isolation")) {
                  assertThat(rows.next()).isTrue();
                  seen.add(rows.getString(1));
                } catch (SQLException e) {
                  throw new IllegalStateException(e);
                }
              }
            });
    return dsl;
  }

  private void workOffInParallel(JobQueue jobs) throws Exception {
    submitMany(jobs, 60);
    List<Future<Integer>> workers = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      String owner = "w" + i;
      workers.add(
          start(
              () -> {
                int done = 0;
                for (List<Lease> mine = jobs.claim(owner, LEASE, 3);
                    !mine.isEmpty();
                    mine = jobs.claim(owner, LEASE, 3)) {
                  done += mine.size();
                  assertThat(
                          jobs.finishAll(
                              mine.stream().map(l -> new Finish(l, Outcome.ok())).toList()))
                      .containsOnly(true);
                }
                return done;
              }));
    }
    assertThat(answers(workers).stream().mapToInt(Integer::intValue).sum()).isEqualTo(60);
  }

  /** A level that the host changed behind our back costs a repetition at most, not the answer. */
  @Test
  void aLevelThatChangedIsNoticed() throws Exception {
    List<String> seen = new ArrayList<>();
    try (HikariDataSource source = PostgresqlServer.pool(url(), 1)) {
      JobQueue jobs = JobQueue.builder(levelsSeen(source, seen)).clock(clock).build();
      assertThat(jobs.submit(job("j1")).created()).isTrue();
      try (Connection connection = source.getConnection();
          Statement statement = connection.createStatement()) {
        statement.execute(
            "set session characteristics as transaction isolation level serializable");
      }
      failUpdates("40001", 1);
      assertThat(jobs.claim("A", LEASE)).isPresent();
    }
    assertThat(seen) // the bury, the claim, the claim again
        .endsWith("serializable", "serializable", "read committed");
  }

  @Test
  void aPoolWithAutoCommitOffIsLeftWithoutOpenTransactions() {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url());
    config.setAutoCommit(false);
    config.setMaximumPoolSize(1);
    try (HikariDataSource source = new HikariDataSource(config)) {
      JobQueue jobs = JobQueue.builder(PostgresqlStore.dsl(source)).clock(clock).build();
      assertThat(idleInTransaction()).isZero();
      assertThat(jobs.submit(job("j1")).created()).isTrue();
      assertThat(jobs.find("j1")).isPresent();
      assertThat(jobs.claim("A", LEASE)).isPresent();
      assertThat(idleInTransaction()).isZero();
    }
  }

  private long idleInTransaction() {
    return number(
        "select count(*) from pg_stat_activity"
            + " where application_name = current_schema() and state like 'idle in transaction%'");
  }

  /** The server says of these that it undid everything. */
  @ParameterizedTest
  @ValueSource(strings = {"40001", "40P01"})
  void whatTheServerUndidIsRepeated(String sqlState) {
    Lease lease = leased("j1");
    failUpdates(sqlState, 3);
    assertThat(queue.finish(lease, Outcome.ok())).isTrue();
    assertThat(tries()).isEqualTo(4);
    assertThat(row("j1")).containsEntry("state", "done").containsEntry("token", 1L);
  }

  @Test
  void aRedriveIsRepeatedWhole() {
    Job dead = dead("j1");
    failUpdates("40001", 1);
    assertThat(queue.redrive(dead, ORDER)).isTrue();
    assertThat(audit("j1")).hasSize(1);
  }

  /** Also behind an exception that a listener of the host's made of it. */
  @Test
  void theSqlStateIsReadThroughTheChainOfCauses() {
    DSLContext dsl = PostgresqlStore.dsl(store.dataSource());
    dsl.configuration()
        .set(
            new ExecuteListener() {
              @Override
              public void exception(ExecuteContext context) {
                context.exception(
                    new IllegalStateException(
                        "translated", new RuntimeException(context.sqlException())));
              }
            });
    assertThat(leased("j1").token()).isEqualTo(1);
    clock.at(T0 + 30_000);
    failUpdates("40P01", 2);
    assertThat(JobQueue.builder(dsl).clock(clock).build().claim("B", LEASE)).isPresent();
  }

  @Test
  void repetitionIsBounded() {
    Lease lease = leased("j1");
    failUpdates("40001", Integer.MAX_VALUE);
    DataAccessException thrown =
        catchThrowableOfType(DataAccessException.class, () -> queue.finish(lease, Outcome.ok()));
    assertThat(thrown.sqlState()).isEqualTo("40001");
    assertThat(tries()).isBetween(2L, 100L);
    assertThat(find("j1").state()).isEqualTo(JobState.LEASED);
  }

  /** A broken connection says nothing of what was stored, and a full disk would stay full. */
  @ParameterizedTest
  @ValueSource(strings = {"08006", "57P01", "40003", "53100", "XX000"})
  void nothingElseIsRepeated(String sqlState) {
    Lease lease = leased("j1");
    failUpdates(sqlState, Integer.MAX_VALUE);
    assertThatExceptionOfType(DataAccessException.class)
        .isThrownBy(() -> queue.finish(lease, Outcome.ok()));
    assertThat(tries()).isEqualTo(1);
  }

  private String url() {
    return ((PostgresqlStore) store).dataSource().getJdbcUrl();
  }
}
