package dev.redrive;

import java.util.function.Function;
import javax.sql.DataSource;
import org.jooq.SQLDialect;

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
        return OneTransaction.run(
            SQLDialect.SQLITE,
            database,
            new SqliteTransactionProvider(),
            connection -> {}, // BEGIN IMMEDIATE took it
            migration);
      } catch (RuntimeException e) {
        if (tries == TRIES || !SqliteConnections.causedByBusy(e)) {
          throw e;
        }
      }
    }
  }
}
