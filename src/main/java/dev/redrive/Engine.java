package dev.redrive;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.InstantSource;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
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

/** A database that redrive runs on: what differs from one to the next, and only that. */
public abstract sealed class Engine permits SqliteEngine, PostgresqlEngine {

  Engine() {}

  /**
   * A SQLite file with the settings that redrive's promises need, to be opened: rollback journal,
   * {@code synchronous=FULL}, foreign keys on, a busy timeout of 5 s.
   *
   * @param file the database file; it may not exist yet, its folder must
   * @return the settings, to be changed or opened
   * @throws IllegalArgumentException if null, a folder, or in a folder that does not exist
   */
  public static SqliteFile sqlite(Path file) {
    return SqliteFile.at(file);
  }

  /** The engine of a dialect, or of one of its versions. */
  static Engine of(SQLDialect dialect) {
    return of(dialect, "dsl");
  }

  /**
   * @param argument what the caller calls the thing of that dialect
   */
  static Engine of(SQLDialect dialect, String argument) {
    return switch (dialect.family()) {
      case SQLITE -> new SqliteEngine();
      case POSTGRES -> new PostgresqlEngine();
      default ->
          throw new IllegalArgumentException(
              argument
                  + " must be of a dialect that redrive runs on, SQLITE or POSTGRES, it is of "
                  + dialect);
    };
  }

  abstract SQLDialect dialect();

  /** What redrive's own transactions run through, unless the host configured a provider. */
  abstract TransactionProvider transactionProvider(ConnectionProvider connections);

  /** The folder of this engine's migrations on the class path and under {@code db/migration}. */
  abstract String folder();

  /**
   * The name of a schema for redrive's tables.
   *
   * @throws IllegalArgumentException if it is none that statements can name without quotes, or the
   *     engine has no schemas
   */
  abstract String schema(@Nullable String name);

  /**
   * What the engine's catalog says of redrive's tables, one line a part. {@code catalog.txt} beside
   * the scripts has those that this version needs.
   *
   * @param schema where they are; null is the connection's current one
   */
  abstract Set<String> parts(Connection connection, @Nullable String schema) throws SQLException;

  /** The current time in SQL, of a parameter that may be null where {@link #clock} is null. */
  abstract Field<Long> now(Param<Long> now);

  /** The clock of a queue that was given none; null means the database's own. */
  abstract @Nullable InstantSource clock();

  /** Limits an update or delete to the ids that a select finds, and locks those, and only once. */
  abstract Condition idIn(SelectForUpdateStep<Record1<String>> ids);

  /** Limits an update to those of the ids whose rows meet a condition, and locks only those. */
  abstract Condition idAmong(Select<Record1<String>> ids, Condition condition);

  /** Makes a select keep its rows as it read them until the transaction ends. */
  abstract <R extends Record> Select<R> locking(SelectForUpdateStep<R> rows);

  /**
   * What a host's connection lacks for redrive's promises to hold; empty if nothing.
   *
   * @param pooled whether it comes from a data source, so that no work of the host's is open on it
   */
  abstract Optional<String> complaint(Connection connection, boolean pooled) throws SQLException;

  /** Reads while no transaction of another thread of ours is open on the connection. */
  <T> T alone(Connection connection, Supplier<T> read) throws SQLException {
    return read.get();
  }

  /** The connection behind a pool's, which tells two of them apart. */
  abstract Connection physical(Connection connection) throws SQLException;

  /**
   * Refuses a host's connection whose transaction the engine has undone behind the driver's back.
   */
  void refuseUndone(Connection connection) throws SQLException {}

  /**
   * Called when a failed call could not be taken back from a host's transaction, because that
   * transaction may be gone.
   *
   * @throws DataAccessException if the engine knows that it is, telling the host
   */
  abstract void lost(Connection connection, Throwable failed);

  /** Whether the server said that it undid a transaction as a whole, which may then be repeated. */
  abstract boolean undone(SQLException e);

  /**
   * Runs a migration on a data source that keeps it apart from other migrations of the database,
   * where Flyway itself does not.
   *
   * @throws IllegalStateException if Flyway lacks what it needs for this engine
   */
  abstract <T> T migrating(DataSource database, Function<DataSource, T> migration);

  @Override
  public String toString() {
    return folder();
  }
}
