package dev.redrive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import javax.sql.DataSource;
import org.jooq.SQLDialect;
import org.jooq.impl.DSL;
import org.jooq.tools.jdbc.MockConnection;
import org.jooq.tools.jdbc.MockResult;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteConfig.JournalMode;
import org.sqlite.SQLiteConfig.Pragma;
import org.sqlite.SQLiteConfig.SynchronousMode;
import org.sqlite.SQLiteConfig.TransactionMode;
import org.sqlite.SQLiteConnection;
import org.sqlite.SQLiteDataSource;

/** Data sources that a host brings itself: what is refused, and what is left as it was. */
class SqliteHostTest {
  private static final Duration LEASE = Duration.ofSeconds(30);

  @TempDir private Path folder;

  @ParameterizedTest
  @CsvSource({
    "FOREIGN_KEYS, false, has foreign keys off",
    "BUSY_TIMEOUT, 0, has no busy timeout",
    "JOURNAL_MODE, OFF, has journal_mode off",
    "JOURNAL_MODE, MEMORY, has journal_mode memory",
    "SYNCHRONOUS, NORMAL, does not have synchronous=FULL",
    "SYNCHRONOUS, OFF, does not have synchronous=FULL"
  })
  void aSettingThatBreaksAPromiseIsRefusedByName(Pragma pragma, String value, String complaint)
      throws SQLException {
    SQLiteConfig config = good();
    config.setPragma(pragma, value);
    DataSource source = source(config);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> JobQueue.on(DSL.using(source, SQLDialect.SQLITE)))
        .withMessageStartingWith("dsl: its connection " + complaint);
    assertThatIllegalStateException()
        .isThrownBy(() -> Migrations.of(source).migrate())
        .withMessageStartingWith("the SQLite connection " + complaint);
    try (Connection connection = source.getConnection()) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> JobQueue.on(DSL.using(connection, SQLDialect.SQLITE)))
          .withMessageStartingWith("dsl: its connection " + complaint);
      assertThat(tables(connection)).isZero();
    }
  }

  @Test
  void aDriverWithAnOlderSqliteIsRefused() {
    DatabaseMetaData older =
        (DatabaseMetaData)
            Proxy.newProxyInstance(
                SqliteHostTest.class.getClassLoader(),
                new Class<?>[] {DatabaseMetaData.class},
                (proxy, method, arguments) ->
                    switch (method.getName()) {
                      case "getDatabaseMajorVersion" -> 3;
                      case "getDatabaseMinorVersion" -> 43;
                      default -> "3.43.2";
                    });
    assertThatIllegalStateException()
        .isThrownBy(() -> SqliteCatalog.refuseOldSqlite(older))
        .withMessageContaining("SQLite 3.44 or newer, and the driver has 3.43.2");
  }

  /** Case 5.4: each connection would have a database of its own. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "jdbc:sqlite::memory:",
        "jdbc:sqlite:",
        "jdbc:sqlite:file:m?mode=memory&cache=shared"
      })
  void aDatabaseInMemoryIsRefused(String url) {
    SQLiteDataSource memory = new SQLiteDataSource(good());
    memory.setUrl(url);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> JobQueue.on(DSL.using(memory, SQLDialect.SQLITE)))
        .withMessageStartingWith("dsl: its connection is an in-memory or temporary database")
        .withMessageEndingWith("use a file");
    HikariConfig two = new HikariConfig();
    two.setDataSource(memory);
    two.setMaximumPoolSize(2);
    try (HikariDataSource pool = new HikariDataSource(two)) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> JobQueue.on(DSL.using(pool, SQLDialect.SQLITE)))
          .withMessageEndingWith("use a file");
    }
  }

  @ParameterizedTest
  @EnumSource(value = TransactionMode.class, names = "DEFERRED", mode = EnumSource.Mode.EXCLUDE)
  void aPoolThatHoldsTheWriteLockWhileIdleIsRefused(TransactionMode mode) {
    try (HikariDataSource pool = pool(mode, false)) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> JobQueue.on(DSL.using(pool, SQLDialect.SQLITE)))
          .withMessageContaining("auto-commit off and transaction mode " + mode)
          .withMessageContaining("holds the write lock while it lies idle");
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"DELETE", "TRUNCATE", "PERSIST", "WAL"})
  void everyDurableJournalIsTaken(JournalMode journal) {
    SQLiteConfig config = good();
    config.setJournalMode(journal);
    everythingWorks(JobQueue.on(DSL.using(source(config), SQLDialect.SQLITE)));
  }

  @ParameterizedTest
  @EnumSource
  void aHostsPoolIsLeftAsItWas(TransactionMode mode) throws SQLException {
    try (HikariDataSource pool = pool(mode, true)) {
      everythingWorks(JobQueue.on(DSL.using(pool, SQLDialect.SQLITE)));
      try (Connection connection = pool.getConnection()) {
        SQLiteConnection sqlite = connection.unwrap(SQLiteConnection.class);
        assertThat(sqlite.getConnectionConfig().getTransactionMode()).isEqualTo(mode);
        assertThat(connection.getAutoCommit()).isTrue();
        assertThat(sqlite.getAutoCommit()).isTrue();
      }
    }
  }

  @Test
  void aConnectionWhoseCommitFailedIsNotUsedAgain() throws SQLException {
    try (HikariDataSource pool = pool(TransactionMode.DEFERRED, true);
        Connection reader = source(good()).getConnection();
        Statement read = reader.createStatement()) {
      JobQueue queue = JobQueue.on(DSL.using(pool, SQLDialect.SQLITE));
      SQLiteConnection before = only(pool);
      assertThat(queue.submit(NewJob.of("j1", "{}")).created()).isTrue();
      assertThat(only(pool)).isSameAs(before);

      reader.setAutoCommit(false);
      try (ResultSet rows = read.executeQuery("select * from jobs")) {
        assertThat(rows.next()).isTrue();
        assertThatThrownBy(() -> queue.submit(NewJob.of("j2", "{}")))
            .hasMessageContaining("SQLITE_BUSY");
      }
      reader.rollback();
      assertThat(only(pool)).isNotSameAs(before);
      PostgresqlTest.await(before::isClosed); // the pool has a thread for that
      assertThat(queue.find("j2")).isEmpty();
      assertThat(queue.submit(NewJob.of("j2", "{}")).created()).isTrue();
    }
  }

  /** The physical connection of a pool of one. */
  private static SQLiteConnection only(DataSource pool) throws SQLException {
    try (Connection connection = pool.getConnection()) {
      return connection.unwrap(SQLiteConnection.class);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"H2", "MYSQL", "MARIADB", "DERBY", "DEFAULT"})
  void anotherDialectIsRefusedWithThoseThatAreSupported(SQLDialect dialect) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> JobQueue.on(DSL.using(source(good()), dialect)))
        .withMessageStartingWith(
            "dsl must be of a dialect that redrive runs on, SQLITE or POSTGRES")
        .withMessageEndingWith("it is of " + dialect);
  }

  @Test
  void aDataSourceOfAnotherDatabaseIsRefusedAsSuch() {
    DataSource other =
        (DataSource)
            Proxy.newProxyInstance(
                DataSource.class.getClassLoader(),
                new Class<?>[] {DataSource.class},
                (proxy, method, arguments) -> new MockConnection(context -> new MockResult[0]));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Migrations.of(other))
        .withMessageStartingWith("database must be of a dialect");
  }

  @Test
  void settingsOfAFileThatAreOutOfRangeAreRefusedByName() {
    SqliteFile file = Engine.sqlite(folder.resolve("orders.db"));
    for (int connections : new int[] {0, -1, 65, Integer.MAX_VALUE}) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> file.connections(connections))
          .withMessageStartingWith("connections must be 1 to 64");
    }
    Duration hour = Duration.ofHours(1);
    for (Duration timeout : List.of(Duration.ZERO, Duration.ofNanos(999_999), hour.plusNanos(1))) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> file.busyTimeout(timeout))
          .withMessageStartingWith("busyTimeout must be 1 ms to");
    }
    everythingWorks(file.busyTimeout(hour).connections(1));
    everythingWorks(file.busyTimeout(Duration.ofMillis(1)).connections(64));
  }

  private static void everythingWorks(SqliteFile file) {
    try (SqliteDatabase database = file.open()) {
      everythingWorks(JobQueue.builder(database.dsl()).name("n" + file.connections()).build());
    }
  }

  @Test
  void aContextWithoutAConnectionIsRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> JobQueue.on(DSL.using(SQLDialect.SQLITE)))
        .withMessage("dsl must have a connection or a data source");
  }

  @Test
  void withoutHikariEngineSaysSoAndAHostsDataSourceWorks() throws IOException {
    try (ChildJvm child =
        ChildJvm.without("HikariCP", SqliteWithoutHikari.class, folder.toString())) {
      assertThat(child.hear())
          .startsWith("IllegalStateException: Engine.sqlite needs com.zaxxer:HikariCP");
      child.expect("engine.db is not there");
      child.expect("CREATED");
      child.expect("busy: SQLITE_BUSY");
      child.expect("finished: true");
    }
  }

  private static void everythingWorks(JobQueue queue) {
    assertThat(queue.submit(NewJob.of("j1", "{}")).created()).isTrue();
    Lease lease = queue.claim("A", LEASE).orElseThrow();
    assertThat(queue.finish(lease, Outcome.permanent("http-422"))).isTrue();
    Redrive order = Redrive.note("OPS-17").approvedBy("kim").deadline(LEASE);
    assertThat(queue.redrive(queue.find("j1").orElseThrow(), order)).isTrue();
  }

  private static SQLiteConfig good() {
    SQLiteConfig config = new SQLiteConfig();
    config.enforceForeignKeys(true);
    config.setSynchronous(SynchronousMode.FULL);
    config.setBusyTimeout(50);
    return config;
  }

  private SQLiteDataSource source(SQLiteConfig config) {
    SQLiteDataSource source = new SQLiteDataSource(config);
    source.setUrl("jdbc:sqlite:" + folder.resolve("host.db"));
    return source;
  }

  private HikariDataSource pool(TransactionMode mode, boolean autoCommit) {
    SQLiteConfig config = good();
    config.setTransactionMode(mode);
    HikariConfig pool = new HikariConfig();
    pool.setDataSource(source(config));
    pool.setMaximumPoolSize(1);
    pool.setAutoCommit(autoCommit);
    return new HikariDataSource(pool);
  }

  private static int tables(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("select count(*) from sqlite_schema")) {
      return rows.getInt(1);
    }
  }
}
