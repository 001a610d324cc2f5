package dev.redrive;

import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * The settings of a SQLite file, made by {@link Engine#sqlite}. Immutable: each setting answers a
 * changed copy.
 *
 * @param file the database file
 * @param journal how transactions are kept undoable
 * @param busyTimeout how long a transaction waits for others, 1 ms to 1 hour
 * @param connections the most connections the pool opens, 1 to 64
 */
public record SqliteFile(Path file, Journal journal, Duration busyTimeout, int connections) {
  private static final Duration MAX_BUSY_TIMEOUT = Duration.ofHours(1);

  /** Refuses bad input, naming argument and rule. */
  public SqliteFile {
    Arguments.notNull(file, "file");
    Arguments.notNull(journal, "journal");
    Arguments.positive(busyTimeout, "busyTimeout");
    if (busyTimeout.compareTo(MAX_BUSY_TIMEOUT) > 0) {
      throw new IllegalArgumentException(
          "busyTimeout must be 1 ms to 1 hour, it is " + busyTimeout);
    }
    Arguments.range(connections, "connections", 1, 64);
    if (file.getFileSystem() != FileSystems.getDefault()) {
      throw new IllegalArgumentException(
          "file must lie in the machine's own file system, not in " + file.getFileSystem());
    }
    if (file.toString().equals(":memory:")) {
      throw new IllegalArgumentException(
          "file must be a file; a database in memory is lost with its connection");
    }
    file = file.toAbsolutePath();
    if (!file.toString().equals(file.toString().trim())) {
      throw new IllegalArgumentException(
          "file must not end with a space or a control character, which the driver cuts off: "
              + file);
    }
    if (file.toString().contains("?")) {
      throw new IllegalArgumentException(
          "file must not hold a question mark, which the driver takes for settings: " + file);
    }
    if (Files.isDirectory(file)) {
      throw new IllegalArgumentException("file must not be a folder: " + file);
    }
    Path folder = file.getParent();
    if (folder == null || !Files.isDirectory(folder)) {
      throw new IllegalArgumentException("file must lie in a folder that exists: " + file);
    }
  }

  static SqliteFile at(Path file) {
    return new SqliteFile(file, Journal.DELETE, Duration.ofSeconds(5), 8);
  }

  /**
   * These settings with another journal. It is set when the file is created, and every process that
   * opens the file has to choose the same: a file that has another is refused.
   *
   * @param journal the journal
   * @return a copy
   * @throws IllegalArgumentException if null
   */
  public SqliteFile journal(Journal journal) {
    return new SqliteFile(file, journal, busyTimeout, connections);
  }

  /**
   * These settings with another patience. A call that can't begin its transaction for so long
   * throws and has changed nothing.
   *
   * @param busyTimeout 1 ms to 1 hour
   * @return a copy
   * @throws IllegalArgumentException if null or out of range
   */
  public SqliteFile busyTimeout(Duration busyTimeout) {
    return new SqliteFile(file, journal, busyTimeout, connections);
  }

  /**
   * These settings with another size of the pool. One writes at a time; more connections let more
   * threads read and wait.
   *
   * @param connections 1 to 64
   * @return a copy
   * @throws IllegalArgumentException if out of range
   */
  public SqliteFile connections(int connections) {
    return new SqliteFile(file, journal, busyTimeout, connections);
  }

  /**
   * Opens the file, creating it and redrive's tables where they are missing. Several processes may
   * do so at once.
   *
   * @return the open database, to be closed by the caller
   * @throws IllegalStateException if HikariCP or sqlite-jdbc is not on the class path, or the file
   *     has another journal than the one chosen
   * @throws RuntimeException if the file cannot be opened, is no database, or cannot be migrated
   */
  public SqliteDatabase open() {
    return SqliteDatabase.open(this);
  }
}
