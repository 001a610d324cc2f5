package dev.redrive;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.UUID;
import javax.sql.DataSource;
import org.jooq.DSLContext;
import org.jooq.SQLDialect;

/** The engines that the suite runs on, with production settings. */
public enum Backend {
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
  };

  private final SQLDialect dialect;

  Backend(SQLDialect dialect) {
    this.dialect = dialect;
  }

  /** A fresh database with redrive's tables. */
  abstract Store open();

  Engine engine() {
    return Engine.of(dialect);
  }

  /** A database of one test. */
  public interface Store extends AutoCloseable {
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
