package dev.redrive;

import dev.redrive.schema.DefaultSchema;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.jooq.Field;
import org.jooq.Table;
import org.jooq.UniqueKey;
import org.jooq.exception.DataAccessException;
import org.jooq.tools.jdbc.JDBCUtils;
import org.jspecify.annotations.Nullable;

/**
 * Creates and upgrades redrive's tables with Flyway, beside whatever else is in the database. The
 * history is kept in a table of its own, {@code redrive_schema_history}, and the scripts lie where
 * a host's own Flyway does not look. On PostgreSQL the tables are those of the connection's current
 * schema, the first one of its search path.
 */
public final class Migrations {
  /** The newest script, {@code V<version>__….sql}, of every engine. */
  static final String LATEST = "2";

  static final String HISTORY = "redrive_schema_history";

  private final DataSource database;
  private final Engine engine;

  private Migrations(DataSource database, Engine engine) {
    this.database = database;
    this.engine = engine;
  }

  /**
   * The migrations for a database.
   *
   * @param database where the tables are or will be
   * @return the migrations; nothing has run yet
   * @throws IllegalArgumentException if null, or an engine that redrive does not run on
   * @throws IllegalStateException if the JDBC driver is missing
   * @throws DataAccessException if there is no connection
   */
  public static Migrations of(DataSource database) {
    Arguments.notNull(database, "database");
    try (Connection connection = database.getConnection()) {
      return new Migrations(database, Engine.of(JDBCUtils.dialect(connection), "database"));
    } catch (SQLException | RuntimeException e) {
      throw Drivers.explain(e);
    }
  }

  /**
   * Brings the tables to this version of the library. Safe to call at every start, from several
   * threads and processes at once.
   *
   * @return how many scripts ran; 0 means that the tables were up to date
   * @throws IllegalStateException if Flyway's module for this engine is missing
   * @throws org.flywaydb.core.api.FlywayException if a script fails, or one that has run before was
   *     changed since
   * @throws IllegalStateException if other tables of these names are in the way
   */
  @CanIgnoreReturnValue
  public int migrate() {
    if (isComplete()) {
      return 0;
    }
    int executed =
        engine.migrating(database, source -> flyway(source).migrate().migrationsExecuted);
    if (!isComplete()) {
      throw new IllegalStateException(
          "redrive's tables are incomplete though "
              + HISTORY
              + " says that they were created; restore them, or drop what is left of them and the"
              + " history");
    }
    return executed;
  }

  private boolean isComplete() {
    try (Connection connection = database.getConnection()) {
      boolean complete = isComplete(connection);
      if (!complete) {
        refuseForeignTables(connection);
      }
      return complete;
    } catch (SQLException e) {
      throw new DataAccessException("Cannot look at the database to migrate", e);
    }
  }

  /** Looks for the history last: whoever migrates at this moment writes it before the tables. */
  private static void refuseForeignTables(Connection connection) throws SQLException {
    for (Table<?> table : DefaultSchema.DEFAULT_SCHEMA.getTables()) {
      if (!columns(connection, table.getName()).isEmpty()
          && columns(connection, HISTORY).isEmpty()) {
        throw new IllegalStateException(
            "the database has a table "
                + table.getName()
                + " that redrive did not create and that is not as this version needs it;"
                + " keep redrive in a database of its own, or rename that table");
      }
    }
  }

  Flyway flyway(DataSource source) {
    return Flyway.configure(Migrations.class.getClassLoader())
        .dataSource(source)
        .locations("classpath:dev/redrive/migration/" + engine.folder())
        .table(HISTORY)
        .baselineOnMigrate(true)
        .baselineVersion("0")
        .load();
  }

  /**
   * Whether a database has the tables of this version, whoever created them: by the history, if
   * there is one, and by what the tables are.
   */
  static boolean isComplete(Connection connection) throws SQLException {
    if (!columns(connection, HISTORY).isEmpty() && !migratedToLatest(connection)) {
      return false;
    }
    for (Table<?> table : DefaultSchema.DEFAULT_SCHEMA.getTables()) {
      if (!isWhole(connection, table)) {
        return false;
      }
    }
    return true;
  }

  private static boolean migratedToLatest(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet versions =
            statement.executeQuery("select version from " + HISTORY + " where success")) {
      boolean found = false;
      while (versions.next()) {
        found |= LATEST.equals(versions.getString(1));
      }
      return found;
    }
  }

  /** Columns and keys: without the keys, the same id could be stored and claimed twice. */
  private static boolean isWhole(Connection connection, Table<?> table) throws SQLException {
    DatabaseMetaData metaData = connection.getMetaData();
    String catalog = connection.getCatalog();
    String schema = connection.getSchema();
    String name = table.getName();
    if (!columns(connection, name).containsAll(names(table.fields()))) {
      return false;
    }
    UniqueKey<?> key = Objects.requireNonNull(table.getPrimaryKey());
    try (ResultSet primary = metaData.getPrimaryKeys(catalog, schema, name);
        ResultSet foreign = metaData.getImportedKeys(catalog, schema, name)) {
      return names(primary, "COLUMN_NAME").equals(names(key.getFieldsArray()))
          && names(foreign, "FKCOLUMN_NAME")
              .equals(
                  table.getReferences().stream()
                      .flatMap(reference -> names(reference.getFieldsArray()).stream())
                      .collect(Collectors.toSet()));
    }
  }

  private static Set<String> names(Field<?>[] fields) {
    return Arrays.stream(fields).map(Field::getName).collect(Collectors.toSet());
  }

  private static Set<String> names(ResultSet rows, String column) throws SQLException {
    Set<String> names = new HashSet<>();
    while (rows.next()) {
      names.add(rows.getString(column).toLowerCase(Locale.ROOT));
    }
    return names;
  }

  private static Set<String> columns(Connection connection, String table) throws SQLException {
    DatabaseMetaData metaData = connection.getMetaData();
    String escape = metaData.getSearchStringEscape();
    try (ResultSet columns =
        metaData.getColumns(
            connection.getCatalog(),
            literal(connection.getSchema(), escape),
            literal(table, escape),
            null)) {
      return names(columns, "COLUMN_NAME");
    }
  }

  /**
   * JDBC takes a name for a LIKE pattern here: {@code my_app} would find {@code my-app} as well.
   */
  private static @Nullable String literal(@Nullable String name, String escape) {
    return name == null
        ? null
        : name.replace(escape, escape + escape)
            .replace("_", escape + "_")
            .replace("%", escape + "%");
  }
}
