package dev.redrive;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jooq.SQLDialect;

/** What holds of every database at every time. The CHECKs hold the rest row by row. */
final class Invariants {
  private static final List<String> NUMBERS =
      Stream.of(
              "lease_until",
              "token",
              "attempts",
              "max_attempts",
              "available_at",
              "deadline_at",
              "due_at",
              "submitted_at",
              "finished_at",
              "investigated_at")
          .toList();

  private Invariants() {}

  static void check(Backend.Store store) throws SQLException {
    check(store.dataSource(), store.dsl().dialect());
  }

  static void check(DataSource database, SQLDialect dialect) throws SQLException {
    try (Connection connection = database.getConnection()) {
      assertThat(
              number(
                  connection,
                  "select count(*) from redrives r left join jobs j"
                      + " on j.queue = r.queue and j.id = r.job_id"
                      + " where j.id is null or r.previous_token > j.token"))
          .as("audit rows without their job, or newer than it")
          .isZero();
      if (dialect.family() == SQLDialect.SQLITE) {
        for (String column : NUMBERS) {
          assertThat(
                  number(
                      connection,
                      "select count(*) from jobs where typeof("
                          + column
                          + ") not in ('integer', 'null')"))
              .as("%s stored as something else than an integer", column)
              .isZero();
        }
        assertThat(text(connection, "pragma integrity_check")).isEqualTo("ok");
        assertThat(text(connection, "pragma foreign_key_check")).isNull();
      }
    }
  }

  private static long number(Connection connection, String query) throws SQLException {
    return Long.parseLong(String.valueOf(text(connection, query)));
  }

  private static String text(Connection connection, String query) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(query)) {
      return rows.next() ? rows.getString(1) : null;
    }
  }
}
