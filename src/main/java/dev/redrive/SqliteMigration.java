package dev.redrive;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.function.Function;
import javax.sql.DataSource;
import org.jooq.SQLDialect;
import org.jooq.impl.DSL;
import org.jooq.impl.DataSourceConnectionProvider;
import org.jooq.impl.DefaultConfiguration;
import org.jspecify.annotations.Nullable;

/**
 * Runs Flyway as one transaction, which holds SQLite's write lock from before Flyway's first look
 * until all is done. Flyway takes no lock of its own here: of two processes that start at once one
 * would find the other's half of a history. So the second waits, and then has nothing to do; and a
 * script that fails leaves nothing behind, the scripts before it included.
 */
final class SqliteMigration {
  private static final int TRIES = 10;

  private SqliteMigration() {}

  /** Again, each time for the busy timeout, where others kept the lock for longer. */
  static <T> T run(DataSource database, Function<DataSource, T> migration) {
    for (int tries = 1; ; tries++) {
      try {
        return inOneTransaction(database, migration);
      } catch (RuntimeException e) {
        if (tries == TRIES || !SqliteConnections.causedByBusy(e)) {
          throw e;
        }
      }
    }
  }

  private static <T> T inOneTransaction(DataSource database, Function<DataSource, T> migration) {
    return DSL.using(
            new DefaultConfiguration()
                .set(SQLDialect.SQLITE)
                .set(new DataSourceConnectionProvider(database))
                .set(new SqliteTransactionProvider()))
        .transactionResult(
            transaction ->
                transaction
                    .dsl()
                    .connectionResult(
                        connection -> migration.apply(only(inside(connection), database))));
  }

  /** A data source of one connection. */
  private static DataSource only(Connection connection, DataSource database) {
    InvocationHandler handler =
        (proxy, method, arguments) ->
            method.getName().equals("getConnection")
                ? connection
                : call(database, method, arguments);
    return proxy(DataSource.class, handler);
  }

  /** A connection whose transactions are savepoints of the one that is open. */
  private static Connection inside(Connection connection) {
    return proxy(Connection.class, new Inside(connection));
  }

  private static final class Inside implements InvocationHandler {
    private final Connection connection;
    private @Nullable Savepoint begun;

    Inside(Connection connection) {
      this.connection = connection;
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments)
        throws Throwable {
      String name = method.getName();
      if (name.equals("close")) {
        return null;
      } else if (name.equals("getAutoCommit")) {
        return begun == null;
      } else if (name.equals("setAutoCommit") && arguments != null) {
        keep();
        begun = Boolean.TRUE.equals(arguments[0]) ? null : connection.setSavepoint();
        return null;
      } else if (name.equals("commit")) {
        keep();
        begun = connection.setSavepoint();
        return null;
      } else if (name.equals("rollback") && arguments == null) {
        connection.rollback(begun);
        return null;
      }
      return call(connection, method, arguments);
    }

    private void keep() throws SQLException {
      if (begun != null) {
        connection.releaseSavepoint(begun);
      }
    }
  }

  private static <T> T proxy(Class<T> type, InvocationHandler handler) {
    ClassLoader loader = SqliteMigration.class.getClassLoader();
    return type.cast(Proxy.newProxyInstance(loader, new Class<?>[] {type}, handler));
  }

  private static @Nullable Object call(Object target, Method method, Object @Nullable [] arguments)
      throws Throwable {
    try {
      return method.invoke(target, arguments);
    } catch (InvocationTargetException e) {
      throw e.getTargetException();
    }
  }
}
