package dev.redrive;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ServiceLoader;
import java.util.function.Function;
import javax.sql.DataSource;
import org.flywaydb.core.extensibility.Plugin;
import org.jooq.SQLDialect;

/**
 * Runs Flyway as one transaction at READ COMMITTED, which holds an advisory lock from before
 * Flyway's first look until all is done. Flyway's own lock comes after it has decided whether to
 * create its history, and is of no use where transactions are serializable by default, because they
 * look at the time before the lock: of hosts that start at once, some would fail.
 */
final class PostgresqlMigration {
  private static final String SUPPORT = "org.flywaydb.database.postgresql.PostgreSQLDatabaseType";

  /** "redrive" in ASCII. */
  private static final long LOCK = 0x72656472697665L;

  private PostgresqlMigration() {}

  static <T> T run(DataSource database, Function<DataSource, T> migration) {
    refuseMissingSupport();
    return OneTransaction.run(
        SQLDialect.POSTGRES,
        database,
        new PostgresqlTransactionProvider(),
        PostgresqlMigration::lock,
        migration);
  }

  private static void lock(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("select pg_advisory_xact_lock(" + LOCK + ")");
    }
  }

  private static void refuseMissingSupport() {
    ClassLoader loader = Migrations.class.getClassLoader();
    if (ServiceLoader.load(Plugin.class, loader).stream()
        .noneMatch(plugin -> plugin.type().getName().equals(SUPPORT))) {
      throw new IllegalStateException(
          "redrive's migrations on PostgreSQL need org.flywaydb:flyway-database-postgresql on the"
              + " class path, in the version of flyway-core; in a jar merged of many, merge their"
              + " META-INF/services as well");
    }
  }
}
