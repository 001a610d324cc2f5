package dev.redrive;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import org.jooq.DSLContext;
import org.jooq.SQLDialect;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.DSL;
import org.jooq.impl.DataSourceConnectionProvider;
import org.jooq.impl.DefaultConfiguration;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteConfig.JournalMode;
import org.sqlite.SQLiteConfig.SynchronousMode;
import org.sqlite.SQLiteDataSource;

/** An open SQLite file with redrive's tables in it. Other tables of the host's may lie beside. */
public final class SqliteDatabase implements AutoCloseable {
  private final HikariDataSource pool;
  private final DSLContext dsl;

  private SqliteDatabase(HikariDataSource pool) {
    this.pool = pool;
    this.dsl =
        DSL.using(
            new DefaultConfiguration()
                .set(SQLDialect.SQLITE)
                .set(new DataSourceConnectionProvider(pool))
                .set(new SqliteTransactionProvider()));
  }

  static SqliteDatabase open(SqliteFile settings) {
    HikariDataSource pool;
    try {
      HikariConfig config = config(settings);
      refuseOtherJournal(settings);
      settleJournal(source(settings, journal(settings)), settings.busyTimeout());
      pool = new HikariDataSource(config);
    } catch (NoClassDefFoundError e) {
      throw new IllegalStateException(
          "Engine.sqlite needs com.zaxxer:HikariCP and org.xerial:sqlite-jdbc on the class path;"
              + " add both, or give JobQueue a data source of your own",
          e);
    }
    try {
      Migrations.of(pool).migrate();
      refuseOtherJournal(settings); // that of who created the file at the same moment
      return new SqliteDatabase(pool);
    } catch (RuntimeException | Error e) {
      pool.close();
      throw e;
    }
  }

  private static HikariConfig config(SqliteFile settings) {
    SQLiteConfig sqlite = new SQLiteConfig();
    sqlite.setSynchronous(SynchronousMode.FULL);
    sqlite.enforceForeignKeys(true);
    sqlite.setBusyTimeout((int) settings.busyTimeout().toMillis());

    HikariConfig config = new HikariConfig();
    config.setPoolName("redrive-" + settings.file().getFileName());
    config.setDataSource(source(settings, sqlite));
    config.setMaximumPoolSize(settings.connections());
    config.setMinimumIdle(1);
    return config;
  }

  /** Only for the first connection to a new file: the mode stays with the file. */
  private static SQLiteConfig journal(SqliteFile settings) {
    SQLiteConfig sqlite = new SQLiteConfig();
    sqlite.setJournalMode(JournalMode.valueOf(settings.journal().name()));
    sqlite.setBusyTimeout((int) settings.busyTimeout().toMillis());
    return sqlite;
  }

  private static SQLiteDataSource source(SqliteFile settings, SQLiteConfig config) {
    SQLiteDataSource source = new SQLiteDataSource(config);
    source.setUrl("jdbc:sqlite:" + settings.file());
    return source;
  }

  /**
   * A file's journal is changed by whoever opens it, under the feet of those who have it open: they
   * can open no further connection then. So only a file that is still empty takes the one chosen.
   */
  private static void refuseOtherJournal(SqliteFile settings) {
    SQLiteConfig asItIs = new SQLiteConfig();
    asItIs.setBusyTimeout((int) settings.busyTimeout().toMillis());
    try (Connection connection = source(settings, asItIs).getConnection();
        Statement statement = connection.createStatement()) {
      // in this order: who creates it meanwhile chooses its journal first
      boolean empty = first(statement, "select count(*) from sqlite_master").equals("0");
      String found = first(statement, "pragma journal_mode");
      if (!empty && !settings.journal().name().equalsIgnoreCase(found)) {
        throw new IllegalStateException(
            String.format(
                "%s has journal mode %s, not %s: choose that one with journal(Journal.%s),"
                    + " or change the file while nobody has it open, with sqlite3 and pragma"
                    + " journal_mode = %s",
                settings.file(),
                found,
                settings.journal(),
                found.toUpperCase(Locale.ROOT),
                settings.journal().name().toLowerCase(Locale.ROOT)));
      }
    } catch (SQLException e) {
      throw new DataAccessException("Cannot open " + settings.file() + ": " + e.getMessage(), e);
    }
  }

  /** A new file takes its journal only while no other process is at work on it; so this waits. */
  private static void settleJournal(DataSource source, Duration patience) {
    long start = System.nanoTime();
    while (!isOpened(source, System.nanoTime() - start >= patience.toNanos())) {
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
    }
  }

  private static boolean isOpened(DataSource source, boolean lastTry) {
    try {
      source.getConnection().close();
      return true;
    } catch (SQLException e) {
      if (lastTry || !SqliteConnections.busy(e)) {
        throw new DataAccessException("Cannot open the database: " + e.getMessage(), e);
      }
      return false;
    }
  }

  private static String first(Statement statement, String query) throws SQLException {
    try (ResultSet rows = statement.executeQuery(query)) {
      return rows.next() ? String.valueOf(rows.getString(1)) : "";
    }
  }

  /**
   * The pool.
   *
   * @return a data source that this database closes
   */
  public DataSource dataSource() {
    return pool;
  }

  /**
   * jOOQ on the pool, with {@link SqliteTransactionProvider}. It serves a {@link JobQueue} and the
   * host's own statements.
   *
   * @return the context
   */
  public DSLContext dsl() {
    return dsl;
  }

  /** Closes the pool. Calls under way fail; what was answered is stored. */
  @Override
  public void close() {
    pool.close();
  }
}
