package dev.redrive;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The PostgreSQL that this JVM tests on: an embedded one, as durable as in production, stopped when
 * the JVM ends; or the one that the system property {@code redrive.test.postgresql.url} names by a
 * JDBC URL with user and password of a superuser.
 */
final class PostgresqlServer {
  private static final String URL_PROPERTY = "redrive.test.postgresql.url";
  private static final Pattern URL =
      Pattern.compile("jdbc:postgresql://(?<host>[^:/]+):(?<port>\\d+)/(?<name>[^?]*)(?<rest>.*)");
  private static final AtomicInteger NAMES = new AtomicInteger();

  private PostgresqlServer() {}

  /** Starts with the first use. */
  private static final class Running {
    static final String URL = start();

    private static String start() {
      String given = System.getProperty(URL_PROPERTY, "");
      return given.isEmpty() ? embedded() : given;
    }

    private static String embedded() {
      try {
        return EmbeddedPostgres.builder()
            .setServerConfig("fsync", "on")
            .setServerConfig("synchronous_commit", "on")
            .setServerConfig("full_page_writes", "on")
            .start()
            .getJdbcUrl("postgres", "postgres");
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  static String url() {
    return Running.URL;
  }

  static String host() {
    return parsed().group("host");
  }

  static int port() {
    return Integer.parseInt(parsed().group("port"));
  }

  private static Matcher parsed() {
    Matcher url = URL.matcher(url());
    if (!url.matches()) {
      throw new IllegalStateException(URL_PROPERTY + " must look like " + URL.pattern());
    }
    return url;
  }

  static Connection connect() throws SQLException {
    return DriverManager.getConnection(url());
  }

  /** Runs a statement on the server's own database, outside a transaction. */
  static void execute(String statement) {
    try (Connection connection = connect();
        Statement executed = connection.createStatement()) {
      executed.execute(statement);
    } catch (SQLException e) {
      throw new IllegalStateException(statement, e);
    }
  }

  static String freshName(String prefix) {
    return prefix + "_" + ProcessHandle.current().pid() + "_" + NAMES.incrementAndGet();
  }

  /** An empty database, dropped when closed. */
  static Database database(String options) {
    String name = freshName("redrive_test");
    execute("create database " + name + " " + options);
    Matcher url = parsed();
    return new Database(
        name,
        "jdbc:postgresql://"
            + url.group("host")
            + ":"
            + url.group("port")
            + "/"
            + name
            + url.group("rest"));
  }

  record Database(String name, String url) implements AutoCloseable {
    @Override
    public void close() {
      execute("drop database " + name + " with (force)");
    }
  }

  static String with(String url, String parameter) {
    return url + (url.contains("?") ? "&" : "?") + parameter;
  }

  static HikariDataSource pool(String url, int size) {
    return pool(url, size, 10_000);
  }

  static HikariDataSource pool(String url, int size, long patienceMillis) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url);
    config.setMaximumPoolSize(size);
    config.setMinimumIdle(1);
    config.setConnectionTimeout(patienceMillis);
    return new HikariDataSource(config);
  }
}
