package dev.redrive;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;
import javax.sql.DataSource;
import org.jooq.DSLContext;
import org.jooq.SQLDialect;

/** The engines that the suite runs on, with production settings. */
enum Backend {
  SQLITE(SQLDialect.SQLITE) {
    @Override
    Store open() {
      try {
        Path file = Templates.FOLDER.resolve(UUID.randomUUID() + ".db");
        Files.copy(Templates.SQLITE, file, StandardCopyOption.REPLACE_EXISTING);
        return SqliteStore.open(Engine.sqlite(file));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    void breakInserts(Store store, String table) {
      execute(store, "create trigger broken before insert on " + table + RAISE);
    }

    @Override
    void mendInserts(Store store, String table) {
      execute(store, "drop trigger broken");
    }

    @Override
    void breakUpdates(Store store, String table) {
      execute(store, "create trigger broken before update on " + table + RAISE);
    }

    @Override
    void mendUpdates(Store store, String table) {
      execute(store, "drop trigger broken");
    }
  },

  POSTGRESQL(SQLDialect.POSTGRES) {
    @Override
    Store open() {
      return PostgresqlStore.open();
    }

    @Override
    void breakInserts(Store store, String table) {
      execute(store, BROKEN + "create trigger broken before insert on " + table + CALL);
    }

    @Override
    void mendInserts(Store store, String table) {
      execute(store, "drop trigger broken on " + table);
    }

    @Override
    void breakUpdates(Store store, String table) {
      execute(store, BROKEN + "create trigger broken before update on " + table + CALL);
    }

    @Override
    void mendUpdates(Store store, String table) {
      execute(store, "drop trigger broken on " + table);
    }
  };

  private static final String BROKEN =
      "create or replace function broken() returns trigger language plpgsql"
          + " as 'begin raise ''broken''; end';";
  private static final String CALL = " for each row execute function broken()";
  private static final String RAISE = " begin select raise(abort, 'broken'); end";

  private final SQLDialect dialect;

  Backend(SQLDialect dialect) {
    this.dialect = dialect;
  }

  /** A fresh database with redrive's tables. */
  abstract Store open();

  /** Makes every insert into a table fail, until mended. */
  abstract void breakInserts(Store store, String table);

  abstract void mendInserts(Store store, String table);

  /** Makes every update of a table fail, until mended. */
  abstract void breakUpdates(Store store, String table);

  abstract void mendUpdates(Store store, String table);

  static void execute(Store store, String statement) {
    try (Connection connection = store.dataSource().getConnection();
        Statement planted = connection.createStatement()) {
      planted.execute(statement);
    } catch (SQLException e) {
      throw new IllegalStateException(statement, e);
    }
  }

  Engine engine() {
    return Engine.of(dialect);
  }

  /** A database of one test. */
  interface Store extends AutoCloseable {
    DataSource dataSource();

    DSLContext dsl();

    @Override
    void close();
  }

  private record SqliteStore(SqliteDatabase database, Path file) implements Store {
    static SqliteStore open(SqliteFile settings) {
      return new SqliteStore(settings.open(), settings.file());
    }

    @Override
    public DataSource dataSource() {
      return database.dataSource();
    }

    @Override
    public DSLContext dsl() {
      return database.dsl();
    }

    @Override
    public void close() {
      database.close();
      try {
        Files.deleteIfExists(file);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** Databases migrated once, copied for each test. */
  private static final class Templates {
    static final Path FOLDER;
    static final Path SQLITE;

    static {
      try {
        FOLDER = Files.createDirectories(Path.of("target", "test-databases")).toAbsolutePath();
        SQLITE = Files.createTempFile(FOLDER, "template", ".db");
        Engine.sqlite(SQLITE).open().close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
