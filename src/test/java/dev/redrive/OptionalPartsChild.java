package dev.redrive;

import com.zaxxer.hikari.HikariDataSource;
import dev.redrive.metrics.QueueMetrics;
import java.nio.file.Path;
import java.time.Duration;
import org.jooq.SQLDialect;
import org.jooq.impl.DSL;

/** A host without some of the optional parts; tells on standard output what came of one try. */
final class OptionalPartsChild {
  private OptionalPartsChild() {}

  public static void main(String[] arguments) {
    try {
      System.out.println(answer(arguments[0], arguments[1]));
    } catch (RuntimeException e) {
      System.out.println(e.getClass().getSimpleName() + ": " + e.getMessage());
    }
  }

  private static String answer(String what, String where) {
    return switch (what) {
      case "file" -> file(Path.of(where));
      case "pool" -> pool(where);
      case "metrics" -> metrics(Path.of(where));
      default -> throw new IllegalArgumentException(what);
    };
  }

  private static String file(Path file) {
    try (SqliteDatabase database = Engine.sqlite(file).open()) {
      return work(JobQueue.on(database.dsl()));
    }
  }

  private static String pool(String url) {
    try (HikariDataSource pool = new HikariDataSource()) {
      pool.setJdbcUrl(url);
      boolean sqlite = url.startsWith("jdbc:sqlite:");
      return work(JobQueue.on(DSL.using(pool, sqlite ? SQLDialect.SQLITE : SQLDialect.POSTGRES)));
    }
  }

  private static String metrics(Path file) {
    try (SqliteDatabase database = Engine.sqlite(file).open()) {
      return QueueMetrics.of(JobQueue.on(database.dsl())).toString();
    }
  }

  private static String work(JobQueue queue) {
    String submitted = String.valueOf(queue.submit(NewJob.of("j1", "{}")).result());
    Lease lease = queue.claim("A", Duration.ofSeconds(30)).orElseThrow();
    return submitted + " " + queue.finish(lease, Outcome.ok());
  }
}
