package dev.redrive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * STRICT tables: SQLite otherwise stores anything in any column, and compares text with numbers.
 */
class SqliteSchemaTest {
  private Backend.Store store;
  private Connection connection;

  @BeforeEach
  void aJobWithAnAudit() throws SQLException {
    store = Backend.SQLITE.open();
    connection = store.dataSource().getConnection();
    JobQueue queue = JobQueue.on(store.dsl());
    assertThat(queue.submit(QueueTest.job("j1")).created()).isTrue();
    Lease lease = queue.claim("A", QueueTest.LEASE).orElseThrow();
    assertThat(queue.finish(lease, Outcome.permanent("http-422"))).isTrue();
    assertThat(queue.redrive(queue.find("j1").orElseThrow(), QueueTest.ORDER)).isTrue();
  }

  @AfterEach
  void close() throws SQLException {
    connection.close();
    store.close();
  }

  @Test
  void noNumberTakesTextOrAFractionOrBytes() throws SQLException {
    int numbers = 0;
    for (String table : List.of("jobs", "redrives")) {
      for (String column : columns(table, "INTEGER")) {
        numbers++;
        for (String value : List.of("'soon'", "'1e400'", "1.5", "x'31'", "9.3e18")) {
          assertThatThrownBy(() -> set(table, column, value))
              .as("%s.%s = %s", table, column, value)
              .hasMessageContaining("cannot store")
              .hasMessageContaining("INTEGER column " + table + "." + column);
        }
      }
    }
    assertThat(numbers).isEqualTo(16);
  }

  @Test
  void aNumberWrittenAsTextIsStoredAsANumber() throws SQLException {
    set("jobs", "available_at", "'999'");
    assertThat(strings("select typeof(available_at) || available_at from jobs"))
        .containsExactly("integer999");
  }

  @Test
  void noTextTakesBytes() throws SQLException {
    for (String table : List.of("jobs", "redrives")) {
      for (String column : columns(table, "TEXT")) {
        assertThatThrownBy(() -> set(table, column, "x'61'"))
            .hasMessageContaining("cannot store BLOB value in TEXT column");
      }
    }
  }

  @Test
  void dueIsComputedAndNeverWritten() {
    assertThatThrownBy(() -> set("jobs", "due_at", "1")).hasMessageContaining("generated column");
  }

  @Test
  void everyIndexButTheKeyIsPartialSoThatHistoryCostsAClaimNothing() throws SQLException {
    assertThat(strings("select name from pragma_index_list('jobs') where partial"))
        .contains("jobs_due", "jobs_dead", "jobs_done");
    assertThat(strings("select origin from pragma_index_list('jobs') where not partial"))
        .containsExactly("pk");
  }

  private void set(String table, String column, String value) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.executeUpdate("update " + table + " set " + column + " = " + value);
    }
  }

  /** The ordinary columns of a type; a generated one can't be written at all. */
  private List<String> columns(String table, String type) throws SQLException {
    return strings(
        "select name from pragma_table_info('" + table + "') where type = '" + type + "'");
  }

  private List<String> strings(String query) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(query)) {
      List<String> strings = new ArrayList<>();
      while (rows.next()) {
        strings.add(rows.getString(1));
      }
      return strings;
    }
  }
}
