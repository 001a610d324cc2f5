package dev.redrive;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Path;
import javax.sql.DataSource;
import org.jooq.SQLDialect;
import org.jooq.impl.DSL;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteConfig.SynchronousMode;
import org.sqlite.SQLiteDataSource;

/**
 * Another process at its first start, led by lines on standard input: which job to submit, whether
 * the data source is the engine's or a host's, the journal and the file; then {@code go}.
 */
final class SqliteMigrationChild {
  private SqliteMigrationChild() {}

  public static void main(String[] arguments) throws Exception {
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      String[] words = line.split(" ", 4);
      System.out.println("ready");
      if (!"go".equals(lines.readLine())) {
        throw new IllegalArgumentException("not go");
      }
      System.out.println(start(words[0], words[1], Journal.valueOf(words[2]), Path.of(words[3])));
    }
  }

  private static String start(String id, String how, Journal journal, Path file) {
    try {
      if (how.equals("engine")) {
        try (SqliteDatabase database = Engine.sqlite(file).journal(journal).open()) {
          return submit(JobQueue.on(database.dsl()), id);
        }
      }
      return submit(JobQueue.on(DSL.using(source(file), SQLDialect.SQLITE)), id);
    } catch (RuntimeException | Error e) {
      e.printStackTrace();
      return e.toString().replace('\n', ' ');
    }
  }

  private static String submit(JobQueue queue, String id) {
    return String.valueOf(queue.submit(NewJob.of(id, "{}")).result());
  }

  /** As a host may have it: durable, but transactions begin without the write lock. */
  static DataSource source(Path file) {
    return source(file, 5_000);
  }

  static DataSource source(Path file, int busyTimeoutMillis) {
    SQLiteConfig config = new SQLiteConfig();
    config.enforceForeignKeys(true);
    config.setSynchronous(SynchronousMode.FULL);
    config.setBusyTimeout(busyTimeoutMillis);
    SQLiteDataSource source = new SQLiteDataSource(config);
    source.setUrl("jdbc:sqlite:" + file);
    return source;
  }
}
