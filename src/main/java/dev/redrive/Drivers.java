package dev.redrive;

import java.sql.SQLException;
import org.jooq.exception.DataAccessException;

/** Tells a JDBC driver that is missing from a database that does not answer. */
final class Drivers {
  /** How {@link java.sql.DriverManager} begins; it has no error code of its own for this. */
  private static final String NO_DRIVER = "No suitable driver";

  private Drivers() {}

  /** What to throw when a connection could not be had. */
  static RuntimeException explain(Exception e) {
    for (Throwable cause = e; cause != null; cause = cause.getCause()) {
      if (cause instanceof SQLException && String.valueOf(cause.getMessage()).contains(NO_DRIVER)) {
        return new IllegalStateException(
            "the JDBC driver is not on the class path; add org.postgresql:postgresql for PostgreSQL,"
                + " org.xerial:sqlite-jdbc for SQLite",
            e);
      }
    }
    return e instanceof RuntimeException unchecked
        ? unchecked
        : new DataAccessException("Cannot connect to the database: " + e.getMessage(), e);
  }
}
