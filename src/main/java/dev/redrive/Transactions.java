package dev.redrive;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jooq.Configuration;
import org.jooq.ConnectionProvider;
import org.jooq.DSLContext;
import org.jooq.TransactionProvider;
import org.jooq.conf.MappedSchema;
import org.jooq.conf.RenderKeywordCase;
import org.jooq.conf.RenderMapping;
import org.jooq.conf.RenderQuotedNames;
import org.jooq.conf.RenderTable;
import org.jooq.conf.Settings;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.DataSourceConnectionProvider;
import org.jooq.impl.DefaultConfiguration;
import org.jooq.impl.DefaultConnectionProvider;
import org.jooq.impl.DefaultTransactionProvider;
import org.jspecify.annotations.Nullable;

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
  private final Settings settings;
  private final boolean joins;
  private final @Nullable BooleanSupplier hostsIsOpen;
  private final boolean onlyJoins;

  /**
   * @param schema where the tables are; null is the connection's current one
   * @param joins whether a plain data source may hand out a connection of the host's transaction
   * @param hostsIsOpen tells whether it does; null if only the connections tell
   */
  Transactions(
      Configuration host,
      Engine engine,
      @Nullable String schema,
      boolean joins,
      @Nullable BooleanSupplier hostsIsOpen) {
    this(host, engine, settings(schema), joins, hostsIsOpen, false);
  }

  private Transactions(
      Configuration host,
      Engine engine,
      Settings settings,
      boolean joins,
      @Nullable BooleanSupplier hostsIsOpen,
      boolean onlyJoins) {
    this.host = host;
    this.engine = engine;
    this.settings = settings;
    this.joins = joins;
    this.hostsIsOpen = hostsIsOpen;
    this.onlyJoins = onlyJoins;
  }

  /** One call's way to the database: each write is a transaction, or all are part of the host's. */
  interface Session {
    <T> T write(Function<DSLContext, T> work);

    /**
     * Does something once what was written stays: now, with a connection of the host's when that is
     * back, or when the call in the host's transaction succeeds.
     */
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
      return work.apply(ours(connections, ourTransactions(connections), Runnable::run));
    }
    List<Runnable> afterwards = new ArrayList<>();
    try {
      return on(
          connections,
          connection -> {
            if (!isHosts(connections, connection)) {
              return work.apply(onIdle(connections, connection, afterwards::add));
            }
            List<Runnable> ifItSucceeds = new ArrayList<>();
            Session joined = joined(new DefaultConnectionProvider(connection), ifItSucceeds);
            T answer = underSavepoint(connection, () -> work.apply(joined));
            afterwards.addAll(ifItSucceeds);
            return answer;
          });
    } finally {
      afterwards.forEach(Runnable::run); // with the connection back: who hears may need one
    }
  }

  /** Reads, and leaves no transaction open that it found closed. */
  <T> T read(Function<DSLContext, T> work) {
    ConnectionProvider connections = host.connectionProvider();
    if (owns(connections)) {
      Optional<Read<T>> read =
          hasHostsProvider() ? Optional.empty() : readAtOnce(connections, work);
      // with auto-commit off a look begins a transaction, which has to end
      return read.isPresent() ? read.get().answer() : write(work);
    }
    return on(
        connections,
        connection -> {
          DSLContext dsl = configured(new DefaultConnectionProvider(connection)).dsl();
          if (isHosts(connections, connection)) {
            return underSavepoint(connection, () -> work.apply(dsl));
          }
          return connection.getAutoCommit()
              ? work.apply(dsl)
              : onIdle(connections, connection, Runnable::run).write(work);
        });
  }

  private record Read<T>(T answer) {}

  /** Empty with auto-commit off; the connection is back by then, for those who wait for one. */
  private <T> Optional<Read<T>> readAtOnce(
      ConnectionProvider connections, Function<DSLContext, T> work) {
    return on(
        connections,
        connection -> {
          DSLContext dsl = configured(new DefaultConnectionProvider(connection)).dsl();
          return connection.getAutoCommit()
              ? Optional.of(engine.alone(connection, () -> new Read<>(work.apply(dsl))))
              : Optional.empty();
        });
  }

  /** Whether every connection comes without open work of the host's. */
  boolean owns(ConnectionProvider connections) {
    return connections instanceof DataSourceConnectionProvider && !joins;
  }

  /** Whether a call made now would be part of a transaction of the host's. */
  boolean wouldJoin() {
    ConnectionProvider connections = host.connectionProvider();
    return (!owns(connections) || hasHostsProvider())
        && on(connections, connection -> isHosts(connections, connection));
  }

  /**
   * These transactions on the connection of an open one, never without it.
   *
   * @throws IllegalArgumentException if there is none
   */
  Transactions within(Configuration transaction) {
    boolean pooled = transaction.connectionProvider() instanceof DataSourceConnectionProvider;
    Transactions joining =
        new Transactions(transaction, engine, settings, true, pooled ? hostsIsOpen : null, true);
    if ((pooled && !joins) || !joining.wouldJoin()) {
      throw new IllegalArgumentException(
          "transaction must have an open transaction (auto-commit off); inside of jOOQ's"
              + " transaction(tx -> ...) that is tx.dsl(), not the context it was begun on");
    }
    return joining;
  }

  /**
   * Whether a transaction of the host's is open on a connection. Auto-commit off may be just the
   * habit of a pool behind the provider: then a second connection is another one, and what is done
   * on the first would be lost when it goes back. So the host is asked, or else a second
   * connection.
   */
  private boolean isHosts(ConnectionProvider connections, Connection connection)
      throws SQLException {
    if (connection.getAutoCommit()) {
      return false;
    } else if (hostsIsOpen != null) {
      return hostsIsOpen.getAsBoolean();
    }
    Connection second = second(connections);
    try {
      return engine.physical(second) == engine.physical(connection);
    } finally {
      connections.release(second);
    }
  }

  private static Connection second(ConnectionProvider connections) {
    Connection second;
    try {
      second = connections.acquire();
    } catch (RuntimeException e) {
      throw new DataAccessException(
          "Cannot tell a host's transaction from a pool that switches auto-commit off: that takes a"
              + " second connection for a moment, and the pool has none; give it more, or let it"
              + " leave auto-commit on",
          e);
    }
    if (second == null) {
      throw new DataAccessException("The DSLContext has no connection");
    }
    return second;
  }

  /** A connection of which we know that no work of the host's is open on it. */
  record Idle(ConnectionProvider origin, Connection connection) implements ConnectionProvider {
    @Override
    public Connection acquire() {
      return connection;
    }

    @Override
    public void release(Connection used) {}
  }

  private Session onIdle(
      ConnectionProvider connections, Connection connection, Consumer<Runnable> afterwards) {
    if (onlyJoins) {
      throw new IllegalStateException(
          "the transaction that this queue was made for by JobQueue.within has ended;"
              + " take the queue it was made from");
    }
    ConnectionProvider idle = new Idle(connections, connection);
    return ours(idle, engine.transactionProvider(idle), afterwards);
  }

  /** Whether transactions go through a provider of the host's, which may have one open already. */
  private boolean hasHostsProvider() {
    TransactionProvider provider = host.transactionProvider();
    return !(provider instanceof DefaultTransactionProvider
        || provider instanceof SqliteTransactionProvider);
  }

  private Session ours(
      ConnectionProvider connections,
      TransactionProvider transactions,
      Consumer<Runnable> afterwards) {
    Configuration configuration = configured(connections).set(transactions);
    boolean hosts = transactions == host.transactionProvider();
    return new Session() {
      @Override
      public <T> T write(Function<DSLContext, T> work) {
        for (int tries = 1; ; tries++) {
          AtomicBoolean worked = new AtomicBoolean();
          try {
            return configuration
                .dsl()
                .transactionResult(
                    inner -> {
                      T answer = work.apply(inner.dsl());
                      worked.set(true);
                      return answer;
                    });
          } catch (RuntimeException e) {
            if (tries == MAX_TRIES
                || !mayRepeat(e, worked.get(), hosts)
                || (hosts && isNested(connections))) {
              throw e;
            }
            LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(tries * PAUSE_NANOS));
          }
        }
      }

      @Override
      public void afterwards(Runnable action) {
        afterwards.accept(action);
      }
    };
  }

  /**
   * Whether nothing of a transaction can have been stored. After the work, only the commit of a
   * provider of ours says so: what a listener or the host's provider throws may come after it.
   */
  private boolean mayRepeat(RuntimeException e, boolean worked, boolean hosts) {
    boolean ofOurCommit = !hosts && !SafeTransactionListener.hasThrown(e);
    return undone(e) && (!worked || ofOurCommit);
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
    return on(connections, connection -> isHosts(connections, connection));
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
        .set(settings)
        .set(connections)
        .set(host.executeListenerProviders())
        .set(SafeTransactionListener.around(host.transactionListenerProviders()));
  }

  /** How the reviewed SQL is written; with a schema, it stands before the names of the tables. */
  static Settings settings(@Nullable String schema) {
    Settings settings =
        new Settings()
            .withRenderFormatted(true)
            .withRenderKeywordCase(RenderKeywordCase.LOWER)
            .withRenderQuotedNames(RenderQuotedNames.EXPLICIT_DEFAULT_UNQUOTED)
            .withRenderSchema(schema != null)
            .withRenderTable(RenderTable.WHEN_AMBIGUOUS_COLUMNS)
            .withExecuteLogging(false);
    return schema == null
        ? settings
        : settings.withRenderMapping(
            new RenderMapping().withSchemata(new MappedSchema().withInput("").withOutput(schema)));
  }

  /** jOOQ names the data source only, and not what is wrong with it. */
  static Connection acquire(ConnectionProvider connections) {
    Connection connection;
    try {
      connection = connections.acquire();
    } catch (DataAccessException e) {
      throw new DataAccessException("Cannot get a connection: " + causes(e), e);
    }
    if (connection == null) {
      throw new DataAccessException("The DSLContext has no connection");
    }
    return connection;
  }

  private static String causes(Throwable e) {
    return Stream.iterate(e, Objects::nonNull, Throwable::getCause)
        .map(cause -> cause.getMessage() == null ? cause.toString() : cause.getMessage())
        .distinct()
        .collect(Collectors.joining("; "));
  }

  @FunctionalInterface
  private interface OnConnection<T> {
    T run(Connection connection) throws SQLException;
  }

  /**
   * One call at a time on a connection that may carry the host's work: a second thread would take
   * the transaction of the first for the host's and join it. On our own the engine's turns see to
   * it.
   */
  private <T> T on(ConnectionProvider connections, OnConnection<T> work) {
    Connection connection = acquire(connections);
    try {
      if (owns(connections)) {
        return work.run(connection);
      }
      synchronized (connection) {
        return work.run(connection);
      }
    } catch (SQLException e) {
      throw new DataAccessException("Cannot use the connection: " + e.getMessage(), e);
    } finally {
      connections.release(connection);
    }
  }

  private <T> T underSavepoint(Connection connection, Supplier<T> work) throws SQLException {
    engine.refuseUndone(connection);
    Savepoint before = connection.setSavepoint();
    T answer;
    try {
      answer = work.get();
    } catch (Throwable e) {
      undo(connection, before, e);
      throw e;
    }
    connection.releaseSavepoint(before);
    return answer;
  }

  private void undo(Connection connection, Savepoint before, Throwable failed) {
    try {
      connection.rollback(before);
    } catch (SQLException lost) {
      failed.addSuppressed(lost);
      engine.lost(connection, failed);
    }
  }
}
