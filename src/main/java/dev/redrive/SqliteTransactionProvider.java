package dev.redrive;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.concurrent.TimeUnit;
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
 * would lock out every other process.
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
    Connection connection = connections.acquire();
    if (connection == null) {
      throw new DataAccessException("Cannot begin: the configuration has no connection");
    }
    try {
      context.transaction(
          isOpen(connections, connection)
              ? Nested.begin(connections, connection)
              : Outermost.begin(connections, connection));
      configuration.set(new InTransaction(connection));
    } catch (SQLException e) {
      connections.release(connection);
      throw new DataAccessException("Cannot begin a transaction: " + e.getMessage(), e);
    } catch (RuntimeException | Error e) {
      connections.release(connection);
      throw e;
    }
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
    return !(connections instanceof DataSourceConnectionProvider) && !connection.getAutoCommit();
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
    void commit() throws SQLException;

    void rollback() throws SQLException;
  }

  private record Nested(ConnectionProvider connections, Connection connection, Savepoint savepoint)
      implements Level {

    static Nested begin(ConnectionProvider connections, Connection connection) throws SQLException {
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
    private final boolean autoCommitBefore;
    private final TransactionMode modeBefore;
    private boolean active;
    private boolean failed;
    private boolean over;

    private Outermost(ConnectionProvider connections, Connection connection) throws SQLException {
      this.connections = connections;
      this.connection = connection;
      this.sqlite = SqliteConnections.unwrap(connection);
      this.known = SqliteConnections.known(connection);
      this.autoCommitBefore = connection.getAutoCommit();
      this.modeBefore = sqlite.getConnectionConfig().getTransactionMode();
    }

    static Outermost begin(ConnectionProvider connections, Connection connection)
        throws SQLException {
      Outermost transaction = new Outermost(connections, connection);
      transaction.known.awaitTurn();
      try {
        transaction.beginImmediate();
        return transaction;
      } catch (SQLException | RuntimeException | Error e) {
        transaction.known.writeLock().release();
        transaction.failed = true;
        transaction.restore();
        throw e;
      }
    }

    private void beginImmediate() throws SQLException {
      if (!autoCommitBefore) {
        connection.setAutoCommit(true); // ends the empty transaction that the driver has begun
      }
      mode(TransactionMode.IMMEDIATE);
      long start = System.nanoTime();
      long patience = TimeUnit.MILLISECONDS.toNanos(known.busyTimeoutMillis());
      for (; ; ) {
        try {
          connection.setAutoCommit(false);
          active = true;
          return;
        } catch (SQLException e) {
          sqlite.getConnectionConfig().setAutoCommit(true); // the driver believes it has begun
          if (!SqliteConnections.busy(e) || System.nanoTime() - start >= patience) {
            throw e;
          }
        }
      }
    }

    @Override
    public void commit() throws SQLException {
      mode(TransactionMode.DEFERRED);
      try {
        connection.commit();
      } catch (SQLException e) {
        failed = true;
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
          failed |= !rolledBack();
          end();
        } catch (SQLException e) {
          failed = true;
          closeForGood();
          end();
          throw e;
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
      known.writeLock().release();
      restore();
      connections.release(connection);
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
      } catch (SQLException e) {
        closeForGood();
      }
      if (failed) {
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
    if (connections instanceof DataSourceConnectionProvider pool) {
      try {
        Hikari.evict(pool.dataSource(), connection);
      } catch (NoClassDefFoundError e) {
        LOG.log(System.Logger.Level.DEBUG, "not evicted: the pool is not HikariCP");
      }
    }
  }

  /** Apart, because HikariCP may be missing. */
  private static final class Hikari {
    static void evict(@Nullable DataSource pool, Connection connection) {
      try {
        if (pool != null && pool.isWrapperFor(HikariDataSource.class)) {
          pool.unwrap(HikariDataSource.class).evictConnection(connection);
        }
      } catch (SQLException e) {
        LOG.log(System.Logger.Level.WARNING, "cannot evict a connection from its pool", e);
      }
    }
  }
}
