package dev.redrive;

import static dev.redrive.schema.Tables.JOBS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.redrive.quarantine.Filter;
import dev.redrive.quarantine.Page;
import dev.redrive.quarantine.Quarantine;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.flywaydb.core.Flyway;
import org.jooq.DSLContext;
import org.jooq.ExecuteListener;
import org.jooq.SQLDialect;
import org.jooq.conf.MappedSchema;
import org.jooq.conf.RenderMapping;
import org.jooq.conf.Settings;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.DSL;
import org.jooq.impl.DefaultExecuteListenerProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** redrive's tables in a schema of their own. */
class PostgresqlSchemaTest {
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final Redrive ORDER =
      Redrive.note("OPS-1").approvedBy("kim").deadline(Duration.ofHours(1));

  private PostgresqlServer.Database database;
  private HikariDataSource source;
  private DSLContext dsl;

  @BeforeEach
  void emptyDatabase() {
    database = PostgresqlServer.database("");
    source = PostgresqlServer.pool(database.url(), 4);
    dsl = PostgresqlStore.dsl(source);
  }

  @AfterEach
  void drop() {
    source.close();
    database.close();
  }

  private JobQueue queue() {
    return JobQueue.builder(dsl).schema("redrive").build();
  }

  private static List<String> tables(DSLContext dsl, String schema) {
    return dsl.fetch(
            "select tablename from pg_tables where schemaname = ? order by tablename", schema)
        .into(String.class);
  }

  @Test
  void everythingIsThereAndNothingInTheHosts() {
    JobQueue queue = queue();
    assertThat(tables(dsl, "redrive"))
        .containsExactly("jobs", "redrive_schema_history", "redrives");
    assertThat(tables(dsl, "public")).isEmpty();
    everyVerb(queue);
    Migrations.of(source).schema("redrive").verify();
    assertThat(Migrations.of(source).schema("redrive").migrate()).isZero();
  }

  private static void everyVerb(JobQueue queue) {
    NewJob job = NewJob.of("j1", "{}");
    assertThat(queue.submit(job).created()).isTrue();
    assertThat(queue.submit(job).result()).isEqualTo(Submission.Result.DUPLICATE);
    Lease lease = queue.claim("A", LEASE).orElseThrow();
    assertThat(queue.renew(lease, LEASE.multipliedBy(2))).isTrue();
    assertThat(queue.release(lease)).isTrue();
    Lease again = queue.claim("A", LEASE).orElseThrow();
    assertThat(queue.finish(again, Outcome.permanent("http-422"))).isTrue();
    Job dead = queue.find("j1").orElseThrow();
    assertThat(queue.investigate(dead, "OPS-1", "lee")).isTrue();
    Quarantine quarantine = Quarantine.of(queue);
    assertThat(quarantine.report().dead().count()).isEqualTo(1);
    assertThat(quarantine.list(Filter.all(), Page.of(10)).jobs()).hasSize(1);
    assertThat(quarantine.redrive(Filter.all()).run(ORDER).redriven()).hasSize(1);
    Lease redriven = queue.claim("A", LEASE).orElseThrow();
    assertThat(queue.finish(redriven, Outcome.retry("slow"))).isTrue();
    assertThat(queue.purgeDone(Duration.ofDays(1), 10)).isZero();
  }

  @Test
  void theTextIsTheReviewedOneWithTheSchemaBeforeItsTables() {
    List<String> reviewed =
        ReviewedSql.files(new PostgresqlEngine()).values().stream()
            .map(StatementsSentTest::withoutNames)
            .map(ReviewedSql::comparable)
            .toList();
    List<String> sent = Collections.synchronizedList(new ArrayList<>());
    JobQueue queue =
        JobQueue.builder(
                dsl.configuration()
                    .deriveAppending(
                        new DefaultExecuteListenerProvider(
                            ExecuteListener.onExecuteStart(context -> sent.add(context.sql()))))
                    .dsl())
            .schema("redrive")
            .build();
    everyVerb(queue);
    assertThat(sent)
        .hasSizeGreaterThan(15)
        .allSatisfy(sql -> assertThat(sql).contains("redrive.jobs"))
        .allSatisfy(sql -> assertThat(ReviewedSql.comparable(withoutSchema(sql))).isIn(reviewed));
  }

  private static String withoutSchema(String sql) {
    return sql.replace("redrive.", "").replaceAll(" +\n", "\n");
  }

  @Test
  void aHostsFlywayComesBeforeOrAfterAndSeesNothingOfIt() {
    assertThat(queue().submit(NewJob.of("j0", "{}")).created()).isTrue();
    Flyway host = Flyway.configure().dataSource(source).locations("classpath:none").load();
    host.migrate();
    dsl.execute("create table customers (id integer)");
    assertThat(queue().submit(NewJob.of("j1", "{}")).created()).isTrue();
    assertThat(tables(dsl, "public")).doesNotContain("jobs", "redrives");
  }

  /** Two modules of one service, each with its own. */
  @Test
  void twoSchemasAreTwoSetsOfTables() {
    JobQueue other = JobQueue.builder(dsl).schema("other").build();
    JobQueue queue = queue();
    assertThat(queue.submit(NewJob.of("j1", "{}")).created()).isTrue();
    assertThat(other.find("j1")).isEmpty();
    assertThat(JobQueue.on(dsl).find("j1")).isEmpty();
    assertThat(tables(dsl, "public")).contains("jobs");
  }

  @Test
  void theConnectionKeepsItsSearchPath() {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(database.url());
    config.setMaximumPoolSize(1);
    try (HikariDataSource one = new HikariDataSource(config)) {
      DSLContext single = PostgresqlStore.dsl(one);
      Object before = single.fetchValue("show search_path");
      assertThat(Migrations.of(one).schema("redrive").migrate()).isEqualTo(2);
      assertThat(single.fetchValue("show search_path")).isEqualTo(before);
      assertThat(single.fetchValue("select current_schema()")).isEqualTo("public");
    }
  }

  @Test
  void insideAHostsTransactionTheSchemaHolds() {
    JobQueue queue = queue();
    assertThatThrownBy(
            () ->
                dsl.transaction(
                    tx -> {
                      assertThat(queue.within(tx.dsl()).submit(NewJob.of("j1", "{}")).created())
                          .isTrue();
                      throw new IllegalStateException("undo");
                    }))
        .hasMessage("undo");
    assertThat(queue.find("j1")).isEmpty();
    dsl.transaction(
        tx -> assertThat(queue.within(tx.dsl()).submit(NewJob.of("j1", "{}")).created()).isTrue());
    assertThat(queue.find("j1")).isPresent();
  }

  @Test
  void aHostJoinsItsTablesWithTheOnesOfTheSchema() {
    assertThat(queue().submit(NewJob.of("order-1", "{}")).created()).isTrue();
    dsl.execute("create table orders (id text, snack text)");
    dsl.execute("insert into orders values ('order-1', 'pretzel')");
    DSLContext joining =
        dsl.configuration()
            .derive(
                new Settings()
                    .withRenderMapping(
                        new RenderMapping()
                            .withSchemata(new MappedSchema().withInput("").withOutput("redrive"))))
            .dsl();
    // a host's generated tables have their schema's name; plain ones are to be given it
    var orders = DSL.table(DSL.name("public", "orders"));
    var id = DSL.field(DSL.name("public", "orders", "id"), String.class);
    assertThat(
            joining.select(JOBS.STATE).from(orders).join(JOBS).on(JOBS.ID.eq(id)).fetch(JOBS.STATE))
        .containsExactly("pending");
  }

  /** The service's role may work; another one, of whoever deploys, has created the tables. */
  @Test
  void aRoleWithoutDdlRightsVerifiesAndWorks() {
    String role = "worker_" + database.name();
    assertThat(Migrations.of(source).schema("redrive").migrate()).isEqualTo(2);
    dsl.execute("create role " + role + " login password 'x'");
    try {
      dsl.execute("grant usage on schema redrive to " + role);
      dsl.execute("grant select, insert, update, delete on redrive.jobs to " + role);
      dsl.execute("grant select, insert on redrive.redrives to " + role);
      dsl.execute("grant select on redrive.redrive_schema_history to " + role);
      HikariConfig config = new HikariConfig();
      config.setJdbcUrl(database.url().replaceAll("[?].*", "")); // which names a superuser
      config.setUsername(role);
      config.setPassword("x");
      try (HikariDataSource workers = new HikariDataSource(config)) {
        DSLContext worker = PostgresqlStore.dsl(workers);
        assertThat(worker.fetchValue("select current_user")).isEqualTo(role);
        everyVerb(JobQueue.builder(worker).schema("redrive").verifyOnly().build());
        Migrations.of(workers).schema("redrive").verify();
        assertThat(Migrations.of(workers).schema("redrive").migrate()).isZero();
        assertThatIllegalStateException()
            .isThrownBy(() -> JobQueue.builder(worker).schema("other").verifyOnly().build())
            .withMessageContaining("tables are missing");
        assertThatThrownBy(() -> JobQueue.builder(worker).schema("other").build())
            .hasStackTraceContaining("permission denied");
        assertThat(tables(dsl, "other")).isEmpty();
        dsl.execute("revoke select on redrive.redrive_schema_history from " + role);
        assertThatThrownBy(() -> JobQueue.builder(worker).schema("redrive").verifyOnly().build())
            .isInstanceOf(DataAccessException.class)
            .hasMessageContaining(
                "the right to use their schema and to select from redrive_schema");
      }
    } finally {
      dsl.execute("drop owned by " + role);
      dsl.execute("drop role " + role);
    }
  }

  @Test
  void tablesThatACrashEmptiesAreNamed() {
    Migrations migrations = Migrations.of(source).schema("redrive");
    assertThat(migrations.migrate()).isEqualTo(2);
    dsl.execute("alter table redrive.redrives set unlogged");
    assertThatIllegalStateException()
        .isThrownBy(migrations::verify)
        .withMessageContaining("missing: table redrives logged");
  }

  @Test
  void anUpgradeInTheSchemaKeepsItsJobs() {
    Flyway older =
        Flyway.configure()
            .configuration(
                Migrations.of(source).schema("redrive").flyway(source).getConfiguration())
            .target("1")
            .load();
    assertThat(older.migrate().migrationsExecuted).isEqualTo(1);
    dsl.execute(
        "insert into redrive.jobs (queue, id, state, token, attempts, max_attempts, available_at,"
            + " deadline_at, submitted_at, payload) values ('default', 'j1', 'pending', 0, 0, 5, 0,"
            + " 253402300799999, 0, '{}')");
    assertThatIllegalStateException()
        .isThrownBy(() -> JobQueue.builder(dsl).schema("redrive").verifyOnly().build())
        .withMessageContaining("older than this version");
    JobQueue queue = queue();
    assertThat(queue.claim("A", LEASE)).isPresent();
  }

  @Test
  void aNameThatNeedsQuotesIsRefused() {
    for (String name :
        List.of("Redrive", "red rive", "red\"rive", "red-rive", "1st", "", "a.b", "größe")) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> JobQueue.builder(dsl).schema(name))
          .withMessageContaining("schema must be a name that needs no quotes");
      assertThatIllegalArgumentException()
          .isThrownBy(() -> Migrations.of(source).schema(name))
          .withMessageContaining("schema must be a name that needs no quotes");
    }
  }

  @Test
  void aKeywordIsRefusedBeforeAnythingIsStored() {
    for (String name : List.of("user", "order", "table", "select")) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> JobQueue.builder(dsl).schema(name).build())
          .withMessageContaining("keyword");
      assertThatIllegalArgumentException()
          .isThrownBy(() -> Migrations.of(source).schema(name).migrate())
          .withMessageContaining("keyword");
      assertThat(dsl.fetchValue("select count(*) from pg_namespace where nspname = ?", name))
          .isEqualTo(0L);
    }
  }

  @Test
  void aConnectionWithoutACurrentSchemaIsRefusedInASentence() {
    dsl.execute("alter database " + database.name() + " set search_path = ''");
    try (HikariDataSource lost = PostgresqlServer.pool(database.url(), 2)) {
      DSLContext nowhere = PostgresqlStore.dsl(lost);
      assertThatIllegalStateException()
          .isThrownBy(() -> JobQueue.on(nowhere))
          .withMessageContaining("no current schema for redrive's tables");
      assertThatIllegalStateException()
          .isThrownBy(() -> Migrations.of(lost).migrate())
          .withMessageContaining("no current schema for redrive's tables");
      everyVerb(JobQueue.builder(nowhere).schema("redrive").build());
    }
  }

  @Test
  void onSqliteThereIsNone() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> JobQueue.builder(DSL.using(SQLDialect.SQLITE)).schema("redrive"))
        .withMessageContaining("schema must not be given on SQLite");
  }

  @Test
  void aServerThatIsGoneIsNoAnswer() {
    JobQueue queue = queue();
    source.close();
    assertThatThrownBy(() -> queue.find("j1")).isInstanceOf(DataAccessException.class);
  }
}
