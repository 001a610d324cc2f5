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
import org.jooq.TransactionProvider;
import org.jooq.impl.DSL;
import org.jooq.impl.DataSourceConnectionProvider;
import org.jooq.impl.DefaultConfiguration;
import org.jspecify.annotations.Nullable;

/** Runs a migration on one connection and as one transaction, whatever it does with either. */
final class OneTransaction {
  private OneTransaction() {}

  /** What keeps other migrations out until the transaction ends. */
  @FunctionalInterface
  interface Lock {
    void take(Connection connection) throws SQLException;
  }

  static <T> T run(
      SQLDialect dialect,
      DataSource database,
      TransactionProvider transactions,
      Lock lock,
      Function<DataSource, T> migration) {
    return DSL.using(
            new DefaultConfiguration()
                .set(dialect)
                .set(new DataSourceConnectionProvider(database))
                .set(transactions))
        .transactionResult(
            transaction ->
                transaction
                    .dsl()
                    .connectionResult(
                        connection -> {
                          lock.take(connection);
                          return migration.apply(only(connection, database));
                        }));
  }

  /** A data source of one connection. */
  private static DataSource only(Connection connection, DataSource database) {
    InvocationHandler handler =
        (proxy, method, arguments) ->
            method.getName().equals("getConnection")
                ? proxy(Connection.class, new Inside(connection))
                : call(database, method, arguments);
    return proxy(DataSource.class, handler);
  }

  /** A connection whose transactions are savepoints of the one that is open. */
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
    ClassLoader loader = OneTransaction.class.getClassLoader();
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
