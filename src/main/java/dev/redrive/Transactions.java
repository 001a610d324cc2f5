package dev.redrive;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jooq.Configuration;
import org.jooq.ConnectionProvider;
import org.jooq.DSLContext;
import org.jooq.TransactionProvider;
import org.jooq.conf.RenderKeywordCase;
import org.jooq.conf.RenderQuotedNames;
import org.jooq.conf.RenderTable;
import org.jooq.conf.Settings;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.DataSourceConnectionProvider;
import org.jooq.impl.DefaultConfiguration;
import org.jooq.impl.DefaultConnectionProvider;
import org.jooq.impl.DefaultTransactionProvider;

/**
 * Decides for each call who owns the transaction, and opens one or joins the host's.
 *
 * <p>Connections of a plain data source carry nobody's work: the transaction is ours. On every
 * other provider, the acquired connection tells: auto-commit on, and the transaction is ours;
 * auto-commit off, and it is the host's, which we never commit. A call then runs under a savepoint,
 * so that a failure leaves the host's transaction as the call found it.
 *
 * <p>The host's connections, transaction provider and listeners are used as they are. Its settings
 * and visit listeners are not, because they change the text of statements, and ours is reviewed.
 */
final class Transactions {
  private static final int MAX_TRIES = 20;
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

  private final Configuration host;
  private final Engine engine;
  private final boolean joins;

  Transactions(Configuration host, Engine engine, boolean joins) {
    this.host = host;
    this.engine = engine;
    this.joins = joins;
  }

  /** One call's way to the database: each write is a transaction, or all are part of the host's. */
  interface Session {
    <T> T write(Function<DSLContext, T> work);

    /** Does something once what was written stays: now, or when the call in the host's succeeds. */
    void afterwards(Runnable action);
  }

  /** Runs one transaction, or joins the host's. */
  <T> T write(Function<DSLContext, T> work) {
    return call(session -> session.write(work));
  }

  /** Runs a call that may need several transactions; inside the host's, it is undone as one. */
  <T> T call(Function<Session, T> work) {
    ConnectionProvider connections = host.connectionProvider();
    if (owns(connections)) {
      return work.apply(ours(connections, ourTransactions(connections)));
    }
    return on(
        connections,
        connection -> {
          ConnectionProvider one = new DefaultConnectionProvider(connection);
          if (connection.getAutoCommit()) {
            return work.apply(ours(one, engine.transactionProvider(one)));
          }
          List<Runnable> afterwards = new ArrayList<>();
          T answer = underSavepoint(connection, () -> work.apply(joined(one, afterwards)));
          afterwards.forEach(Runnable::run);
          return answer;
        });
  }

  /** Reads, and leaves no transaction open that it found closed. */
  <T> T read(Function<DSLContext, T> work) {
    ConnectionProvider connections = host.connectionProvider();
    if (owns(connections) && hasHostsProvider()) {
      return write(work);
    }
    return on(
        connections,
        connection -> {
          DSLContext dsl = configured(new DefaultConnectionProvider(connection)).dsl();
          if (!owns(connections) && !connection.getAutoCommit()) {
            return underSavepoint(connection, () -> work.apply(dsl));
          }
          try {
            return work.apply(dsl);
          } finally {
            endRead(connections, connection);
          }
        });
  }

  /** Ends the transaction that a look began on a pool's connection with auto-commit off. */
  void endRead(ConnectionProvider connections, Connection connection) throws SQLException {
    if (owns(connections) && !hasHostsProvider() && !connection.getAutoCommit()) {
      connection.rollback();
    }
  }

  /** Whether every connection comes without open work of the host's. */
  boolean owns(ConnectionProvider connections) {
    return connections instanceof DataSourceConnectionProvider && !joins;
  }

  /** Whether a call made now would be part of a transaction of the host's. */
  boolean wouldJoin() {
    ConnectionProvider connections = host.connectionProvider();
    return (!owns(connections) || hasHostsProvider())
        && on(connections, connection -> !connection.getAutoCommit());
  }

  /** Whether transactions go through a provider of the host's, which may have one open already. */
  private boolean hasHostsProvider() {
    TransactionProvider provider = host.transactionProvider();
    return !(provider instanceof DefaultTransactionProvider
        || provider instanceof SqliteTransactionProvider);
  }

  private Session ours(ConnectionProvider connections, TransactionProvider transactions) {
    Configuration configuration = configured(connections).set(transactions);
    return new Session() {
      @Override
      public <T> T write(Function<DSLContext, T> work) {
        for (int tries = 1; ; tries++) {
          try {
            return configuration.dsl().transactionResult(inner -> work.apply(inner.dsl()));
          } catch (RuntimeException e) {
            if (tries == MAX_TRIES || !undone(e) || isNested(connections)) {
              throw e;
            }
            LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(tries * PAUSE_NANOS));
          }
        }
      }

      @Override
      public void afterwards(Runnable action) {
        action.run();
      }
    };
  }

  /** Whether the server undid the transaction as a whole, whatever listeners made of its error. */
  private boolean undone(Throwable e) {
    for (Throwable cause = e; cause != null; cause = cause.getCause()) {
      if (cause instanceof SQLException sql && engine.undone(sql)) {
        return true;
      }
    }
    return false;
  }

  /** Whether the host's provider only nested our transaction in one that is still open. */
  private boolean isNested(ConnectionProvider connections) {
    return hasHostsProvider() && on(connections, connection -> !connection.getAutoCommit());
  }

  private Session joined(ConnectionProvider connections, List<Runnable> afterwards) {
    DSLContext dsl = configured(connections).dsl();
    return new Session() {
      @Override
      public <T> T write(Function<DSLContext, T> work) {
        return work.apply(dsl);
      }

      @Override
      public void afterwards(Runnable action) {
        afterwards.add(action);
      }
    };
  }

  /** The host's provider, for example Spring's; jOOQ's default gives way to the engine's. */
  private TransactionProvider ourTransactions(ConnectionProvider connections) {
    return hasHostsProvider()
        ? host.transactionProvider()
        : engine.transactionProvider(connections);
  }

  private Configuration configured(ConnectionProvider connections) {
    return new DefaultConfiguration()
        .set(engine.dialect())
        .set(settings())
        .set(connections)
        .set(host.executeListenerProviders())
        .set(host.transactionListenerProviders());
  }

  /** How the reviewed SQL is written. */
  static Settings settings() {
    return new Settings()
        .withRenderFormatted(true)
        .withRenderKeywordCase(RenderKeywordCase.LOWER)
        .withRenderQuotedNames(RenderQuotedNames.EXPLICIT_DEFAULT_UNQUOTED)
        .withRenderSchema(false)
        .withRenderTable(RenderTable.WHEN_AMBIGUOUS_COLUMNS)
        .withExecuteLogging(false);
  }

  @FunctionalInterface
  private interface OnConnection<T> {
    T run(Connection connection) throws SQLException;
  }

  /**
   * One call at a time on a connection: a second thread would take the transaction of the first for
   * the host's and join it.
   */
  private static <T> T on(ConnectionProvider connections, OnConnection<T> work) {
    Connection connection = connections.acquire();
    if (connection == null) {
      throw new DataAccessException("The DSLContext has no connection");
    }
    try {
      synchronized (connection) {
        return work.run(connection);
      }
    } catch (SQLException e) {
      throw new DataAccessException("Cannot use the connection: " + e.getMessage(), e);
    } finally {
      connections.release(connection);
    }
  }

  private static <T> T underSavepoint(Connection connection, Supplier<T> work) throws SQLException {
    Savepoint before = connection.setSavepoint();
    T answer;
    try {
      answer = work.get();
    } catch (Throwable e) {
      try {
        connection.rollback(before);
      } catch (SQLException suppressed) {
        e.addSuppressed(suppressed);
      }
      throw e;
    }
    connection.releaseSavepoint(before);
    return answer;
  }
}
