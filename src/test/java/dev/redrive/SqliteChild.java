package dev.redrive;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;

/** What other processes do to a SQLite file; told on standard input, one word a line. */
final class SqliteChild {
  private SqliteChild() {}

  public static void main(String[] arguments) throws Exception {
    Path file = Path.of(arguments[0]);
    BufferedReader words = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
        Statement statement = connection.createStatement()) {
      statement.execute("pragma busy_timeout = 20000");
      for (String word = words.readLine(); word != null; word = words.readLine()) {
        switch (word) {
          case "begin" -> statement.execute("begin immediate");
          case "commit" -> statement.execute("commit");
          case "read" -> statement.execute("begin");
          case "write" -> statement.execute("update jobs set fault = 'from-outside'");
          case "writes" -> write(statement, 200);
          case "claim-and-halt-DELETE" -> claimAndHalt(file, Journal.DELETE);
          case "claim-and-halt-WAL" -> claimAndHalt(file, Journal.WAL);
          default -> throw new IllegalArgumentException(word);
        }
        if (word.equals("read")) {
          try (ResultSet rows = statement.executeQuery("select count(*) from jobs")) {
            rows.next();
          }
        }
        System.out.println(word);
      }
    }
  }

  private static void write(Statement statement, int times) throws Exception {
    for (int i = 0; i < times; i++) {
      statement.execute("begin immediate");
      statement.execute("update jobs set fault = 'n" + i + "' where id = 'outside'");
      statement.execute("commit");
    }
  }

  private static void claimAndHalt(Path file, Journal journal) {
    JobQueue queue = JobQueue.on(Engine.sqlite(file).journal(journal).open().dsl());
    Lease lease = queue.claim("A", Duration.ofHours(1)).orElseThrow();
    System.out.println("claimed " + lease.id());
    System.out.flush();
    Runtime.getRuntime().halt(73);
  }
}
