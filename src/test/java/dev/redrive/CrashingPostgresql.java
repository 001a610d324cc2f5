package dev.redrive;

import static org.assertj.core.api.Assertions.assertThat;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** An embedded PostgreSQL of one test's own, as durable as in production, that can crash. */
final class CrashingPostgresql implements AutoCloseable {
  private final EmbeddedPostgres server;
  private final Path data;
  private final String program;
  private final File log;

  private CrashingPostgresql(EmbeddedPostgres server, Path data, File log) throws IOException {
    this.server = server;
    this.data = data;
    this.log = log;
    long pid = Long.parseLong(Files.readAllLines(data.resolve("postmaster.pid")).get(0));
    String postgres = ProcessHandle.of(pid).flatMap(one -> one.info().command()).orElseThrow();
    this.program = Path.of(postgres).resolveSibling("pg_ctl").toString();
  }

  static CrashingPostgresql start(Path folder) throws IOException {
    Path data = folder.resolve("data");
    EmbeddedPostgres server =
        EmbeddedPostgres.builder()
            .setDataDirectory(data)
            .setServerConfig("fsync", "on")
            .setServerConfig("synchronous_commit", "on")
            .setServerConfig("full_page_writes", "on")
            .start();
    return new CrashingPostgresql(server, data, folder.resolve("postgresql.log").toFile());
  }

  String url() {
    return server.getJdbcUrl("postgres", "postgres");
  }

  /** Every session ends where it is, and nothing is saved. */
  void crash() throws IOException, InterruptedException {
    control("stop", "-m", "immediate");
  }

  /** Comes back at the same address, with the settings it had. */
  void restart() throws IOException, InterruptedException {
    control("restart");
    assertThat(log).content().contains("automatic recovery in progress");
  }

  private void control(String... words) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    if (System.getProperty("user.name").equals("root")) {
      command.addAll(List.of("unshare", "-U")); // PostgreSQL does not run as root
    }
    command.addAll(List.of(program, "-D", data.toString(), "-l", log.toString(), "-w"));
    command.addAll(List.of(words));
    Process control =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log).start();
    assertThat(control.waitFor()).as("%s", command).isZero();
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
