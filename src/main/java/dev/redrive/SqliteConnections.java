package dev.redrive;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.sqlite.SQLiteConfig.TransactionMode;
import org.sqlite.SQLiteConnection;
import org.sqlite.SQLiteErrorCode;
import org.sqlite.SQLiteException;

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

  private static final Map<SQLiteConnection, Known> KNOWN =
      Collections.synchronizedMap(new WeakHashMap<>());
  private static final Map<String, Semaphore> WRITE_LOCKS = new ConcurrentHashMap<>();

  private SqliteConnections() {}

  /**
   * A connection whose settings are good.
   *
   * @param writeLock fair, one permit, shared by all connections of this JVM to the file
   */
  record Known(String file, Semaphore writeLock, long busyTimeoutMillis) {

    /**
     * Waits for this JVM's turn to write, at most as long as SQLite would wait for the others. Like
     * SQLite's own wait, it is not cut short by an interrupt: a worker that is told to stop can
     * still finish what it did.
     */
    void awaitTurn() throws SQLException {
      long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(busyTimeoutMillis);
      boolean interrupted = false;
      try {
        for (; ; ) {
          try {
            if (writeLock.tryAcquire(end - System.nanoTime(), TimeUnit.NANOSECONDS)) {
              return;
            }
            throw new SQLiteException(
                "another transaction of this JVM kept the write lock of "
                    + file
                    + " for the busy timeout of "
                    + busyTimeoutMillis
                    + " ms",
                SQLiteErrorCode.SQLITE_BUSY);
          } catch (InterruptedException e) {
            interrupted = true;
          }
        }
      } finally {
        if (interrupted) {
          Thread.currentThread().interrupt();
        }
      }
    }
  }

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
      String file = Path.of(databaseFile(sqlite)).toAbsolutePath().normalize().toString();
      Semaphore writeLock = WRITE_LOCKS.computeIfAbsent(file, any -> new Semaphore(1, true));
      known = new Known(file, writeLock, pragma(sqlite, "busy_timeout"));
      KNOWN.put(sqlite, known);
    }
    return known;
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

  static boolean busy(SQLException e) {
    return (e.getErrorCode() & 0xff) == SQLiteErrorCode.SQLITE_BUSY.code;
  }

  static boolean causedByBusy(@Nullable Throwable e) {
    for (Throwable cause = e; cause != null; cause = cause.getCause()) {
      if (cause instanceof SQLException sql && busy(sql)) {
        return true;
      }
    }
    return false;
  }
}
