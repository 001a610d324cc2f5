package dev.redrive;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.UUID;
import org.sqlite.SQLiteDataSource;

/**
 * A process in which a folder can be full and permissions count, also for root. Tries one call
 * under one fault of its folder for each line on standard input, and answers {@code ok} or what
 * went wrong.
 */
final class SqliteFolder {
  private final Path folder;
  private final Path file;
  private final Journal journal;

  private SqliteFolder(Path folder, Journal journal) {
    this.folder = folder;
    this.file = folder.resolve(UUID.randomUUID() + ".db");
    this.journal = journal;
  }

  public static void main(String[] arguments) throws IOException {
    System.out.println("ready");
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      String[] words = line.split(" ", -1);
      SqliteFolder tried = new SqliteFolder(Path.of(arguments[0]), Journal.valueOf(words[1]));
      System.out.println(tried.answer(words[0], Call.valueOf(words[2])));
    }
  }

  private String answer(String fault, Call call) throws IOException {
    try (SqliteDatabase database =
        Engine.sqlite(file)
            .journal(journal)
            .busyTimeout(Duration.ofSeconds(1))
            .connections(2)
            .open()) {
      SQLiteDataSource apart = new SQLiteDataSource();
      apart.setUrl("jdbc:sqlite:" + file);
      Trial trial = new Trial(call, database.dsl(), apart, "trial");
      switch (fault) {
        case "full" -> full(trial);
        case "read-only" -> readOnly(trial, (HikariDataSource) database.dataSource());
        default -> throw new IllegalArgumentException(fault);
      }
      return "ok";
    } catch (IOException | RuntimeException | AssertionError e) {
      return String.valueOf(e).replaceAll("\\s+", " ");
    } finally {
      Files.deleteIfExists(file);
    }
  }

  private void full(Trial trial) throws IOException {
    Path filler = folder.resolve("filler");
    fill(filler);
    if (trial.call().reads()) {
      trial.works();
    } else {
      assertThat(trial.failure()).hasMessageContaining("SQLITE_FULL");
    }
    Files.delete(filler);
    isMended(trial);
  }

  private static void fill(Path filler) throws IOException {
    try (OutputStream endless = Files.newOutputStream(filler)) {
      for (; ; ) {
        endless.write(new byte[512]);
      }
    } catch (IOException full) {
      assertThat(full).hasMessageContaining("No space left");
    }
  }

  /** Who has a file with a write-ahead log open needs nothing of its folder. */
  private void readOnly(Trial trial, HikariDataSource pool) throws IOException {
    permissions("r--r--r--", "r-xr-xr-x");
    try {
      if (journal == Journal.WAL) {
        trial.works(trial.desk());
      } else {
        pool.getHikariPoolMXBean().softEvictConnections(); // as when they have become too old
        if (trial.call().reads()) {
          trial.works();
        } else {
          assertThat(trial.failure()).hasMessageContaining("SQLITE_READONLY");
        }
      }
    } finally {
      permissions("rw-r--r--", "rwxr-xr-x");
    }
    if (journal == Journal.WAL) {
      trial.isStoredWhole();
    } else {
      isMended(trial);
    }
  }

  private void permissions(String ofFile, String ofFolder) throws IOException {
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(ofFile));
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString(ofFolder));
  }

  private static void isMended(Trial trial) {
    trial.changedNothing();
    trial.works();
  }
}
