package dev.redrive;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.zaxxer.hikari.HikariDataSource;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import javax.sql.DataSource;
import org.jooq.SQLDialect;
import org.jooq.impl.DSL;

/** A host in a process of its own, told on standard input what to do, one word a line. */
final class PostgresqlChild {
  private PostgresqlChild() {}

  public static void main(String[] arguments) throws IOException {
    BufferedReader words = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    try (HikariDataSource database = new HikariDataSource()) {
      database.setJdbcUrl(arguments[0]);
      for (String word = words.readLine(); word != null; word = words.readLine()) {
        System.out.println(answer(word, database));
      }
    }
  }

  private static String answer(String word, DataSource database) {
    try {
      return switch (word) {
        case "ready" -> "ready";
        case "migrate" -> "ran " + Migrations.of(database).migrate();
        case "queue" -> JobQueue.on(DSL.using(database, SQLDialect.POSTGRES)).toString();
        default -> throw new IllegalArgumentException(word);
      };
    } catch (RuntimeException e) {
      return e.getClass().getSimpleName() + ": " + e.getMessage();
    }
  }
}
