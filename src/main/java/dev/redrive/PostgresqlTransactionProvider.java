package dev.redrive;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jooq.Configuration;
import org.jooq.ConnectionProvider;
import org.jooq.Transaction;
import org.jooq.TransactionContext;
import org.jooq.TransactionProvider;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.DefaultConnectionProvider;
import org.postgresql.PGConnection;

/**
 * redrive's own transactions on PostgreSQL: at READ COMMITTED, whatever the default of the server,
 * the database, the role or the pool. The statements are made for it: each sees what was committed
 * when it began and looks at a changed row again, so that a lost race is no row and not an error.
 * Unlike jOOQ's default provider it sets no savepoint.
 *
 * <p>Asking for the level costs a round trip. A physical connection is asked once in its life, and
 * again after a rollback, which a level that was changed since may have caused.
 *
 * <p>A data source may hand out one connection to all threads. Then transactions take turns on it,
 * or one would commit half of another.
 */
final class PostgresqlTransactionProvider implements TransactionProvider {
  private static final System.Logger LOG =
      System.getLogger(PostgresqlTransactionProvider.class.getName());

  private static final int WANTED = Connection.TRANSACTION_READ_COMMITTED;
  private static final Set<Connection> READ_COMMITTED =
      Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));
  private static final Map<Connection, ReentrantLock> TURNS =
      Collections.synchronizedMap(new WeakHashMap<>());

  @Override
  public void begin(TransactionContext context) {
    Configuration configuration = context.configuration();
    ConnectionProvider connections = configuration.connectionProvider();
    Connection connection = Transactions.acquire(connections);
    try {
      context.transaction(Open.begin(connections, connection));
      configuration.set(new DefaultConnectionProvider(connection));
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
      ((Open) context.transaction()).commit();
    } catch (SQLException e) {
      throw new DataAccessException(
          (isUnknown(e)
                  ? "The answer of a commit was lost, and with it whether it is stored; find tells: "
                  : "Cannot commit the transaction: ")
              + e.getMessage(),
          e);
    }
  }

  /** A connection broke, or its server went down, which may be after the commit. */
  private static boolean isUnknown(SQLException e) {
    String state = String.valueOf(e.getSQLState());
    return state.startsWith("08") || state.startsWith("57P");
  }

  @Override
  public void rollback(TransactionContext context) {
    if (context.transaction() instanceof Open open) {
      try {
        open.rollback();
      } catch (SQLException e) {
        throw new DataAccessException("Cannot roll back the transaction: " + e.getMessage(), e);
      }
    }
  }

  private static final class Open implements Transaction {
    private final ConnectionProvider connections;
    private final Connection connection;
    private final Connection physical;
    private final ReentrantLock turn;
    private final boolean autoCommit;
    private final int level;
    private boolean over;

    private Open(ConnectionProvider connections, Connection connection) throws SQLException {
      this.connections = connections;
      this.connection = connection;
      this.physical = physical(connection);
      this.turn = turnOn(physical);
      try {
        this.autoCommit = connection.getAutoCommit();
        this.level =
            READ_COMMITTED.contains(physical) ? WANTED : connection.getTransactionIsolation();
      } catch (SQLException | RuntimeException | Error e) {
        turn.unlock();
        throw e;
      }
    }

    private static ReentrantLock turnOn(Connection physical) {
      ReentrantLock turn = turn(physical);
      if (turn.isHeldByCurrentThread()) {
        throw new IllegalStateException(
            "the data source hands out a connection on which this thread has a transaction open;"
                + " to be part of it, use JobQueue.within(tx.dsl()) or JobQueue.builder(dsl).joins()");
      }
      turn.lock();
      return turn;
    }

    static Open begin(ConnectionProvider connections, Connection connection) throws SQLException {
      Open open = new Open(connections, connection);
      try {
        open.change();
        return open;
      } catch (SQLException | RuntimeException | Error e) {
        try {
          open.restore();
        } finally {
          open.turn.unlock();
        }
        throw e;
      }
    }

    private void change() throws SQLException {
      if (level == WANTED) {
        READ_COMMITTED.add(physical);
      } else {
        connection.setTransactionIsolation(WANTED);
      }
      connection.setAutoCommit(false);
    }

    void commit() throws SQLException {
      connection.commit();
      leave();
    }

    /** Also called when the commit failed, and when a listener threw after it. */
    void rollback() throws SQLException {
      if (!over) {
        READ_COMMITTED.remove(physical);
        try {
          connection.rollback();
        } catch (SQLException e) {
          discard();
          throw e;
        } finally {
          leave();
        }
      }
    }

    private void leave() {
      over = true;
      try {
        restore();
      } finally {
        turn.unlock();
        connections.release(connection);
      }
    }

    private void restore() {
      try {
        connection.setAutoCommit(autoCommit);
        if (level != WANTED) {
          connection.setTransactionIsolation(level);
        }
      } catch (SQLException e) {
        discard();
      }
    }

    /** Nobody may get a connection again that can't be brought back to how it came. */
    private void discard() {
      try {
        connection.abort(Runnable::run);
      } catch (SQLException e) {
        LOG.log(System.Logger.Level.WARNING, "cannot close a broken connection to PostgreSQL", e);
      }
    }
  }

  static <T> T inTurn(Connection connection, Supplier<T> read) throws SQLException {
    ReentrantLock turn = turn(physical(connection));
    turn.lock();
    try {
      return read.get();
    } finally {
      turn.unlock();
    }
  }

  private static ReentrantLock turn(Connection physical) {
    return TURNS.computeIfAbsent(physical, any -> new ReentrantLock(true));
  }

  /** Asked by the driver's own type: a proxy may take itself for a connection, and be right. */
  static Connection physical(Connection connection) throws SQLException {
    if (connection.isWrapperFor(PGConnection.class)
        && connection.unwrap(PGConnection.class) instanceof Connection driver) {
      return driver;
    }
    return connection.isWrapperFor(Connection.class)
        ? connection.unwrap(Connection.class)
        : connection;
  }
}
