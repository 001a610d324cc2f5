package dev.redrive;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.WeakHashMap;
import javax.sql.DataSource;
import org.jooq.ConnectionProvider;
import org.jooq.impl.DataSourceConnectionProvider;
import org.jspecify.annotations.Nullable;
import org.sqlite.SQLiteConfig.TransactionMode;
import org.sqlite.SQLiteConnection;
import org.sqlite.SQLiteErrorCode;

/**
 * What redrive knows of SQLite connections: whether their settings keep its promises, and which
 * lock the write transactions of this JVM on their file queue on.
 *
 * <p>Foreign keys and the busy timeout belong to a connection, not to the file, so that one good
 * connection of a pool says nothing of the next: each is looked at once in its life.
 */
final class SqliteConnections {
  private static final Set<String> DURABLE_JOURNALS =
      Set.of("delete", "truncate", "persist", "wal");
  private static final int SYNCHRONOUS_FULL = 2;
  static final String UNDONE =
      "SQLite has undone the whole transaction on this connection, the host's work in it included;"
          + " roll back and begin anew on another connection: ";

  private static final Map<SQLiteConnection, Known> KNOWN =
      Collections.synchronizedMap(new WeakHashMap<>());
  private static final Set<DataSource> ROUTING =
      Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));
  private static final Set<DataSource> READ_ONLY =
      Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));
  private static final Map<DataSource, Known> LAST_OF_POOL =
      Collections.synchronizedMap(new WeakHashMap<>());

  private SqliteConnections() {}

  /** A connection whose settings are good. */
  record Known(SqliteWriteLock writeLock, long busyTimeoutMillis) {}

  static SQLiteConnection unwrap(Connection connection) throws SQLException {
    return connection.unwrap(SQLiteConnection.class);
  }

  /** Looks at a connection, at most once in its life unless its settings are bad. */
  static Known known(Connection connection) throws SQLException {
    SQLiteConnection sqlite = unwrap(connection);
    Known known = KNOWN.get(sqlite);
    if (known == null) {
      Optional<String> complaint = settingsComplaint(sqlite);
      if (complaint.isPresent()) {
        throw new IllegalStateException("the SQLite connection " + complaint.get());
      }
      known = new Known(SqliteWriteLock.of(databaseFile(sqlite)), pragma(sqlite, "busy_timeout"));
      KNOWN.put(sqlite, known);
    }
    return known;
  }

  /**
   * What a pool's connections were like so far: enough to wait for one's turn before taking one of
   * them, so that those who wait don't drain the pool that the others work with.
   */
  static Optional<Known> expected(ConnectionProvider connections) {
    return connections instanceof DataSourceConnectionProvider pool
            && !ROUTING.contains(pool.dataSource())
        ? Optional.ofNullable(LAST_OF_POOL.get(pool.dataSource()))
        : Optional.empty();
  }

  /** A data source that leads to more than one file tells nothing beforehand. */
  static void remember(ConnectionProvider connections, Known known) {
    if (connections instanceof DataSourceConnectionProvider pool) {
      Known last = LAST_OF_POOL.put(pool.dataSource(), known);
      if (last != null && last.writeLock() != known.writeLock()) {
        ROUTING.add(pool.dataSource());
      }
    }
  }

  /**
   * Takes down that a transaction failed because it could not write. A connection that was opened
   * while the file was read-only stays so after the file is not.
   */
  static void rememberReadOnly(ConnectionProvider connections) {
    pool(connections).ifPresent(READ_ONLY::add);
  }

  /** A pool whose connections may be read-only though the file is not; told once. */
  static Optional<DataSource> perhapsReadOnly(ConnectionProvider connections) {
    return pool(connections).filter(READ_ONLY::remove);
  }

  /** Where a provider has its connections from. */
  static Optional<DataSource> pool(ConnectionProvider connections) {
    ConnectionProvider origin =
        connections instanceof Transactions.Idle idle ? idle.origin() : connections;
    return origin instanceof DataSourceConnectionProvider pool
        ? Optional.ofNullable(pool.dataSource())
        : Optional.empty();
  }

  static Optional<String> complaint(Connection connection, boolean pooled) throws SQLException {
    if (!connection.isWrapperFor(SQLiteConnection.class)) {
      return Optional.of("is not one of sqlite-jdbc (org.xerial:sqlite-jdbc)");
    }
    SQLiteConnection sqlite = unwrap(connection);
    TransactionMode mode = sqlite.getConnectionConfig().getTransactionMode();
    if (pooled && !connection.getAutoCommit() && mode != TransactionMode.DEFERRED) {
      return Optional.of(
          "comes with auto-commit off and transaction mode "
              + mode
              + ": it holds the write lock while it lies idle in the pool;"
              + " switch auto-commit on, or the transaction mode to DEFERRED");
    }
    return settingsComplaint(sqlite);
  }

  private static Optional<String> settingsComplaint(SQLiteConnection sqlite) throws SQLException {
    String journal = text(sqlite, "pragma journal_mode", 1);
    if (databaseFile(sqlite).isEmpty()) {
      return Optional.of(
          "is an in-memory or temporary database, which belongs to one connection and is lost with"
              + " it; use a file");
    }
    if (pragma(sqlite, "foreign_keys") != 1) {
      return Optional.of(
          "has foreign keys off, so that the audit of redrives could lose its jobs; open it with"
              + " foreign_keys=on");
    }
    if (pragma(sqlite, "busy_timeout") < 1) {
      return Optional.of(
          "has no busy timeout, so that a second writer fails at once; open it with busy_timeout"
              + " set, 5000 for example");
    }
    if (!DURABLE_JOURNALS.contains(journal)) {
      return Optional.of(
          "has journal_mode " + journal + ", which loses work in a crash; use delete or wal");
    }
    if (pragma(sqlite, "synchronous") < SYNCHRONOUS_FULL) {
      return Optional.of(
          "does not have synchronous=FULL, so that a power cut loses answers already given; open it"
              + " with synchronous=FULL");
    }
    return Optional.empty();
  }

  private static String databaseFile(SQLiteConnection sqlite) throws SQLException {
    return text(sqlite, "pragma database_list", 3);
  }

  private static long pragma(SQLiteConnection sqlite, String name) throws SQLException {
    return Long.parseLong(text(sqlite, "pragma " + name, 1));
  }

  private static String text(SQLiteConnection sqlite, String query, int column)
      throws SQLException {
    try (Statement statement = sqlite.createStatement();
        ResultSet rows = statement.executeQuery(query)) {
      String value = rows.next() ? rows.getString(column) : null;
      return value == null ? "" : value;
    }
  }

  /**
   * Refuses a connection on which the driver believes a transaction to be open that SQLite has
   * undone, after a full disk for example: a savepoint would begin a new one and store it alone.
   */
  static void refuseUndone(Connection connection) throws SQLException {
    try (Statement statement = unwrap(connection).createStatement()) {
      statement.execute("begin");
    } catch (SQLException e) {
      if (String.valueOf(e.getMessage()).contains("within a transaction")) {
        return;
      }
      throw e;
    }
    unwrap(connection).close();
    throw new SQLException(UNDONE + "it was closed, so that nothing more is stored outside of one");
  }

  static boolean busy(SQLException e) {
    return is(e, SQLiteErrorCode.SQLITE_BUSY);
  }

  static boolean causedByBusy(@Nullable Throwable e) {
    return causedBy(e, SQLiteErrorCode.SQLITE_BUSY);
  }

  static boolean causedByReadOnly(@Nullable Throwable e) {
    return causedBy(e, SQLiteErrorCode.SQLITE_READONLY);
  }

  /** Or one of the codes that say it more exactly, in higher bits. */
  private static boolean is(SQLException e, SQLiteErrorCode code) {
    return (e.getErrorCode() & 0xff) == code.code;
  }

  private static boolean causedBy(@Nullable Throwable e, SQLiteErrorCode code) {
    for (Throwable cause = e; cause != null; cause = cause.getCause()) {
      if (cause instanceof SQLException sql && is(sql, code)) {
        return true;
      }
    }
    return false;
  }
}
