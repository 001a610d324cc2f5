package dev.redrive;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
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
      pool = pool(settings);
    } catch (NoClassDefFoundError e) {
      throw new IllegalStateException(
          "Engine.sqlite needs com.zaxxer:HikariCP and org.xerial:sqlite-jdbc on the class path;"
              + " add both, or give JobQueue a data source of your own",
          e);
    }
    try {
      Migrations.of(pool).migrate();
      return new SqliteDatabase(pool);
    } catch (RuntimeException | Error e) {
      pool.close();
      throw e;
    }
  }

  private static HikariDataSource pool(SqliteFile settings) {
    SQLiteConfig sqlite = new SQLiteConfig();
    sqlite.setJournalMode(JournalMode.valueOf(settings.journal().name()));
    sqlite.setSynchronous(SynchronousMode.FULL);
    sqlite.enforceForeignKeys(true);
    sqlite.setBusyTimeout((int) settings.busyTimeout().toMillis());
    SQLiteDataSource source = new SQLiteDataSource(sqlite);
    source.setUrl("jdbc:sqlite:" + settings.file());

    HikariConfig config = new HikariConfig();
    config.setPoolName("redrive-" + settings.file().getFileName());
    config.setDataSource(source);
    config.setMaximumPoolSize(settings.connections());
    config.setMinimumIdle(1);
    settleJournal(source, settings);
    return new HikariDataSource(config);
  }

  /** SQLite changes the journal only while nobody else is at work, and does not wait for that. */
  private static void settleJournal(DataSource source, SqliteFile settings) {
    long start = System.nanoTime();
    for (; ; ) {
      try {
        refuseOtherJournal(source, settings);
        return;
      } catch (SQLException e) {
        if (!SqliteConnections.busy(e)
            || System.nanoTime() - start >= settings.busyTimeout().toNanos()) {
          throw new DataAccessException("Cannot open the database: " + e.getMessage(), e);
        }
      }
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
    }
  }

  /** SQLite keeps another mode without an error where it can't change it. */
  private static void refuseOtherJournal(DataSource source, SqliteFile settings)
      throws SQLException {
    String wanted = settings.journal().name();
    try (Connection connection = source.getConnection();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("pragma journal_mode")) {
      String found = rows.next() ? rows.getString(1) : "unknown";
      if (!wanted.equalsIgnoreCase(found)) {
        throw new IllegalStateException(
            String.format(
                "%s keeps journal mode %s and does not take %s: another process has it open;"
                    + " choose the same journal everywhere",
                settings.file(), found, wanted));
      }
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
