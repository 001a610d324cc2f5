package dev.redrive;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.configuration.FluentConfiguration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** redrive's tables beside a host's, and its Flyway beside the host's own. */
class MigrationsTest extends QueueTest {
  private static final Path SCRIPTS = Path.of("db", "migration");
  private static final int ALL = Integer.parseInt(Migrations.LATEST);

  @TempDir private Path folder;

  @BeforeEach
  void anEmptyDatabase() {
    dropAll();
  }

  private void dropAll() {
    for (String table : List.of("redrives", "jobs", "redrive_schema_history")) {
      plant("drop table if exists " + table);
    }
  }

  private Migrations migrations() {
    return Migrations.of(store.dataSource());
  }

  @Test
  void case_7_1_aHostsTablesAndItsHistoryAreLeftAsTheyAre() throws IOException {
    try (URLClassLoader host = host(3)) {
      assertThat(flyway(host).load().migrate().migrationsExecuted).isEqualTo(3);
      List<Map<String, @Nullable Object>> customers = rows("select * from customers order by id");
      List<Map<String, @Nullable Object>> history = rows("select * from flyway_schema_history");
      assertThat(customers).hasSize(2);
      assertThat(history).hasSize(3);

      assertThat(migrations().migrate()).isEqualTo(ALL);
      assertThat(migrations().migrate()).isZero();
      assertThat(migrations().flyway(store.dataSource()).migrate().migrationsExecuted).isZero();

      assertThat(rows("select * from customers order by id")).isEqualTo(customers);
      assertThat(rows("select * from flyway_schema_history")).isEqualTo(history);
      assertThat(ourHistory()).startsWith("0").hasSize(ALL + 1);
      assertThat(flyway(host).load().migrate().migrationsExecuted).isZero();
    }
    assertThat(queue.redrive(dead("j1"), ORDER)).isTrue();
  }

  @Test
  void onAnEmptyDatabaseEveryScriptRunsAndNoBaselineIsNeeded() {
    assertThat(migrations().migrate()).isEqualTo(ALL);
    assertThat(ourHistory()).startsWith("1").endsWith(Migrations.LATEST).hasSize(ALL);
    assertThat(queue.redrive(dead("j1"), ORDER)).isTrue();
  }

  @Test
  void aQueueMigratesOnItsFirstUse() {
    JobQueue first = JobQueue.on(store.dsl());
    assertThat(ourHistory()).startsWith("1").endsWith(Migrations.LATEST).hasSize(ALL);
    assertThat(first.submit(job("j1")).created()).isTrue();
  }

  @Test
  void case_7_1_version1WithJobsInItIsUpgraded() {
    assertThat(version1().migrate().migrationsExecuted).isEqualTo(1);
    submit("j1");
    Lease lease = leased("j2");
    List<Map<String, @Nullable Object>> before = rows("select * from jobs order by id");
    assertThat(migrations().migrate()).isEqualTo(ALL - 1);
    assertThat(ourHistory()).startsWith("1").endsWith(Migrations.LATEST).hasSize(ALL);
    assertThat(rows("select * from jobs order by id")).isEqualTo(before);
    assertThat(queue.finish(lease, Outcome.permanent("http-422"))).isTrue();
    assertThat(queue.redrive(find(lease.id()), ORDER)).isTrue();
  }

  @Test
  void aQueueOnVersion1UpgradesItFirst() {
    assertThat(version1().migrate().migrationsExecuted).isEqualTo(1);
    assertThat(JobQueue.on(store.dsl()).submit(job("j1")).created()).isTrue();
    assertThat(ourHistory()).startsWith("1").endsWith(Migrations.LATEST).hasSize(ALL);
  }

  private Flyway version1() {
    return Flyway.configure()
        .configuration(migrations().flyway(store.dataSource()).getConfiguration())
        .target("1")
        .load();
  }

  @Test
  void aScriptThatWasChangedSinceItRanStopsTheUpgrade() {
    assertThat(version1().migrate().migrationsExecuted).isEqualTo(1);
    plant("update redrive_schema_history set checksum = 1 where version = '1'");
    assertThatThrownBy(() -> migrations().migrate())
        .isInstanceOf(FlywayException.class)
        .hasMessageContaining("checksum mismatch");
    assertThat(ourHistory()).containsExactly("1");
    dropAll();
    assertThat(migrations().migrate()).isEqualTo(ALL);
  }

  @Test
  void aDatabaseOfANewerVersionIsLeftToIt() {
    assertThat(migrations().migrate()).isEqualTo(ALL);
    plant(
        "update redrive_schema_history set version = '99', script = 'V99__x.sql' where version = '1'");
    assertThat(migrations().migrate()).isZero();
    assertThat(JobQueue.on(store.dsl()).submit(job("j1")).created()).isTrue();
  }

  @Test
  void case_7_2_theHostFirstAndEachRunsItsOwn() throws IOException {
    try (URLClassLoader host = host(1)) {
      assertThat(flyway(host).load().migrate().migrationsExecuted).isEqualTo(1);
      assertThat(migrations().migrate()).isEqualTo(ALL);
      assertThat(flyway(host).load().info().all()).hasSize(1);
      assertThat(rows("select * from flyway_schema_history")).hasSize(1);
    }
  }

  /** The one order that Flyway refuses by default; the README says so, and here is the way out. */
  @Test
  void case_7_2_redriveFirstAndTheHostNeedsABaseline() throws IOException {
    assertThat(migrations().migrate()).isEqualTo(ALL);
    try (URLClassLoader host = host(1)) {
      assertThatThrownBy(() -> flyway(host).load().migrate())
          .isInstanceOf(FlywayException.class)
          .hasMessageContaining("non-empty schema")
          .hasMessageContaining("no schema history table")
          .hasMessageContaining("baselineOnMigrate");
      assertThat(
              flyway(host)
                  .baselineOnMigrate(true)
                  .baselineVersion("0")
                  .load()
                  .migrate()
                  .migrationsExecuted)
          .isEqualTo(1);
    }
    assertThat(migrations().migrate()).isZero();
    assertThat(JobQueue.on(store.dsl()).submit(job("j1")).created()).isTrue();
  }

  @Test
  void noScriptOfOursLiesWhereAHostsFlywayLooks() throws IOException {
    ClassLoader loader = Migrations.class.getClassLoader();
    assertThat(Collections.list(loader.getResources("db/migration"))).isEmpty();
    String folder = "dev/redrive/migration/" + backend.engine().folder();
    assertThat(Collections.list(loader.getResources(folder))).hasSize(1);
    assertThat(migrations().migrate()).isEqualTo(ALL);
  }

  @Test
  void theEnginesScriptsPairUpAndTheNewestIsTheLatest() throws IOException {
    Map<String, List<String>> scripts = new TreeMap<>();
    try (Stream<Path> engines = Files.list(SCRIPTS)) {
      for (Path engine : engines.toList()) {
        scripts.put(String.valueOf(engine.getFileName()), names(engine));
      }
    }
    List<String> ours = scripts.get(backend.engine().folder());
    assertThat(Migrations.SCRIPTS).isEqualTo(ours);
    assertThat(scripts.values()).allSatisfy(others -> assertThat(others).isEqualTo(ours));
    assertThat(ours)
        .allMatch(name -> name.matches("V[1-9][0-9]*__[a-z_]+\\.sql"))
        .hasSize(ALL)
        .last()
        .asString()
        .startsWith("V" + Migrations.LATEST + "__");
    assertThat(migrations().migrate()).isEqualTo(ours.size());
  }

  private static List<String> names(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .map(file -> String.valueOf(file.getFileName()))
          .filter(name -> name.endsWith(".sql"))
          .sorted()
          .toList();
    }
  }

  @Test
  void verifyOnlyCreatesNothingAndSaysWhatToRun() {
    for (Runnable state : List.<Runnable>of(() -> {}, () -> version1().migrate())) {
      state.run();
      List<String> before = tables();
      assertThatIllegalStateException()
          .isThrownBy(() -> queue("default").verifyOnly().build())
          .withMessageMatching(".*tables are (missing|older than this version).*")
          .withMessageContaining("Migrations.of(dataSource).migrate()");
      assertThat(tables()).isEqualTo(before);
    }
    assertThat(migrations().migrate()).isEqualTo(ALL - 1);
    assertThat(queue("default").verifyOnly().build().submit(job("j1")).created()).isTrue();
  }

  private List<String> tables() {
    return Stream.of("jobs", "redrives", "redrive_schema_history").filter(this::exists).toList();
  }

  private boolean exists(String table) {
    try {
      return rows("select * from " + table) != null;
    } catch (IllegalStateException e) {
      return false;
    }
  }

  @Test
  void tablesMadeByHandAreTakenWhenComplete() {
    assertThat(migrations().migrate()).isEqualTo(ALL);
    plant("drop table redrive_schema_history");
    assertThat(queue("default").verifyOnly().build().submit(job("j1")).created()).isTrue();
    assertThat(queue("default").build().submit(job("j2")).created()).isTrue();
    assertThat(migrations().migrate()).isZero();
    assertThat(exists("redrive_schema_history")).isFalse();
  }

  @Test
  void tablesMadeByHandAreRefusedWhenAColumnIsMissing() {
    assertThat(migrations().migrate()).isEqualTo(ALL);
    plant("drop table redrive_schema_history");
    for (String column :
        List.of("jobs.payload", "jobs.due_at", "redrives.previous_investigation")) {
      String table = column.substring(0, column.indexOf('.'));
      String name = column.substring(column.indexOf('.') + 1);
      plant("alter table " + table + " rename column " + name + " to other");
      assertThatIllegalStateException()
          .isThrownBy(() -> queue("default").verifyOnly().build())
          .withMessageContaining("missing: column " + column);
      assertThatIllegalStateException()
          .isThrownBy(() -> queue("default").build())
          .withMessageContaining("Run what is missing");
      plant("alter table " + table + " rename column other to " + name);
    }
    assertThat(queue("default").build().submit(job("j1")).created()).isTrue();
  }

  @Test
  void aHostsTableOfOurNameIsNamedAndLeftAlone() {
    plant("create table jobs (id integer)");
    assertThatIllegalStateException()
        .isThrownBy(() -> migrations().migrate())
        .withMessageContaining("has a table jobs that redrive did not create");
    assertThat(tables()).containsExactly("jobs");
    plant("drop table jobs");
    assertThat(migrations().migrate()).isEqualTo(ALL);
  }

  /** A host's class path: its own scripts under db/migration, and redrive's jar. */
  private URLClassLoader host(int scripts) throws IOException {
    Path migrations = Files.createDirectories(folder.resolve("db").resolve("migration"));
    List<String> all =
        List.of(
            "create table customers (id integer)",
            "insert into customers values (1)",
            "insert into customers values (2)");
    for (int i = 0; i < scripts; i++) {
      Files.writeString(
          migrations.resolve("V" + (i + 1) + "__host.sql"), all.get(i) + ";\n", UTF_8);
    }
    URL[] own = {folder.toUri().toURL()};
    return new URLClassLoader(own, Migrations.class.getClassLoader());
  }

  /** As a host calls it, with default settings. */
  private FluentConfiguration flyway(ClassLoader host) {
    return Flyway.configure(host).dataSource(store.dataSource());
  }

  private List<String> ourHistory() {
    return rows("select version from redrive_schema_history order by installed_rank").stream()
        .map(row -> String.valueOf(row.get("version")))
        .toList();
  }
}
