package dev.redrive;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jooq.exception.DataAccessException;
import org.jspecify.annotations.Nullable;

/**
 * What of redrive's tables is in a database, whoever created them.
 *
 * @param history whether Flyway's history of ours is there
 * @param latest whether it says that all scripts of this version have run
 * @param found tables that have a name of ours
 * @param missing what this version needs and the database lacks, as in {@code catalog.txt} beside
 *     the scripts: columns, keys, constraints and indexes
 */
record Installation(boolean history, boolean latest, List<String> found, List<String> missing) {
  static final String HISTORY = "redrive_schema_history";

  private static final String TABLE = "table ";
  private static final List<String> TABLES = List.of("jobs", "redrives");
  private static final int NAMED = 8;

  /**
   * Looks. Whoever migrates at this moment commits tables and history at once: where the history is
   * complete and the tables were not, they are looked at again, after it.
   */
  static Installation look(Engine engine, Connection connection, @Nullable String schema) {
    try {
      Set<String> parts = engine.parts(connection, schema);
      boolean latest = has(parts, HISTORY) && migratedTo(Migrations.LATEST, connection, schema);
      Installation found = of(engine, latest, parts);
      return latest && !found.isComplete()
          ? of(engine, true, engine.parts(connection, schema))
          : found;
    } catch (SQLException e) {
      throw new DataAccessException(
          "Cannot look at redrive's tables, which takes the right to use their schema and to select"
              + " from "
              + HISTORY
              + ": "
              + e.getMessage(),
          e);
    }
  }

  private static Installation of(Engine engine, boolean latest, Set<String> parts) {
    List<String> found = TABLES.stream().filter(table -> has(parts, table)).toList();
    return new Installation(
        has(parts, HISTORY),
        latest,
        found,
        catalog(engine)
            .filter(part -> !parts.contains(part))
            .filter(part -> part.startsWith(TABLE) || found.contains(table(part)))
            .toList());
  }

  private static boolean has(Set<String> parts, String table) {
    String name = TABLE + table;
    return parts.stream().anyMatch(part -> part.equals(name) || part.startsWith(name + " "));
  }

  /** The table of a part: the name before the first dot or bracket. */
  private static String table(String part) {
    return part.replaceAll("^(?:[a-z]+ )+(\\w+)[. ].*", "$1");
  }

  /** Every part of the tables that this version needs. */
  private static Stream<String> catalog(Engine engine) {
    return Migrations.text(engine, "catalog.txt").lines();
  }

  private static boolean migratedTo(String version, Connection connection, @Nullable String schema)
      throws SQLException {
    String table = schema == null ? HISTORY : schema + "." + HISTORY;
    try (Statement statement = connection.createStatement();
        ResultSet versions =
            statement.executeQuery("select version from " + table + " where success")) {
      boolean found = false;
      while (versions.next()) {
        found |= version.equals(versions.getString(1));
      }
      return found;
    }
  }

  boolean isComplete() {
    return missing.isEmpty() && (latest || !history);
  }

  /** Whether there are tables that Flyway did not create and cannot complete. */
  boolean isInTheWay() {
    return !history && !found.isEmpty() && !missing.isEmpty();
  }

  /** What is wrong with tables that are not complete, and what to do about it. */
  String complaint() {
    if (isInTheWay() && isOurs()) {
      return "redrive's tables are incomplete; missing: "
          + missingParts()
          + ". Run what is missing of the scripts of Migrations.sql";
    } else if (isInTheWay()) {
      return "the database has a table "
          + found.get(0)
          + " that redrive did not create and that is not as this version needs it; missing: "
          + missingParts()
          + ". Keep redrive in a database or schema of its own, or rename that table; or run what"
          + " is missing, if you run the scripts of Migrations.sql yourself";
    } else if (!latest) {
      return "redrive's tables are "
          + (history ? "older than this version of the library" : "missing")
          + "; run Migrations.of(dataSource).migrate() first, or the scripts of Migrations.sql";
    }
    return "redrive's tables are incomplete though "
        + HISTORY
        + " says that they were created; missing: "
        + missingParts()
        + ". Restore that, or drop what is left of the tables and the history";
  }

  /** Whether one of the tables is whole, as nobody else's would be. */
  private boolean isOurs() {
    return found.stream()
        .anyMatch(table -> missing.stream().noneMatch(part -> table(part).equals(table)));
  }

  private String missingParts() {
    String named = String.join("; ", missing.subList(0, Math.min(NAMED, missing.size())));
    return missing.size() <= NAMED ? named : named + "; and " + (missing.size() - NAMED) + " more";
  }
}
