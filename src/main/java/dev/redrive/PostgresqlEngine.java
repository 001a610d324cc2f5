package dev.redrive;

import static dev.redrive.schema.Tables.JOBS;
import static org.jooq.impl.DSL.any;
import static org.jooq.impl.DSL.array;
import static org.jooq.impl.DSL.coalesce;
import static org.jooq.impl.DSL.extract;
import static org.jooq.impl.DSL.floor;
import static org.jooq.impl.DSL.function;
import static org.jooq.impl.DSL.inline;
import static org.jooq.impl.DSL.select;
import static org.jooq.impl.SQLDataType.BIGINT;
import static org.jooq.impl.SQLDataType.TIMESTAMPWITHTIMEZONE;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.InstantSource;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jooq.Condition;
import org.jooq.ConnectionProvider;
import org.jooq.DatePart;
import org.jooq.Field;
import org.jooq.Param;
import org.jooq.Record;
import org.jooq.Record1;
import org.jooq.SQLDialect;
import org.jooq.Select;
import org.jooq.SelectForUpdateStep;
import org.jooq.TransactionProvider;
import org.jspecify.annotations.Nullable;

/**
 * PostgreSQL, shared by many hosts. Its clock is the server's, read anew by every statement: hosts
 * need not agree on the time, and a long transaction does not stop it.
 *
 * <p>Ids are taken by {@code id = any(array(select …))}. The select stands apart from the update,
 * runs once, and the update finds its rows by primary key; as {@code id in (select … limit n)} it
 * may be joined, run once per row and lock far more than n.
 */
final class PostgresqlEngine extends Engine {
  private static final String SERIALIZATION_FAILURE = "40001";
  private static final String DEADLOCK_DETECTED = "40P01";
  private static final Set<String> UNDONE = Set.of(SERIALIZATION_FAILURE, DEADLOCK_DETECTED);

  @Override
  SQLDialect dialect() {
    return SQLDialect.POSTGRES;
  }

  @Override
  TransactionProvider transactionProvider(ConnectionProvider connections) {
    return new PostgresqlTransactionProvider();
  }

  @Override
  String folder() {
    return "postgresql";
  }

  @Override
  String schema(@Nullable String name) {
    return Arguments.schema(name, "schema");
  }

  @Override
  Set<String> parts(Connection connection, @Nullable String schema) throws SQLException {
    return PostgresqlCatalog.parts(connection, schema);
  }

  @Override
  Field<Long> now(Param<Long> now) {
    return coalesce(
        now,
        floor(
                extract(function("statement_timestamp", TIMESTAMPWITHTIMEZONE), DatePart.EPOCH)
                    .mul(inline(1000)))
            .cast(BIGINT));
  }

  @Override
  @Nullable InstantSource clock() {
    return null;
  }

  @Override
  Condition idIn(SelectForUpdateStep<Record1<String>> ids) {
    return JOBS.ID.eq(any(array(ids.forUpdate().skipLocked())));
  }

  /** Two steps, because a lock on a row that only was looked at would hide it from a claim. */
  @Override
  Condition idAmong(Select<Record1<String>> ids, Condition condition) {
    return idIn(
        select(JOBS.ID)
            .from(JOBS)
            .where(condition)
            .and(JOBS.ID.eq(any(array(ids))))
            .orderBy(JOBS.ID));
  }

  @Override
  <R extends Record> Select<R> locking(SelectForUpdateStep<R> rows) {
    return rows.forUpdate();
  }

  @Override
  Optional<String> complaint(Connection connection, boolean pooled) throws SQLException {
    if (!"PostgreSQL".equals(connection.getMetaData().getDatabaseProductName())) {
      return Optional.of("is not to PostgreSQL, as the dialect says");
    }
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("show server_encoding")) {
      String encoding = rows.next() ? rows.getString(1) : "unknown";
      return "UTF8".equals(encoding)
          ? Optional.empty()
          : Optional.of(
              "is to a database with encoding "
                  + encoding
                  + ", which does not hold every text; use a database with encoding UTF8");
    }
  }

  /** An exception that a pool throws has no state. */
  @Override
  boolean undone(SQLException e) {
    return e.getSQLState() != null && UNDONE.contains(e.getSQLState());
  }

  @Override
  <T> T migrating(DataSource database, Function<DataSource, T> migration) {
    return PostgresqlMigration.run(database, migration);
  }

  /** On a connection that threads share, a look would fail with the transaction of another. */
  @Override
  <T> T alone(Connection connection, Supplier<T> read) throws SQLException {
    return PostgresqlTransactionProvider.inTurn(connection, read);
  }

  @Override
  Connection physical(Connection connection) throws SQLException {
    return PostgresqlTransactionProvider.physical(connection);
  }

  /** The server refuses everything in a failed transaction by itself. */
  @Override
  void lost(Connection connection, Throwable failed) {}
}
