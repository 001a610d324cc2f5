package dev.redrive;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;
import org.jooq.DSLContext;
import org.jooq.SQLDialect;

/** The engines that the suite runs on, with production settings. */
public enum Backend {
  SQLITE(SQLDialect.SQLITE) {
    @Override
    Store open() {
      return SqliteStore.copy(Journal.DELETE);
    }

    @Override
    public DSLContext connect(String url) {
      return SqliteStore.at(url, Journal.DELETE).dsl();
    }
  },

  /** Only where the journal matters: it runs the same SQL. */
  SQLITE_WAL(SQLDialect.SQLITE) {
    @Override
    Store open() {
      return SqliteStore.copy(Journal.WAL);
    }

    @Override
    public DSLContext connect(String url) {
      return SqliteStore.at(url, Journal.WAL).dsl();
    }
  },

  POSTGRESQL(SQLDialect.POSTGRES) {
    @Override
    Store open() {
      return PostgresqlStore.open();
    }

    @Override
    public DSLContext connect(String url) {
      return PostgresqlStore.dsl(PostgresqlServer.pool(url, 4));
    }

    @Override
    void breakWrites(Store store, String event, String table) {
      execute(
          store,
          "create or replace function broken() returns trigger language plpgsql"
              + " as 'begin raise ''broken''; end'; create trigger broken before "
              + event
              + " on "
              + table
              + " for each row execute function broken()");
    }

    @Override
    void mend(Store store, String table) {
      execute(store, "drop trigger broken on " + table);
    }
  };

  private final SQLDialect dialect;

  Backend(SQLDialect dialect) {
    this.dialect = dialect;
  }

  /** A fresh database with redrive's tables. */
  abstract Store open();

  /** A store's database, as another process opens it. */
  public abstract DSLContext connect(String url);

  /** Makes every insert into a table fail, until mended. */
  void breakInserts(Store store, String table) {
    breakWrites(store, "insert", table);
  }

  /** Makes every update of a table fail, until mended. */
  void breakUpdates(Store store, String table) {
    breakWrites(store, "update", table);
  }

  void breakWrites(Store store, String event, String table) {
    execute(
        store,
        "create trigger broken before "
            + event
            + " on "
            + table
            + " begin select raise(abort, 'broken'); end");
  }

  void mend(Store store, String table) {
    execute(store, "drop trigger broken");
  }

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
  public interface Store extends AutoCloseable {
    DataSource dataSource();

    DSLContext dsl();

    /** Where another process finds it. */
    default String url() {
      try (Connection connection = dataSource().getConnection()) {
        return connection.getMetaData().getURL();
      } catch (SQLException e) {
        throw new IllegalStateException(e);
      }
    }

    @Override
    void close();
  }

  private record SqliteStore(SqliteDatabase database, Path file) implements Store {
    private static final String URL = "jdbc:sqlite:";

    /** Patient, because SQLite's busy wait is unfair among processes. */
    static SqliteDatabase at(String url, Journal journal) {
      return Engine.sqlite(Path.of(url.substring(URL.length())))
          .journal(journal)
          .busyTimeout(Duration.ofMinutes(1))
          .open();
    }

    static SqliteStore copy(Journal journal) {
      try {
        Path file = Templates.FOLDER.resolve(UUID.randomUUID() + ".db");
        Files.copy(Templates.of(journal), file);
        return new SqliteStore(Engine.sqlite(file).journal(journal).open(), file);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
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
    private static final Map<Journal, Path> FILES = new ConcurrentHashMap<>();

    static {
      try {
        FOLDER = Files.createDirectories(Path.of("target", "test-databases")).toAbsolutePath();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    static Path of(Journal journal) {
      return FILES.computeIfAbsent(journal, Templates::create);
    }

    private static Path create(Journal journal) {
      try {
        Path file = Files.createTempFile(FOLDER, "template", ".db");
        Engine.sqlite(file).journal(journal).open().close();
        return file;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
