package dev.redrive;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;

/**
 * A process that shares SQLite files, and does to them what a test tells it on standard input. It
 * answers each line by {@code ok} or what it could not do.
 */
final class SqliteNeighbour {
  private static final int PAGE = 4_096;
  private static final String UPDATE = "update jobs set fault = fault";

  private final Path file;
  private final Statement statement;
  private byte[] whole = {};

  private SqliteNeighbour(Path file, Statement statement) {
    this.file = file;
    this.statement = statement;
  }

  /** Each first line names a file, which the lines up to an empty one are about. */
  public static void main(String[] arguments) throws IOException {
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    for (String file = lines.readLine(); file != null; file = lines.readLine()) {
      try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
          Statement statement = connection.createStatement()) {
        statement.execute("pragma busy_timeout = 5000");
        SqliteNeighbour neighbour = new SqliteNeighbour(Path.of(file), statement);
        System.out.println("ok");
        for (String word = lines.readLine(); !"".equals(word); word = lines.readLine()) {
          System.out.println(neighbour.answer(word));
        }
      } catch (SQLException e) {
        System.out.println(e.getMessage());
      }
    }
  }

  private String answer(String word) throws IOException {
    try {
      obey(word);
      return "ok";
    } catch (SQLException e) {
      return e.getMessage();
    }
  }

  private void obey(String word) throws SQLException, IOException {
    switch (word) {
      case "write" -> statement.execute("begin immediate");
      case "keep to itself" -> statement.execute("begin exclusive");
      case "read" -> {
        statement.execute("begin");
        statement.executeQuery("select count(*) from jobs").close();
      }
      case "commit" -> statement.execute("commit");
      case "write and commit" -> {
        statement.execute("begin immediate");
        statement.execute(UPDATE);
        statement.execute("commit");
      }
      case "overwrite" -> overwrite(0);
      case "overwrite all but the first page" -> overwrite(PAGE);
      case "cut off all but the first page" -> cutOff();
      case "restore" -> Files.write(file, whole);
      default -> throw new IllegalArgumentException(word);
    }
  }

  private void overwrite(int from) throws SQLException, IOException {
    take();
    byte[] rubbish = whole.clone();
    Arrays.fill(rubbish, from, rubbish.length, (byte) 'x');
    Files.write(file, rubbish);
  }

  private void cutOff() throws SQLException, IOException {
    take();
    try (RandomAccessFile cut = new RandomAccessFile(file.toFile(), "rw")) {
      cut.setLength(PAGE);
    }
  }

  /** Writes first, so that nobody goes on with the pages in their memory. */
  private void take() throws SQLException, IOException {
    statement.execute(UPDATE);
    statement.execute("pragma wal_checkpoint(truncate)");
    whole = Files.readAllBytes(file);
  }
}
