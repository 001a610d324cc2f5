package dev.redrive;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jooq.Configuration;
import org.jooq.ConnectionProvider;
import org.jooq.Transaction;
import org.jooq.TransactionContext;
import org.jooq.TransactionProvider;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.DataSourceConnectionProvider;
import org.jspecify.annotations.Nullable;
import org.sqlite.SQLiteConfig.TransactionMode;
import org.sqlite.SQLiteConnection;

/**
 * jOOQ transactions on SQLite that wait for their turn and know what a failed commit did. A host
 * sets it on its own configuration to give its transactions the same care; nested transactions are
 * savepoints.
 *
 * <p>Three things go wrong with the default provider. A transaction that reads before it writes
 * fails at once when another has written since, whatever the busy timeout: so ours begin IMMEDIATE.
 * SQLite's busy wait is unfair: so the transactions of this JVM on one file queue on a fair lock
 * first, for at most the busy timeout. And sqlite-jdbc begins the next transaction inside {@code
 * commit()} and {@code rollback()}, where a BUSY of that hidden BEGIN makes a commit throw although
 * the work is stored: so the mode is DEFERRED again before either, whose BEGIN takes no lock.
 *
 * <p>BUSY at BEGIN is repeated until the busy timeout is over: nothing has happened yet. BUSY at
 * COMMIT is asked about: if a rollback succeeds, nothing was stored, and the commit throws; if no
 * transaction is active any more, everything was. A connection whose BEGIN or COMMIT failed is
 * evicted from a HikariCP pool; one that may still hold a transaction is closed for good, or it
 * would lock out every other process. After a transaction that could not write because its
 * connection was read-only, the next one has the pool open connections anew.
 */
public final class SqliteTransactionProvider implements TransactionProvider {
  private static final System.Logger LOG =
      System.getLogger(SqliteTransactionProvider.class.getName());

  /** A provider without state: it takes connections from the configuration it is called for. */
  public SqliteTransactionProvider() {}

  @Override
  public void begin(TransactionContext context) {
    Configuration configuration = Arguments.notNull(context, "context").configuration();
    ConnectionProvider connections = configuration.connectionProvider();
    try {
      Level level = begin(connections);
      context.transaction(level);
      configuration.set(new InTransaction(level.connection()));
    } catch (SQLException e) {
      String hint =
          SqliteConnections.busy(e)
              ? "; inside a transaction of your own, use JobQueue.within(tx.dsl())"
              : "";
      throw new DataAccessException("Cannot begin a transaction: " + e.getMessage() + hint, e);
    }
  }

  /** Waits for its turn before it takes a connection, where the pool is known already. */
  private static Level begin(ConnectionProvider connections) throws SQLException {
    long start = System.nanoTime();
    Optional<SqliteConnections.Known> expected = SqliteConnections.expected(connections);
    SqliteWriteLock.@Nullable Turn turn =
        expected.isPresent() ? expected.get().writeLock().await(end(start, expected.get())) : null;
    @Nullable Connection connection = null;
    try {
      SqliteConnections.perhapsReadOnly(connections)
          .ifPresent(pool -> hikari(pool, source -> Hikari.evictAll(source)));
      connection = Transactions.acquire(connections);
      if (turn == null && isOpen(connections, connection)) {
        return Nested.begin(connections, connection);
      }
      SqliteConnections.Known known = SqliteConnections.known(connection);
      if (turn != null && expected.orElseThrow().writeLock() != known.writeLock()) {
        turn.end(); // the data source has led to another file this time
        turn = null;
      }
      if (turn == null) {
        turn = known.writeLock().await(end(start, known));
      }
      SqliteConnections.remember(connections, known);
      return new Outermost(connections, connection, known, turn).begin(end(start, known));
    } catch (SQLException | RuntimeException | Error e) {
      if (turn != null) {
        turn.end();
      }
      if (connection != null) {
        connections.release(connection);
      }
      throw e;
    }
  }

  private static long end(long start, SqliteConnections.Known known) {
    return start + TimeUnit.MILLISECONDS.toNanos(known.busyTimeoutMillis());
  }

  @Override
  public void commit(TransactionContext context) {
    try {
      ((Level) Arguments.notNull(context, "context").transaction()).commit();
    } catch (SQLException e) {
      throw new DataAccessException("Cannot commit the transaction: " + e.getMessage(), e);
    }
  }

  @Override
  public void rollback(TransactionContext context) {
    if (Arguments.notNull(context, "context").transaction() instanceof Level level) {
      if (SqliteConnections.causedByReadOnly(context.cause())) {
        SqliteConnections.rememberReadOnly(level.connections());
      }
      try {
        level.rollback();
      } catch (SQLException e) {
        throw new DataAccessException("Cannot roll back the transaction: " + e.getMessage(), e);
      }
    }
  }

  /** A pool's connection carries no open work, even with auto-commit off; any other may. */
  private static boolean isOpen(ConnectionProvider connections, Connection connection)
      throws SQLException {
    return !(connections instanceof DataSourceConnectionProvider)
        && !(connections instanceof Transactions.Idle)
        && !connection.getAutoCommit();
  }

  /** What statements inside the transaction take their connection from. */
  private record InTransaction(Connection connection) implements ConnectionProvider {
    @Override
    public Connection acquire() {
      return connection;
    }

    @Override
    public void release(Connection used) {}
  }

  private interface Level extends Transaction {
    ConnectionProvider connections();

    Connection connection();

    void commit() throws SQLException;

    void rollback() throws SQLException;
  }

  private record Nested(ConnectionProvider connections, Connection connection, Savepoint savepoint)
      implements Level {

    static Nested begin(ConnectionProvider connections, Connection connection) throws SQLException {
      SqliteConnections.refuseUndone(connection);
      return new Nested(connections, connection, connection.setSavepoint());
    }

    @Override
    public void commit() throws SQLException {
      connection.releaseSavepoint(savepoint);
      connections.release(connection);
    }

    @Override
    public void rollback() throws SQLException {
      try {
        connection.rollback(savepoint);
        connection.releaseSavepoint(savepoint);
      } catch (SQLException e) {
        // SQLite has undone the outer transaction as well: nothing more may be stored here
        SqliteConnections.unwrap(connection).close();
        throw e;
      } finally {
        connections.release(connection);
      }
    }
  }

  private static final class Outermost implements Level {
    private final ConnectionProvider connections;
    private final Connection connection;
    private final SQLiteConnection sqlite;
    private final SqliteConnections.Known known;
    private final SqliteWriteLock.Turn turn;
    private final TransactionMode modeBefore;
    private final boolean autoCommitBefore;
    private boolean active;
    private boolean clean = true;
    private boolean over;

    /** Only in one's turn: a connection that threads share may be in another's transaction. */
    Outermost(
        ConnectionProvider connections,
        Connection connection,
        SqliteConnections.Known known,
        SqliteWriteLock.Turn turn)
        throws SQLException {
      this.connections = connections;
      this.connection = connection;
      this.sqlite = SqliteConnections.unwrap(connection);
      this.known = known;
      this.turn = turn;
      this.modeBefore = sqlite.getConnectionConfig().getTransactionMode();
      this.autoCommitBefore = connection.getAutoCommit();
    }

    @Override
    public ConnectionProvider connections() {
      return connections;
    }

    @Override
    public Connection connection() {
      return connection;
    }

    Outermost begin(long end) throws SQLException {
      try {
        beginImmediate(end);
        turn.use(sqlite);
        return this;
      } catch (SQLException | RuntimeException | Error e) {
        clean = false;
        restore();
        throw e;
      }
    }

    private void beginImmediate(long end) throws SQLException {
      if (!autoCommitBefore) {
        connection.setAutoCommit(true); // ends the empty transaction that the driver has begun
      }
      mode(TransactionMode.IMMEDIATE);
      try {
        patience(Math.max(1, TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime())));
        while (!active) {
          try {
            connection.setAutoCommit(false);
            active = true;
          } catch (SQLException e) {
            sqlite.getConnectionConfig().setAutoCommit(true); // the driver believes it has begun
            if (!SqliteConnections.busy(e) || System.nanoTime() - end >= 0) {
              throw e;
            }
          }
        }
      } finally {
        patience(known.busyTimeoutMillis());
      }
    }

    private void patience(long millis) throws SQLException {
      sqlite.setBusyTimeout((int) millis);
    }

    @Override
    public void commit() throws SQLException {
      mode(TransactionMode.DEFERRED);
      try {
        connection.commit();
      } catch (SQLException e) {
        clean = false;
        if (!SqliteConnections.busy(e) || rolledBack()) {
          throw e;
        }
      }
      end();
    }

    @Override
    public void rollback() throws SQLException {
      if (!over) {
        mode(TransactionMode.DEFERRED);
        try {
          clean &= rolledBack();
        } catch (SQLException | RuntimeException e) {
          clean = false;
          closeForGood();
          throw e;
        } finally {
          end();
        }
      }
    }

    /**
     * Rolls back. True: there was a transaction, and it is undone. False: none was active any more,
     * because SQLite had ended it.
     */
    private boolean rolledBack() throws SQLException {
      try {
        connection.rollback();
        return true;
      } catch (SQLException e) {
        if (String.valueOf(e.getMessage()).contains("no transaction is active")) {
          active = false;
          return false;
        }
        throw e;
      }
    }

    private void end() {
      over = true;
      try {
        restore();
      } finally {
        turn.end();
        connections.release(connection);
      }
    }

    /** Leaves the connection as it came, or makes sure that nobody gets it again. */
    private void restore() {
      try {
        mode(TransactionMode.DEFERRED);
        if (!active) {
          sqlite.getConnectionConfig().setAutoCommit(true); // where the driver believes otherwise
        }
        connection.setAutoCommit(autoCommitBefore);
        mode(modeBefore);
      } catch (SQLException | RuntimeException e) {
        closeForGood();
      }
      if (!clean) {
        evict(connections, connection);
      }
    }

    private void mode(TransactionMode mode) {
      sqlite.getConnectionConfig().setTransactionMode(mode);
    }

    /** The answer is settled by now; a connection that can't be closed can't change it. */
    private void closeForGood() {
      try {
        sqlite.close();
      } catch (SQLException e) {
        LOG.log(System.Logger.Level.WARNING, "cannot close a broken connection to SQLite", e);
      }
    }
  }

  private static void evict(ConnectionProvider connections, Connection connection) {
    SqliteConnections.pool(connections)
        .ifPresent(pool -> hikari(pool, source -> Hikari.evict(source, connection)));
  }

  private static void hikari(DataSource pool, Consumer<DataSource> action) {
    try {
      action.accept(pool);
    } catch (NoClassDefFoundError e) {
      LOG.log(System.Logger.Level.DEBUG, "nothing evicted: the pool is not HikariCP");
    }
  }

  /** Apart, because HikariCP may be missing. */
  private static final class Hikari {
    static void evict(DataSource pool, Connection connection) {
      unwrap(pool).ifPresent(hikari -> hikari.evictConnection(connection));
    }

    /** Those in use go when they are given back. */
    static void evictAll(DataSource pool) {
      unwrap(pool).ifPresent(hikari -> hikari.getHikariPoolMXBean().softEvictConnections());
    }

    private static Optional<HikariDataSource> unwrap(DataSource pool) {
      try {
        return pool.isWrapperFor(HikariDataSource.class)
            ? Optional.of(pool.unwrap(HikariDataSource.class))
            : Optional.empty();
      } catch (SQLException e) {
        LOG.log(System.Logger.Level.WARNING, "cannot evict a connection from its pool", e);
        return Optional.empty();
      }
    }
  }
}
