package dev.redrive;

import java.lang.ref.WeakReference;
import java.sql.SQLException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.sqlite.SQLiteConnection;
import org.sqlite.SQLiteErrorCode;
import org.sqlite.SQLiteException;

/**
 * Whose turn in this JVM it is to write to a file. SQLite's own busy wait is unfair; this queue is
 * first come, first served. It only orders: what keeps two writers apart is SQLite.
 */
final class SqliteWriteLock {
  private static final Map<String, SqliteWriteLock> BY_FILE = new ConcurrentHashMap<>();

  private final String file;
  private final Semaphore turn = new Semaphore(1, true);
  private final AtomicReference<@Nullable WeakReference<SQLiteConnection>> holder =
      new AtomicReference<>();

  private volatile @Nullable Thread thread;

  private SqliteWriteLock(String file) {
    this.file = file;
  }

  static SqliteWriteLock of(String file) {
    return BY_FILE.computeIfAbsent(file, SqliteWriteLock::new);
  }

  /**
   * Waits until it is this thread's turn. Like SQLite's own wait, this is not cut short by an
   * interrupt: a worker that is told to stop can still finish what it did.
   *
   * @param end when patience is over, as {@link System#nanoTime}
   * @throws SQLException BUSY, if it is over
   */
  void await(long end) throws SQLException {
    if (thread == Thread.currentThread()) {
      if (isLeftBehind()) {
        return;
      }
      throw new SQLiteException(
          "this thread has a transaction open on "
              + file
              + ", which a second one would wait for in vain;"
              + " to be part of it, use JobQueue.within(tx.dsl())",
          SQLiteErrorCode.SQLITE_BUSY);
    }
    boolean interrupted = false;
    try {
      for (; ; ) {
        try {
          if (turn.tryAcquire(end - System.nanoTime(), TimeUnit.NANOSECONDS) || isLeftBehind()) {
            return;
          }
          throw new SQLiteException(
              "another transaction of this JVM kept the write lock of "
                  + file
                  + " for the whole busy timeout",
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

  /** A transaction whose end was never asked for holds its turn, until its connection is closed. */
  private boolean isLeftBehind() throws SQLException {
    WeakReference<SQLiteConnection> last = holder.get();
    if (last == null) {
      return false;
    }
    SQLiteConnection connection = last.get();
    return (connection == null || connection.isClosed()) && holder.compareAndSet(last, null);
  }

  /** Says which connection the turn is used with, and that it is this thread's. */
  void use(SQLiteConnection connection) {
    holder.set(new WeakReference<>(connection));
    thread = Thread.currentThread();
  }

  void release() {
    thread = null;
    holder.set(null);
    turn.release();
  }
}
