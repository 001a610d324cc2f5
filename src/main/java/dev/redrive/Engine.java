package dev.redrive;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.InstantSource;
import java.util.Optional;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jooq.Condition;
import org.jooq.ConnectionProvider;
import org.jooq.Field;
import org.jooq.Param;
import org.jooq.Record1;
import org.jooq.SQLDialect;
import org.jooq.Select;
import org.jooq.TransactionProvider;
import org.jspecify.annotations.Nullable;

/** A database that redrive runs on: what differs from one to the next, and only that. */
public abstract sealed class Engine permits SqliteEngine {

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
    return switch (dialect.family()) {
      case SQLITE -> new SqliteEngine();
      default ->
          throw new IllegalArgumentException(
              "dsl: redrive runs on the dialect SQLITE, not on " + dialect);
    };
  }

  abstract SQLDialect dialect();

  /** What redrive's own transactions run through, unless the host configured a provider. */
  abstract TransactionProvider transactionProvider(ConnectionProvider connections);

  /** The folder of this engine's migrations on the class path and under {@code db/migration}. */
  abstract String folder();

  /** The current time in SQL, of a parameter that may be null where {@link #clock} is null. */
  abstract Field<Long> now(Param<Long> now);

  /** The clock of a queue that was given none; null means the database's own. */
  abstract @Nullable InstantSource clock();

  /** Limits an update or delete to the ids that a select with a limit finds. */
  abstract Condition idIn(Select<Record1<String>> ids);

  /**
   * What a host's connection lacks for redrive's promises to hold; empty if nothing.
   *
   * @param pooled whether it comes from a data source, so that no work of the host's is open on it
   */
  abstract Optional<String> complaint(Connection connection, boolean pooled) throws SQLException;

  /** Keeps concurrent migrations of one database apart where Flyway does not. */
  abstract <T> T migrating(DataSource database, Supplier<T> migration);

  @Override
  public String toString() {
    return folder();
  }
}
