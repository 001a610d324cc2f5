package dev.redrive;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** A database without a table, by the URL that a host connects to it with; gone when closed. */
public final class EmptyDatabase implements AutoCloseable {
  private final String url;
  private final Runnable drop;

  private EmptyDatabase(String url, Runnable drop) {
    this.url = url;
    this.drop = drop;
  }

  public static EmptyDatabase of(Backend backend) {
    return backend == Backend.POSTGRESQL ? postgresql() : sqlite();
  }

  private static EmptyDatabase postgresql() {
    PostgresqlServer.Database database = PostgresqlServer.database("");
    return new EmptyDatabase(database.url(), database::close);
  }

  private static EmptyDatabase sqlite() {
    try {
      Path folder = Files.createDirectories(Path.of("target", "test-databases")).toAbsolutePath();
      Path file = Files.createTempFile(folder, "empty", ".db");
      return new EmptyDatabase("jdbc:sqlite:" + file + "?foreign_keys=on", () -> delete(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void delete(Path file) {
    try {
      Files.delete(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public String url() {
    return url;
  }

  public void execute(String statement) {
    try (Connection connection = DriverManager.getConnection(url);
        Statement executed = connection.createStatement()) {
      executed.execute(statement);
    } catch (SQLException e) {
      throw new IllegalStateException(statement, e);
    }
  }

  /** The first column of a query's rows as text. */
  public List<String> texts(String query) {
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(query)) {
      List<String> texts = new ArrayList<>();
      while (rows.next()) {
        texts.add(rows.getString(1));
      }
      return texts;
    } catch (SQLException e) {
      throw new IllegalStateException(query, e);
    }
  }

  @Override
  public void close() {
    drop.run();
  }
}
