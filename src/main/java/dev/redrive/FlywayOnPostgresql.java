package dev.redrive;

import java.sql.SQLException;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.exception.FlywayValidateException;
import org.flywaydb.core.extensibility.Plugin;

/**
 * Runs Flyway where several hosts may do so at once. It takes an advisory lock, but decides before
 * it whether to create its history, and where transactions are serializable by default it looks at
 * the time before the lock: the second of two then fails. So threads of this JVM go one after the
 * other, and a run that another process was in the way of is repeated.
 */
final class FlywayOnPostgresql {
  private static final String SUPPORT = "org.flywaydb.database.postgresql.PostgreSQLDatabaseType";
  private static final int TRIES = 10;
  private static final Lock ONE_AT_A_TIME = new ReentrantLock(true);

  /** Serialization failure, deadlock, and what was created a moment ago by another. */
  private static final Set<String> LOST_TO_ANOTHER =
      Set.of("40001", "40P01", "23505", "42P07", "42710");

  private FlywayOnPostgresql() {}

  static <T> T run(Supplier<T> migration) {
    refuseMissingSupport();
    ONE_AT_A_TIME.lock();
    try {
      return repeated(migration);
    } finally {
      ONE_AT_A_TIME.unlock();
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

  private static <T> T repeated(Supplier<T> migration) {
    for (int tries = 1; ; tries++) {
      try {
        return migration.get();
      } catch (FlywayException e) {
        if (tries == TRIES || !lostToAnother(e)) {
          throw e;
        }
        LockSupport.parkNanos(
            TimeUnit.MILLISECONDS.toNanos(ThreadLocalRandom.current().nextInt(20, 200)));
      }
    }
  }

  /** Flyway has no code for finding that the history it wanted to create is there by now. */
  private static boolean lostToAnother(FlywayException e) {
    for (Throwable cause = e; cause != null; cause = cause.getCause()) {
      if (cause instanceof SQLException sql) {
        return LOST_TO_ANOTHER.contains(String.valueOf(sql.getSQLState()));
      }
    }
    return !(e instanceof FlywayValidateException);
  }
}
