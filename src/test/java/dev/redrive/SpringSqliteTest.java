package dev.redrive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.jooq.SQLDialect;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Spring's transactions on SQLite, which begin DEFERRED and know nothing of failed commits: what a
 * host has to set.
 */
class SpringSqliteTest {
  private EmptyDatabase database;

  @BeforeEach
  void openDatabase() {
    database = EmptyDatabase.of(Backend.SQLITE);
  }

  @AfterEach
  void closeDatabase() {
    database.close();
  }

  /** A host with two connections that wait for a lock for only 100 ms. */
  private final class Host implements AutoCloseable {
    final HikariDataSource pool;
    final DataSourceTransactionManager manager;
    final JdbcTemplate jdbc;
    final JobQueue queue;

    Host(String settings) {
      HikariConfig config = new HikariConfig();
      config.setJdbcUrl(database.url() + "&busy_timeout=100" + settings);
      config.setMaximumPoolSize(2);
      pool = new HikariDataSource(config);
      Migrations.of(pool).migrate();
      manager = new DataSourceTransactionManager(pool);
      jdbc = new JdbcTemplate(pool);
      jdbc.execute("create table host (x integer)");
      queue =
          JobQueue.builder(DSL.using(new TransactionAwareDataSourceProxy(pool), SQLDialect.SQLITE))
              .joins(TransactionSynchronizationManager::isActualTransactionActive)
              .build();
    }

    void transaction(Runnable work) {
      new TransactionTemplate(manager).executeWithoutResult(status -> work.run());
    }

    void submit(String id) {
      assertThat(queue.submit(NewJob.of(id, "{}")).created()).isTrue();
    }

    int rows() {
      return jdbc.queryForList("select x from host").size();
    }

    @Override
    public void close() {
      pool.close();
    }
  }

  /** Another process, as far as SQLite's locks go. */
  private Connection other(String settings) throws SQLException {
    return DriverManager.getConnection(database.url() + "&busy_timeout=100" + settings);
  }

  private static void run(Connection connection, String statement) throws SQLException {
    try (Statement run = connection.createStatement()) {
      run.execute(statement);
    }
  }

  @ParameterizedTest
  @EnumSource(Journal.class)
  void whatReadsBeforeItWritesFailsAtOnceWhenAnotherHasWritten(Journal journal) throws Exception {
    String settings = "&journal_mode=" + journal;
    try (Host host = new Host(settings);
        Connection other = other(settings)) {
      assertThatExceptionOfType(DataAccessException.class)
          .isThrownBy(
              () ->
                  host.transaction(
                      () -> {
                        assertThat(host.rows()).isZero();
                        try {
                          run(other, "begin immediate");
                          run(other, "insert into host values (1)");
                          if (journal == Journal.WAL) {
                            run(other, "commit");
                          }
                        } catch (SQLException e) {
                          throw new IllegalStateException(e);
                        }
                        host.submit("j1");
                      }))
          .withMessageContaining("SQLITE_BUSY");
      if (journal != Journal.WAL) {
        run(other, "commit");
      }
      assertThat(host.rows()).isEqualTo(1);
      assertThat(host.queue.find("j1")).isEmpty();
      host.transaction(() -> host.submit("j1"));
      assertThat(host.queue.find("j1")).isPresent();
    }
  }

  /** A commit that waits in vain for a reader, and what is left of it. */
  private void failToCommit(Host host) throws SQLException {
    try (Connection reader = other("");
        Statement reading = reader.createStatement();
        ResultSet open = reading.executeQuery("select 1 as x from jobs union select 2")) {
      assertThat(open.next()).isTrue();
      assertThatExceptionOfType(TransactionSystemException.class)
          .isThrownBy(
              () ->
                  host.transaction(
                      () -> {
                        assertThat(host.jdbc.update("insert into host values (1)")).isEqualTo(1);
                        host.submit("j1");
                      }));
    }
  }

  @Test
  void aFailedCommitIsTakenBackWhenTheManagerIsToldTo() throws SQLException {
    try (Host host = new Host("");
        Connection other = other("")) {
      host.manager.setRollbackOnCommitFailure(true);
      failToCommit(host);
      run(other, "insert into host values (2)");
      assertThat(host.rows()).isEqualTo(1);
      assertThat(host.queue.find("j1")).isEmpty();
      host.transaction(() -> host.submit("j1"));
      assertThat(database.texts("select id from jobs")).containsExactly("j1");
    }
  }

  /** Why a host on SQLite has to say so: what failed stays open in the pool, for good. */
  @Test
  void otherwiseItLocksEverybodyOut() throws SQLException {
    try (Host host = new Host("");
        Connection other = other("")) {
      failToCommit(host);
      assertThatExceptionOfType(SQLException.class)
          .isThrownBy(() -> run(other, "insert into host values (2)"))
          .withMessageContaining("SQLITE_BUSY");
      assertThat(host.queue.find("j1")).as("not stored, but seen by the host").isPresent();
    }
    assertThat(database.texts("select id from jobs")).isEmpty();
  }
}
