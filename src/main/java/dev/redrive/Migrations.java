package dev.redrive;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.CoreMigrationType;
import org.flywaydb.core.api.configuration.FluentConfiguration;
import org.jooq.SQLDialect;
import org.jooq.exception.DataAccessException;
import org.jooq.tools.jdbc.JDBCUtils;
import org.jspecify.annotations.Nullable;

/**
 * Creates and upgrades redrive's tables with Flyway, beside whatever else is in the database. The
 * history is kept in a table of its own, {@code redrive_schema_history}, and the scripts lie where
 * a host's own Flyway does not look. On PostgreSQL the tables are those of the connection's current
 * schema, the first one of its search path, or of the one named by {@link #schema}.
 *
 * <p>Who runs scripts by other means takes them from {@link #sql} and has {@link #verify} look
 * whether all is there.
 */
public final class Migrations {
  /** Every script of every engine, oldest first. */
  static final List<String> SCRIPTS = List.of("V1__jobs.sql", "V2__redrives.sql");

  /** The version of the newest script. */
  static final String LATEST = version(SCRIPTS.get(SCRIPTS.size() - 1));

  private static final System.Logger LOG = System.getLogger(Migrations.class.getName());

  private final DataSource database;
  private final Engine engine;
  private final @Nullable String schema;

  Migrations(DataSource database, Engine engine, @Nullable String schema) {
    this.database = database;
    this.engine = engine;
    this.schema = schema;
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
      return new Migrations(database, Engine.of(JDBCUtils.dialect(connection), "database"), null);
    } catch (SQLException | RuntimeException e) {
      throw Drivers.explain(e);
    }
  }

  /**
   * These migrations in a schema of redrive's own, which is created where it is missing. A host's
   * Flyway then finds its own schema as if redrive were not there. Queues are to be told of it by
   * {@link JobQueue.Builder#schema}.
   *
   * @param schema the name of a PostgreSQL schema that needs no quotes
   * @return a copy
   * @throws IllegalArgumentException if null, on SQLite, or not such a name
   */
  public Migrations schema(String schema) {
    return new Migrations(database, engine, engine.schema(schema));
  }

  /**
   * A script that creates or changes redrive's tables.
   *
   * @param version 1, 2 and so on, in the order to run them
   * @param file its name in the library's jar
   * @param sql its text: statements that end in a semicolon and name no schema
   */
  public record Script(String version, String file, String sql) {
    /** Refuses missing parts. */
    public Script {
      Arguments.notNull(version, "version");
      Arguments.notNull(file, "file");
      Arguments.notNull(sql, "sql");
    }
  }

  /**
   * Every script of this version of the library, for teams that run them by their own means:
   * Liquibase, their own Flyway, or by hand. All of them on a new database; for an upgrade those
   * that are new since the version that ran before.
   *
   * @param dialect the engine
   * @return the scripts in the order to run them
   * @throws IllegalArgumentException if null, or an engine that redrive does not run on
   */
  public static List<Script> sql(SQLDialect dialect) {
    Engine engine = Engine.of(Arguments.notNull(dialect, "dialect"), "dialect");
    return SCRIPTS.stream()
        .map(file -> new Script(version(file), file, text(engine, file)))
        .toList();
  }

  private static String version(String file) {
    return file.substring(1, file.indexOf("__"));
  }

  /** A file that lies beside the engine's scripts. */
  static String text(Engine engine, String file) {
    String path = "migration/" + engine.folder() + "/" + file;
    try (InputStream stream = Migrations.class.getResourceAsStream(path)) {
      if (stream == null) {
        throw new IllegalStateException("redrive's jar lacks its file dev/redrive/" + path);
      }
      return new String(stream.readAllBytes(), UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
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
   * @throws IllegalStateException if other tables of these names are in the way, or parts of them
   *     were removed since; the text names what is missing
   */
  @CanIgnoreReturnValue
  public int migrate() {
    Installation found = look();
    if (found.isComplete()) {
      return 0;
    }
    if (found.isInTheWay()) {
      throw incomplete(found);
    }
    int executed = engine.migrating(database, source -> migrate(flyway(source)));
    verify();
    return executed;
  }

  private int migrate(Flyway flyway) {
    int executed = flyway.migrate().migrationsExecuted;
    if (schema == null && executed == SCRIPTS.size() && !isBesideOthers(flyway)) {
      LOG.log(
          System.Logger.Level.INFO,
          "redrive's tables are the first in this schema. A Flyway of your own that comes to it"
              + " later has to be told baselineOnMigrate(true) and baselineVersion(\"0\"); without"
              + " them it refuses the schema, or skips its first script");
    }
    return executed;
  }

  /** Flyway writes a baseline where the schema was not empty. */
  private static boolean isBesideOthers(Flyway flyway) {
    return Arrays.stream(flyway.info().applied())
        .anyMatch(script -> script.getType() == CoreMigrationType.BASELINE);
  }

  /**
   * Looks whether the tables are as this version of the library needs them, whoever created them:
   * columns with their types, keys, constraints and indexes. Changes nothing, and needs no right to
   * change anything.
   *
   * @throws IllegalStateException if not; the text names what is missing
   * @throws DataAccessException if the database does not answer
   */
  public void verify() {
    Installation found = look();
    if (!found.isComplete()) {
      throw incomplete(found);
    }
  }

  private static IllegalStateException incomplete(Installation found) {
    return new IllegalStateException(found.complaint());
  }

  private Installation look() {
    try (Connection connection = database.getConnection()) {
      return Installation.look(engine, connection, schema);
    } catch (SQLException e) {
      throw new DataAccessException("Cannot look at the database to migrate", e);
    }
  }

  Flyway flyway(DataSource source) {
    FluentConfiguration configuration =
        Flyway.configure(Migrations.class.getClassLoader())
            .dataSource(source)
            .locations("classpath:dev/redrive/migration/" + engine.folder())
            .table(Installation.HISTORY)
            .baselineOnMigrate(true)
            .baselineVersion("0");
    return (schema == null ? configuration : configuration.schemas(schema)).load();
  }
}
