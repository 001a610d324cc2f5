package dev.redrive;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import javax.sql.DataSource;
import org.jooq.SQLDialect;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.DSL;

/** A host's process without HikariCP; tells on standard output what works there. */
final class SqliteWithoutHikari {
  private SqliteWithoutHikari() {}

  public static void main(String[] arguments) throws Exception {
    Path folder = Path.of(arguments[0]);
    Path file = folder.resolve("engine.db");
    try {
      Engine.sqlite(file).open().close();
      System.out.println("opened");
    } catch (IllegalStateException e) {
      System.out.println(e.getClass().getSimpleName() + ": " + e.getMessage());
    }
    System.out.println("engine.db is " + (Files.exists(file) ? "there" : "not there"));

    DataSource source = SqliteMigrationChild.source(folder.resolve("host.db"), 50);
    JobQueue queue = JobQueue.on(DSL.using(source, SQLDialect.SQLITE));
    System.out.println(queue.submit(NewJob.of("j1", "{}")).result());
    Lease lease = queue.claim("A", Duration.ofSeconds(30)).orElseThrow();
    try (Connection other = source.getConnection();
        Statement statement = other.createStatement()) {
      statement.execute("begin immediate");
      System.out.println("finished too early: " + queue.finish(lease, Outcome.ok()));
    } catch (DataAccessException e) {
      System.out.println("busy: " + (e.getMessage().contains("SQLITE_BUSY") ? "SQLITE_BUSY" : e));
    }
    System.out.println("finished: " + queue.finish(lease, Outcome.ok()));
  }
}
