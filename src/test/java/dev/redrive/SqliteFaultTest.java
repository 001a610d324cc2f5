package dev.redrive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.EnumSource.Mode.EXCLUDE;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;
import org.jooq.DSLContext;
import org.jooq.SQLDialect;
import org.jooq.impl.DSL;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteConfig.SynchronousMode;
import org.sqlite.SQLiteDataSource;

/**
 * Whatever happens to a SQLite file: each kind of call tells it, loses nothing, locks no other
 * process out, and works on the same queue and pool when it is over.
 */
@ParameterizedClass(name = "{0}")
@EnumSource(Journal.class)
class SqliteFaultTest {
  /** Mounts a file system of 2 MB that only the process itself sees. */
  private static final List<String> SMALL_DISK =
      List.of(
          "unshare",
          "--map-root-user",
          "--mount",
          "sh",
          "-c",
          "mount -t tmpfs -o size=2m tmpfs FOLDER && exec \"$@\"",
          "sh");

  /** Permissions mean something to root then. */
  private static final List<String> WITHOUT_PRIVILEGES = List.of("unshare", "-U");

  @TempDir private static Path folder;
  private static Desk laid;
  private static ChildJvm neighbour;
  private static @Nullable ChildJvm smallDisk;
  private static @Nullable ChildJvm ordinary;

  @Parameter Journal journal;

  private Path file;
  private SqliteDatabase database;

  @BeforeAll
  static void startNeighbour() throws IOException {
    neighbour = ChildJvm.start(SqliteNeighbour.class);
  }

  @AfterAll
  static void endOthers() {
    for (ChildJvm other : Arrays.asList(neighbour, smallDisk, ordinary)) {
      if (other != null) {
        other.close();
      }
    }
    smallDisk = null;
    ordinary = null;
  }

  @BeforeEach
  void open() throws IOException {
    file = folder.resolve(UUID.randomUUID() + ".db");
    Files.copy(template(), file);
    database =
        Engine.sqlite(file)
            .journal(journal)
            .busyTimeout(Duration.ofMillis(50))
            .connections(2)
            .open();
    neighbour(file.toString());
  }

  /** A file with a desk in it. */
  private Path template() {
    Path template = folder.resolve(journal + ".db");
    if (Files.notExists(template)) {
      try (SqliteDatabase database = Engine.sqlite(template).journal(journal).open()) {
        laid = Desk.lay(database.dsl(), "trial");
      }
    }
    return template;
  }

  @AfterEach
  void close() {
    neighbour.say("");
    database.close();
  }

  /** Has the other process do something. */
  private static void neighbour(String word) throws IOException {
    neighbour.say(word);
    neighbour.expect("ok");
  }

  private Trial trial(Call call) {
    return trial(call, database.dsl());
  }

  private Trial trial(Call call, DSLContext dsl) {
    return new Trial(call, dsl, source(5_000), laid.of(dsl, "trial"));
  }

  private SQLiteDataSource source(int busyTimeoutMillis) {
    SQLiteConfig config = new SQLiteConfig();
    config.enforceForeignKeys(true);
    config.setSynchronous(SynchronousMode.FULL);
    config.setBusyTimeout(busyTimeoutMillis);
    SQLiteDataSource source = new SQLiteDataSource(config);
    source.setUrl("jdbc:sqlite:" + file);
    return source;
  }

  /** Nothing was lost, nobody is locked out, and the call works. */
  private static void isMended(Trial trial) throws IOException {
    neighbour("write and commit");
    trial.changedNothing();
    trial.works();
  }

  @ParameterizedTest
  @EnumSource
  void anotherWriterThatOutstaysTheBusyTimeoutKeepsOnlyWritersOut(Call call) throws IOException {
    Trial trial = trial(call);
    neighbour("write");
    if (call.reads()) {
      trial.works();
    } else {
      assertThat(trial.failure()).hasMessageContaining("SQLITE_BUSY");
    }
    neighbour("commit");
    isMended(trial);
  }

  /** As while another process brings its transaction into the file. */
  @ParameterizedTest
  @EnumSource
  void aFileThatAnotherKeepsToItselfIsBusy(Call call) throws IOException {
    Trial trial = trial(call);
    neighbour("keep to itself");
    if (call.reads() && journal == Journal.WAL) {
      trial.works();
    } else {
      assertThat(trial.failure()).hasMessageContaining("SQLITE_BUSY");
    }
    neighbour("commit");
    isMended(trial);
  }

  /** In the rollback journal it makes the COMMIT fail. */
  @ParameterizedTest
  @EnumSource(
      names = {"FIND", "REPORT"},
      mode = EXCLUDE)
  void aReaderThatOutstaysTheBusyTimeoutLetsNoCommitThrough(Call call) throws IOException {
    Trial trial = trial(call);
    neighbour("read");
    if (journal == Journal.WAL) {
      trial.works();
      neighbour("commit");
    } else {
      assertThat(trial.failure()).hasMessageContaining("SQLITE_BUSY");
      neighbour("commit");
      isMended(trial);
    }
  }

  /** Its own transaction has begun before, DEFERRED, and goes on. */
  @ParameterizedTest
  @EnumSource(
      names = {"FIND", "REPORT", "BULK_REDRIVE"},
      mode = EXCLUDE)
  void busyInTheMiddleOfAHostsTransactionUndoesOnlyTheCall(Call call) throws Exception {
    Trial trial = trial(call);
    try (Connection host = source(50).getConnection()) {
      host.setAutoCommit(false);
      Desk inside =
          trial.desk().through(trial.desk().queue().within(DSL.using(host, SQLDialect.SQLITE)));
      neighbour("write");
      assertThat(trial.failure(inside)).hasMessageContaining("SQLITE_BUSY");
      neighbour("commit");
      neighbour("write and commit");
      trial.works(inside);
      trial.changedNothing();
      host.commit();
    }
    trial.isStoredWhole();
  }

  @ParameterizedTest
  @EnumSource
  void aFileThatIsNoDatabaseAnyMoreIsAnError(Call call) throws IOException {
    isAnErrorUntilRestored(call, "overwrite", "SQLITE_NOTADB");
  }

  @ParameterizedTest
  @EnumSource
  void aFileFullOfRubbishIsAnError(Call call) throws IOException {
    isAnErrorUntilRestored(call, "overwrite all but the first page", "SQLITE_CORRUPT");
  }

  @ParameterizedTest
  @EnumSource
  void aFileThatLostItsEndIsAnError(Call call) throws IOException {
    isAnErrorUntilRestored(call, "cut off all but the first page", "SQLITE_CORRUPT");
  }

  private void isAnErrorUntilRestored(Call call, String damage, String error) throws IOException {
    Trial trial = trial(call);
    neighbour(damage);
    assertThat(trial.failure()).hasMessageContaining(error);
    neighbour("restore");
    isMended(trial);
  }

  /** Something else lies where the rollback journal has to be created. */
  @ParameterizedTest
  @EnumSource
  void aJournalThatCannotBeCreatedIsAnError(Call call) throws IOException {
    Trial trial = trial(call);
    Path inTheWay = Files.createDirectory(Path.of(file + "-journal"));
    if (journal == Journal.WAL) {
      trial.works(trial.desk());
      Files.delete(inTheWay);
      trial.isStoredWhole();
    } else {
      assertThat(trial.failure()).hasMessageContaining("SQLITE_");
      Files.delete(inTheWay);
      isMended(trial);
    }
  }

  @ParameterizedTest
  @EnumSource
  void aPoolWithoutAFreeConnectionIsAnError(Call call) throws Exception {
    try (HikariDataSource pool = pool(source(50), 250)) {
      Trial trial = trial(call, DSL.using(pool, SQLDialect.SQLITE));
      try (Connection taken = pool.getConnection()) {
        assertThat(trial.failure())
            .hasMessageContaining("Connection is not available, request timed out");
        assertThat(taken.getAutoCommit()).isTrue();
      }
      isMended(trial);
    }
  }

  private static HikariDataSource pool(DataSource source, long patienceMillis) {
    HikariConfig config = new HikariConfig();
    config.setDataSource(source);
    config.setMaximumPoolSize(1);
    config.setConnectionTimeout(patienceMillis);
    return new HikariDataSource(config);
  }

  /** As after the file's permissions or its file system were changed for a while. */
  @ParameterizedTest
  @EnumSource
  void aReadOnlyConnectionIsAnErrorAndIsReplaced(Call call) throws Exception {
    SQLiteDataSource source = source(50);
    String url = source.getUrl();
    try (HikariDataSource pool = pool(source, 10_000)) {
      Trial trial = trial(call, DSL.using(pool, SQLDialect.SQLITE));
      source.setUrl("jdbc:sqlite:file:" + file + "?mode=ro");
      pool.getHikariPoolMXBean().softEvictConnections();
      if (call.reads()) {
        trial.works();
      } else {
        assertThat(trial.failure()).hasMessageContaining("SQLITE_READONLY");
      }
      source.setUrl(url);
      isMended(trial);
    }
  }

  @ParameterizedTest
  @EnumSource
  void aFullDiskIsAnError(Call call) throws IOException {
    if (smallDisk == null) {
      smallDisk = inFolder("small-disk", SMALL_DISK);
    }
    smallDisk.say("full " + journal + " " + call);
    smallDisk.expect("ok");
  }

  /** Connections that were opened meanwhile are read-only for their lives. */
  @ParameterizedTest
  @EnumSource
  void aReadOnlyFolderIsAnError(Call call) throws IOException {
    if (ordinary == null) {
      ordinary = inFolder("ordinary", isRoot() ? WITHOUT_PRIVILEGES : List.of());
    }
    ordinary.say("read-only " + journal + " " + call);
    ordinary.expect("ok");
  }

  private static boolean isRoot() {
    return "root".equals(System.getProperty("user.name"));
  }

  private static ChildJvm inFolder(String name, List<String> command) throws IOException {
    Path in = Files.createDirectory(folder.resolve(UUID.randomUUID() + name));
    List<String> here =
        command.stream().map(word -> word.replace("FOLDER", in.toString())).toList();
    ChildJvm child = ChildJvm.under(here, SqliteFolder.class, in.toString());
    if (!child.hear().equals("ready")) {
      throw Proof.cannotRun("SqliteFaultTest in a folder of its own", "no process like " + here);
    }
    return child;
  }
}
