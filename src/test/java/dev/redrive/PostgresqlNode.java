package dev.redrive;

import static org.assertj.core.api.Assertions.assertThat;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A PostgreSQL server of one test's own, as durable as in production, that may be killed, started
 * again and followed by a standby.
 */
final class PostgresqlNode implements AutoCloseable {
  /** What a server makes anew, or what must not be taken from one to another. */
  private static final Set<String> NOT_COPIED =
      Set.of("postmaster.pid", "postmaster.opts", "epg-lock", "pg_replslot", "pg_wal");

  private final Path data;
  private final int port;
  private final Map<String, String> settings;
  private EmbeddedPostgres running;

  private PostgresqlNode(Path data, Map<String, String> settings) throws IOException {
    this.data = data;
    this.port = freePort();
    this.settings = settings;
    start();
  }

  static PostgresqlNode start(Map<String, String> settings) throws IOException {
    return new PostgresqlNode(Files.createTempDirectory("redrive-node"), settings);
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  /** Also after a kill: on the same port, with what was stored. */
  void start() throws IOException {
    EmbeddedPostgres.Builder builder =
        EmbeddedPostgres.builder()
            .setPort(port)
            .setDataDirectory(data)
            .setCleanDataDirectory(false)
            .setServerConfig("fsync", "on")
            .setServerConfig("synchronous_commit", "on")
            .setServerConfig("full_page_writes", "on");
    settings.forEach(builder::setServerConfig);
    running = builder.start();
  }

  int port() {
    return port;
  }

  String url() {
    return url("localhost:" + port, "");
  }

  /** Of one or more servers. */
  static String url(String hosts, String more) {
    return "jdbc:postgresql://" + hosts + "/postgres?user=postgres" + more;
  }

  void execute(String statement) throws SQLException {
    try (Connection connection = DriverManager.getConnection(url());
        Statement executed = connection.createStatement()) {
      executed.execute(statement);
    }
  }

  String text(String query) throws SQLException {
    try (Connection connection = DriverManager.getConnection(url());
        Statement statement = connection.createStatement()) {
      return text(statement, query);
    }
  }

  private static String text(Statement statement, String query) throws SQLException {
    try (ResultSet rows = statement.executeQuery(query)) {
      return rows.next() ? String.valueOf(rows.getString(1)) : "";
    }
  }

  /** Ends it as a crash does. Answers once none of its processes is left. */
  void kill() throws IOException {
    long pid = Long.parseLong(Files.readAllLines(data.resolve("postmaster.pid")).get(0));
    ProcessHandle postmaster = ProcessHandle.of(pid).orElseThrow();
    List<ProcessHandle> all =
        Stream.concat(Stream.of(postmaster), postmaster.descendants()).toList();
    assertThat(postmaster.destroyForcibly()).isTrue();
    PostgresqlTest.await(() -> all.stream().noneMatch(ProcessHandle::isAlive));
    running.close();
  }

  /**
   * A second server that follows this one; from then on, this one answers a commit only when the
   * other has it too. The bundle has no pg_basebackup, so the files are copied between its two
   * ends.
   */
  PostgresqlNode standby() throws IOException, SQLException {
    Path copy = Files.createTempDirectory("redrive-node");
    try (Connection connection = DriverManager.getConnection(url());
        Statement statement = connection.createStatement()) {
      statement.execute("select pg_backup_start('standby', true)");
      copy(data, copy);
      Files.writeString(
          copy.resolve("backup_label"),
          text(statement, "select labelfile from pg_backup_stop(false)"));
    }
    Files.createFile(copy.resolve("standby.signal"));
    Files.writeString(
        copy.resolve("postgresql.auto.conf"),
        "primary_conninfo = 'host=localhost port="
            + port
            + " user=postgres application_name=standby'\n",
        StandardOpenOption.APPEND);
    PostgresqlNode standby = new PostgresqlNode(copy, settings);
    execute("alter system set synchronous_standby_names = 'standby'");
    execute("select pg_reload_conf()");
    PostgresqlTest.await(() -> text("select sync_state from pg_stat_replication").equals("sync"));
    return standby;
  }

  private static void copy(Path from, Path to) throws IOException {
    Files.walkFileTree(
        from,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes)
              throws IOException {
            Path target = to.resolve(from.relativize(folder).toString());
            if (!folder.equals(from)) {
              Files.createDirectory(
                  target,
                  PosixFilePermissions.asFileAttribute(
                      PosixFilePermissions.fromString("rwx------")));
            }
            boolean left = NOT_COPIED.contains(from.relativize(folder).toString());
            return left ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            if (!NOT_COPIED.contains(file.getFileName().toString())) {
              try {
                Files.copy(file, to.resolve(from.relativize(file).toString()));
              } catch (NoSuchFileException dropped) {
                return FileVisitResult.CONTINUE; // the log of the backup knows
              }
            }
            return FileVisitResult.CONTINUE;
          }
        });
  }

  void promote() throws SQLException {
    assertThat(text("select pg_promote()")).isEqualTo("t");
  }

  @Override
  public void close() throws IOException {
    running.close();
    try (Stream<Path> files = Files.walk(data)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
  }
}
