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
  private final Semaphore permit = new Semaphore(1, true);
  private final AtomicReference<@Nullable Turn> holder = new AtomicReference<>();

  private SqliteWriteLock(String file) {
    this.file = file;
  }

  static SqliteWriteLock of(String file) {
    return BY_FILE.computeIfAbsent(file, SqliteWriteLock::new);
  }

  /** One transaction's turn. It is given back once, unless another has taken it over by then. */
  final class Turn {
    private final Thread thread = Thread.currentThread();
    private volatile @Nullable WeakReference<SQLiteConnection> connection;

    /** Says which connection it is used with. */
    void use(SQLiteConnection used) {
      connection = new WeakReference<>(used);
    }

    /**
     * A transaction whose end was never asked for keeps its turn until its connection is closed.
     */
    private boolean isLeftBehind() throws SQLException {
      WeakReference<SQLiteConnection> used = connection;
      if (used == null) {
        return false;
      }
      SQLiteConnection open = used.get();
      return open == null || open.isClosed();
    }

    void end() {
      if (holder.compareAndSet(this, null)) {
        permit.release();
      }
    }
  }

  /**
   * Waits until it is this thread's turn. Like SQLite's own wait, this is not cut short by an
   * interrupt: a worker that is told to stop can still finish what it did.
   *
   * @param end when patience is over, as {@link System#nanoTime}
   * @throws SQLException BUSY, if it is over, or if this thread would wait for itself
   */
  Turn await(long end) throws SQLException {
    Turn mine = new Turn();
    Turn other = holder.get();
    if (other != null && other.thread == mine.thread) {
      if (takesOver(other, mine)) {
        return mine;
      }
      throw busy(
          "this thread has a transaction open on "
              + file
              + ", which a second one would wait for in vain;"
              + " to be part of it, use JobQueue.within(tx.dsl())");
    }
    boolean interrupted = false;
    try {
      for (; ; ) {
        try {
          if (permit.tryAcquire(end - System.nanoTime(), TimeUnit.NANOSECONDS)) {
            holder.set(mine);
            return mine;
          }
          if (takesOver(holder.get(), mine)) {
            return mine;
          }
          throw busy(
              "another thread of this JVM kept the turn to write to "
                  + file
                  + " for the whole busy timeout");
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

  private boolean takesOver(@Nullable Turn other, Turn mine) throws SQLException {
    return other != null && other.isLeftBehind() && holder.compareAndSet(other, mine);
  }

  private static SQLException busy(String message) {
    return new SQLiteException(message, SQLiteErrorCode.SQLITE_BUSY);
  }
}
