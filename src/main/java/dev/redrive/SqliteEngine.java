package dev.redrive;

import static dev.redrive.schema.Tables.JOBS;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.InstantSource;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import javax.sql.DataSource;
import org.jooq.Condition;
import org.jooq.ConnectionProvider;
import org.jooq.Field;
import org.jooq.Param;
import org.jooq.Record;
import org.jooq.Record1;
import org.jooq.SQLDialect;
import org.jooq.Select;
import org.jooq.SelectForUpdateStep;
import org.jooq.TransactionProvider;
import org.jooq.exception.DataAccessException;
import org.jspecify.annotations.Nullable;

/** SQLite in a file. Its clock is the system's: every process on the file shares the machine. */
final class SqliteEngine extends Engine {

  @Override
  SQLDialect dialect() {
    return SQLDialect.SQLITE;
  }

  @Override
  TransactionProvider transactionProvider(ConnectionProvider connections) {
    return new SqliteTransactionProvider();
  }

  @Override
  String folder() {
    return "sqlite";
  }

  @Override
  String schema(@Nullable String name) {
    throw new IllegalArgumentException("schema must not be given on SQLite, which has one");
  }

  @Override
  Set<String> parts(Connection connection, @Nullable String schema) throws SQLException {
    return SqliteCatalog.parts(connection);
  }

  @Override
  Field<Long> now(Param<Long> now) {
    return now;
  }

  @Override
  InstantSource clock() {
    return InstantSource.system();
  }

  @Override
  Condition idIn(SelectForUpdateStep<Record1<String>> ids) {
    return JOBS.ID.in(ids);
  }

  @Override
  Condition idAmong(Select<Record1<String>> ids, Condition condition) {
    return JOBS.ID.in(ids);
  }

  @Override
  <R extends Record> Select<R> locking(SelectForUpdateStep<R> rows) {
    return rows;
  }

  @Override
  Optional<String> complaint(Connection connection, boolean pooled) throws SQLException {
    return SqliteConnections.complaint(connection, pooled);
  }

  /** Its one such error, BUSY at BEGIN, is repeated by {@link SqliteTransactionProvider}. */
  @Override
  boolean undone(SQLException e) {
    return false;
  }

  @Override
  <T> T migrating(DataSource database, Function<DataSource, T> migration) {
    return SqliteMigration.run(database, migration);
  }

  @Override
  Connection physical(Connection connection) throws SQLException {
    return SqliteConnections.unwrap(connection);
  }

  /** A full disk, for one, undoes the whole transaction; what came next would be stored at once. */
  @Override
  void lost(Connection connection, Throwable failed) {
    String closed = "it was closed, so that nothing more is stored outside of a transaction";
    try {
      SqliteConnections.unwrap(connection).close();
    } catch (SQLException e) {
      failed.addSuppressed(e);
      closed = "it could not be closed: do no more on it";
    }
    throw new DataAccessException(SqliteConnections.UNDONE + closed, failed);
  }

  @Override
  void refuseUndone(Connection connection) throws SQLException {
    SqliteConnections.refuseUndone(connection);
  }
}
