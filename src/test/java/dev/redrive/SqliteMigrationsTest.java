package dev.redrive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** First starts on a new file, all at once: Flyway takes no lock on SQLite. */
class SqliteMigrationsTest {
  private static final int ROUNDS = 5;
  private static final int ALL = Integer.parseInt(Migrations.LATEST);

  @TempDir private Path folder;

  @ParameterizedTest
  @EnumSource
  void eightThreadsWithDataSourcesOfTheirOwnMigrateOnce(Journal journal) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(8);
    try {
      for (int round = 0; round < ROUNDS; round++) {
        Path file = folder.resolve("round" + round + ".db");
        create(file, journal);
        CyclicBarrier start = new CyclicBarrier(8);
        Callable<Integer> migrate =
            () -> {
              DataSource own = SqliteMigrationChild.source(file);
              start.await();
              return Migrations.of(own).migrate();
            };
        List<Integer> scripts = new ArrayList<>();
        for (Future<Integer> done : threads.invokeAll(Collections.nCopies(8, migrate))) {
          scripts.add(done.get());
        }
        assertThat(scripts).containsOnly(0, ALL).containsOnlyOnce(ALL);
        assertThat(history(file)).startsWith("1").endsWith(Migrations.LATEST).hasSize(ALL);
      }
    } finally {
      threads.shutdown();
    }
  }

  @Test
  void fourProcessesStartAtOnceOnANewFile() throws IOException {
    List<ChildJvm> processes = new ArrayList<>();
    try {
      for (int i = 0; i < 4; i++) {
        processes.add(ChildJvm.start(SqliteMigrationChild.class));
      }
      for (int round = 0; round < ROUNDS; round++) {
        for (Journal journal : Journal.values()) {
          Path file = folder.resolve("round" + round + journal + ".db");
          startAtOnce(processes, "engine " + journal + " " + file);
          assertThat(history(file)).startsWith("1").endsWith(Migrations.LATEST).hasSize(ALL);

          Path hosts = folder.resolve("hosts" + round + journal + ".db");
          create(hosts, journal);
          startAtOnce(processes, "host " + journal + " " + hosts);
          assertThat(history(hosts)).startsWith("1").endsWith(Migrations.LATEST).hasSize(ALL);
        }
      }
    } finally {
      processes.forEach(ChildJvm::close);
    }
  }

  private static void startAtOnce(List<ChildJvm> processes, String how) throws IOException {
    for (int i = 0; i < processes.size(); i++) {
      processes.get(i).say("j" + i + " " + how);
      processes.get(i).expect("ready");
    }
    processes.forEach(process -> process.say("go"));
    for (ChildJvm process : processes) {
      process.expect("CREATED");
    }
  }

  @Test
  void aMigrationHoldsTheWriteLockFromItsFirstLookToTheEnd() {
    Path file = folder.resolve("host.db");
    DataSource database = SqliteMigrationChild.source(file);
    String answer =
        SqliteMigration.run(
            database,
            source -> {
              execute(source, "create table one (n integer)");
              assertThatThrownBy(() -> begin(file)).hasMessageContaining("SQLITE_BUSY");
              execute(source, "create table two (n integer)");
              assertThatThrownBy(() -> begin(file)).hasMessageContaining("SQLITE_BUSY");
              return "done";
            });
    assertThat(answer).isEqualTo("done");
    assertThat(tables(file)).containsExactly("one", "two");
    assertThatCode(() -> begin(file)).doesNotThrowAnyException();
  }

  @Test
  void aMigrationThatFailsLeavesNothingBehind() {
    Path file = folder.resolve("host.db");
    DataSource database = SqliteMigrationChild.source(file);
    IllegalStateException failure = new IllegalStateException("second script");
    assertThatThrownBy(
            () ->
                SqliteMigration.run(
                    database,
                    source -> {
                      execute(source, "create table one (n integer)");
                      throw failure;
                    }))
        .isSameAs(failure);
    assertThat(tables(file)).isEmpty();
  }

  @Test
  void whatAMigrationRollsBackItselfIsUndoneAndTheRestStays() {
    Path file = folder.resolve("host.db");
    DataSource database = SqliteMigrationChild.source(file);
    List<String> seen =
        SqliteMigration.run(
            database,
            source -> {
              execute(source, "create table one (n integer)");
              assertThatThrownBy(() -> execute(source, "create table two (n integer)", "nonsense"))
                  .isInstanceOf(IllegalStateException.class);
              execute(source, "create table three (n integer)");
              return tables(source);
            });
    assertThat(seen).containsExactly("one", "three");
    assertThat(tables(file)).isEqualTo(seen);
  }

  /** As Flyway runs a script: on a connection that it closes, in a transaction of its own. */
  private static void execute(DataSource source, String... script) {
    try (Connection connection = source.getConnection();
        Statement statement = connection.createStatement()) {
      assertThat(connection.getAutoCommit()).isTrue();
      connection.setAutoCommit(false);
      try {
        for (String line : script) {
          statement.execute(line);
        }
        connection.commit();
      } catch (SQLException e) {
        connection.rollback();
        throw new IllegalStateException(e);
      } finally {
        connection.setAutoCommit(true);
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void begin(Path file) throws SQLException {
    try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
        Statement statement = connection.createStatement()) {
      statement.execute("pragma busy_timeout = 1");
      statement.execute("begin immediate");
    }
  }

  /** Another process that makes a database of the same new file: no reason to fail. */
  @Test
  void aNewFileTakesItsJournalOnceOthersLetGoOfIt() throws Exception {
    Path file = folder.resolve("orders.db");
    SqliteFile settings =
        Engine.sqlite(file).journal(Journal.WAL).busyTimeout(Duration.ofMinutes(1));
    FutureTask<List<String>> opening =
        new FutureTask<>(
            () -> {
              try (SqliteDatabase database = settings.open()) {
                return strings(database.dataSource(), "pragma journal_mode");
              }
            });
    Thread opener = new Thread(opening);
    try (ChildJvm other = ChildJvm.start(SqliteChild.class, file.toString())) {
      other.say("begin");
      other.expect("begin");
      opener.start();
      while (opener.getState() != Thread.State.TIMED_WAITING) { // until it was refused once
        assertThat(opening.isDone()).isFalse();
        Thread.onSpinWait();
      }
      other.say("commit");
      assertThat(opening.get()).containsExactly("wal");
    }
  }

  /** A host's file with nothing in it, whose journal stays what it is. */
  private static void create(Path file, Journal journal) {
    assertThat(strings(file, "pragma journal_mode = " + journal))
        .containsExactly(journal.name().toLowerCase(Locale.ROOT));
  }

  /** The scripts that ran, in their order. */
  private static List<String> history(Path file) {
    return strings(
        file,
        "select version from redrive_schema_history where type = 'SQL' order by installed_rank");
  }

  private static List<String> tables(Path file) {
    return tables(SqliteMigrationChild.source(file));
  }

  private static List<String> tables(DataSource source) {
    return strings(source, "select name from sqlite_schema where type = 'table' order by rowid");
  }

  private static List<String> strings(Path file, String query) {
    return strings(SqliteMigrationChild.source(file), query);
  }

  private static List<String> strings(DataSource source, String query) {
    try (Connection connection = source.getConnection();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(query)) {
      List<String> found = new ArrayList<>();
      while (rows.next()) {
        found.add(rows.getString(1));
      }
      return found;
    } catch (SQLException e) {
      throw new IllegalStateException(query, e);
    }
  }
}
