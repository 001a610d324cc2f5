package dev.redrive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.nio.file.Files;
import java.nio.file.Path;
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
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.configuration.FluentConfiguration;
import org.jooq.DSLContext;
import org.jooq.SQLDialect;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Creating and upgrading the tables in an empty database, and beside what a host has in its own.
 */
class PostgresqlMigrationsTest {
  private PostgresqlServer.Database database;
  private HikariDataSource source;
  private DSLContext dsl;

  @BeforeEach
  void emptyDatabase() {
    database = PostgresqlServer.database("");
    source = PostgresqlServer.pool(database.url(), 24);
    dsl = PostgresqlStore.dsl(source);
  }

  @AfterEach
  void drop() {
    source.close();
    database.close();
  }

  @Test
  void theSecondRunDoesNothing() {
    assertThat(Migrations.of(source).migrate()).isEqualTo(2);
    assertThat(Migrations.of(source).migrate()).isZero();
    assertThat(JobQueue.on(dsl).submit(NewJob.of("j1", "{}")).created()).isTrue();
  }

  @Test
  void case_7_1_besideAHostsTablesAndHistory() throws SQLException {
    execute(source, "create table host (x integer); insert into host values (1)");
    execute(
        source,
        "create table flyway_schema_history (version text);"
            + " insert into flyway_schema_history values ('1'), ('2'), ('3')");
    assertThat(Migrations.of(source).migrate()).isEqualTo(2);
    assertThat(Migrations.of(source).migrate()).isZero();
    assertThat(dsl.fetchValue("select count(*) from flyway_schema_history")).isEqualTo(3L);
    assertThat(dsl.fetchValue("select count(*) from host")).isEqualTo(1L);
    assertThat(JobQueue.on(dsl).submit(NewJob.of("j1", "{}")).created()).isTrue();
  }

  @Test
  void case_7_1_anUpgradeRunsWhatIsNew() {
    Flyway older =
        Flyway.configure()
            .configuration(Migrations.of(source).flyway(source).getConfiguration())
            .target("1")
            .load();
    assertThat(older.migrate().migrationsExecuted).isEqualTo(1);
    assertThatIllegalStateException()
        .isThrownBy(() -> JobQueue.builder(dsl).verifyOnly().build())
        .withMessageContaining("older than this version");
    assertThat(Migrations.of(source).migrate()).isEqualTo(1);
    assertThat(JobQueue.builder(dsl).verifyOnly().build().find("j1")).isEmpty();
  }

  /** The same names in another schema are another's. */
  @Test
  void tablesOfAnotherSchemaAreNotOurs() throws SQLException {
    execute(source, "create schema other");
    try (HikariDataSource other =
        PostgresqlServer.pool(PostgresqlServer.with(database.url(), "currentSchema=other"), 4)) {
      assertThat(Migrations.of(other).migrate()).isEqualTo(2);
      assertThat(Migrations.of(source).migrate()).isEqualTo(2);
      assertThat(JobQueue.on(dsl).submit(NewJob.of("j1", "{}")).created()).isTrue();
      assertThat(JobQueue.on(PostgresqlStore.dsl(other)).find("j1")).isEmpty();
    }
  }

  @Test
  void aTableOfTheHostsWithOurNameIsInTheWay() throws SQLException {
    execute(source, "create table jobs (title text)");
    assertThatIllegalStateException()
        .isThrownBy(() -> Migrations.of(source).migrate())
        .withMessageContaining("a table jobs that redrive did not create");
  }

  @Test
  void aMigrationThatFailsLeavesNothingBehind() throws SQLException {
    execute(source, "create table jobs_done (x integer)");
    assertThatThrownBy(() -> Migrations.of(source).migrate()).isInstanceOf(FlywayException.class);
    assertThat(dsl.fetchValue("select count(*) from pg_tables where schemaname = 'public'"))
        .isEqualTo(1L);
    execute(source, "drop table jobs_done");
    assertThat(Migrations.of(source).migrate()).isEqualTo(2);
  }

  @ParameterizedTest
  @ValueSource(strings = {"serializable", "read committed"})
  void manyThreadsMigrateOnce(String level) throws Exception {
    PostgresqlServer.execute(
        "alter database "
            + database.name()
            + " set default_transaction_isolation = '"
            + level
            + "'");
    source.getHikariPoolMXBean().softEvictConnections();
    assertThat(together(8, () -> Migrations.of(source).migrate())).containsOnly(0, 2).contains(2);
  }

  /** How a service starts: its own Flyway, and redrive's. */
  private enum Start {
    HOST_FIRST {
      @Override
      JobQueue run(FluentConfiguration host, DataSource source) {
        assertThat(host.load().migrate().success).isTrue();
        return JobQueue.on(PostgresqlStore.dsl(source));
      }
    },
    REDRIVE_FIRST_AND_A_BASELINE {
      @Override
      JobQueue run(FluentConfiguration host, DataSource source) {
        JobQueue queue = JobQueue.on(PostgresqlStore.dsl(source));
        assertThat(host.baselineOnMigrate(true).baselineVersion("0").load().migrate().success)
            .isTrue();
        return queue;
      }
    },
    REDRIVE_FIRST_IN_ITS_OWN_SCHEMA {
      @Override
      JobQueue run(FluentConfiguration host, DataSource source) {
        JobQueue queue = JobQueue.builder(PostgresqlStore.dsl(source)).schema("redrive").build();
        assertThat(host.load().migrate().success).isTrue();
        return queue;
      }
    };

    abstract JobQueue run(FluentConfiguration host, DataSource source);
  }

  @RepeatedTest(20)
  void case_7_2_severalNodesStartAtOnceEachWithItsHostsFlyway(
      RepetitionInfo round, @TempDir Path scripts) throws Exception {
    Start start = Start.values()[round.getCurrentRepetition() % Start.values().length];
    Files.writeString(scripts.resolve("V1__host.sql"), "create table customers (id integer);\n");
    assertThat(
            together(
                4,
                () -> {
                  try (HikariDataSource node = PostgresqlServer.pool(database.url(), 2)) {
                    FluentConfiguration host =
                        Flyway.configure().dataSource(node).locations("filesystem:" + scripts);
                    return start.run(host, node).submit(NewJob.of("j1", "{}")).created();
                  }
                }))
        .as(start.toString())
        .containsOnlyOnce(true)
        .hasSize(4);
    assertThat(dsl.fetchValue("select count(*) from customers")).isEqualTo(0L);
    assertThat(
            dsl.fetchValue(
                "select count(*) from pg_tables where tablename in ('jobs', 'redrives', 'customers')"))
        .isEqualTo(3L);
  }

  @Test
  void manyThreadsOpenQueuesOnAnEmptyDatabase() throws Exception {
    assertThat(together(8, () -> JobQueue.on(dsl).submit(NewJob.of("j1", "{}")).created()))
        .containsOnlyOnce(true);
  }

  @Test
  void manyProcessesMigrateOnce() throws Exception {
    List<ChildJvm> hosts = new ArrayList<>();
    try {
      for (int i = 0; i < 3; i++) {
        hosts.add(ChildJvm.start(PostgresqlChild.class, database.url()));
      }
      for (ChildJvm host : hosts) {
        host.say("ready");
        host.expect("ready");
      }
      hosts.forEach(host -> host.say("migrate"));
      List<String> answers = new ArrayList<>();
      for (ChildJvm host : hosts) {
        answers.add(host.hear());
      }
      assertThat(answers).containsExactlyInAnyOrder("ran 2", "ran 0", "ran 0");
    } finally {
      hosts.forEach(ChildJvm::close);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aPoolOfOneConnectionIsEnough(boolean autoCommit) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(database.url());
    config.setMaximumPoolSize(1);
    config.setAutoCommit(autoCommit);
    try (HikariDataSource small = new HikariDataSource(config)) {
      assertThat(JobQueue.on(PostgresqlStore.dsl(small)).submit(NewJob.of("j1", "{}")).created())
          .isTrue();
    }
    assertThat(JobQueue.on(dsl).find("j1")).isPresent();
  }

  @Test
  void case_7_4_withoutFlywaysModule() throws Exception {
    try (ChildJvm host =
        ChildJvm.without("flyway-database-postgresql", PostgresqlChild.class, database.url())) {
      for (String word : List.of("migrate", "queue")) {
        host.say(word);
        assertThat(host.hear())
            .startsWith("IllegalStateException: ")
            .contains("org.flywaydb:flyway-database-postgresql");
      }
      // tables that are there need no Flyway
      assertThat(Migrations.of(source).migrate()).isEqualTo(2);
      host.say("queue");
      host.expect("JobQueue[default on postgresql]");
    }
  }

  @Test
  void case_7_4_withoutTheDriver() throws Exception {
    try (ChildJvm host = ChildJvm.without("postgresql", PostgresqlChild.class, database.url())) {
      for (String word : List.of("migrate", "queue")) {
        host.say(word);
        assertThat(host.hear())
            .startsWith("IllegalStateException: ")
            .contains("org.postgresql:postgresql");
      }
    }
  }

  @Test
  void aDatabaseThatDoesNotHoldEveryTextIsRefused() {
    try (PostgresqlServer.Database latin =
            PostgresqlServer.database("template template0 encoding 'LATIN1' locale 'C'");
        HikariDataSource pool = PostgresqlServer.pool(latin.url(), 2)) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> JobQueue.on(PostgresqlStore.dsl(pool)))
          .withMessageContaining("encoding LATIN1")
          .withMessageContaining("UTF8");
    }
  }

  @Test
  void anotherDialectIsRefusedWithTheListOfOurs() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> JobQueue.on(DSL.using(source, SQLDialect.MYSQL)))
        .withMessageContaining("SQLITE or POSTGRES, it is of MYSQL");
  }

  private static void execute(DataSource database, String statement) throws SQLException {
    try (Connection connection = database.getConnection();
        Statement executed = connection.createStatement()) {
      executed.execute(statement);
    }
  }

  private static <T> List<T> together(int count, Callable<T> call) throws Exception {
    CyclicBarrier barrier = new CyclicBarrier(count);
    ExecutorService threads = Executors.newFixedThreadPool(count);
    try {
      List<Future<T>> calls = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        calls.add(
            threads.submit(
                () -> {
                  barrier.await();
                  return call.call();
                }));
      }
      List<T> answers = new ArrayList<>();
      for (Future<T> future : calls) {
        answers.add(future.get());
      }
      return answers;
    } finally {
      threads.shutdownNow();
    }
  }
}
