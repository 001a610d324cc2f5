package dev.redrive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.jooq.DSLContext;
import org.jooq.exception.DataAccessException;
import org.jspecify.annotations.Nullable;

/**
 * A call that is going to meet a fault. What its rows are if it changes nothing was read before,
 * and what they are if it is stored whole was tried out on a second desk.
 */
final class Trial {
  private static final Map<String, List<List<@Nullable Object>>> STORED = new ConcurrentHashMap<>();

  private final Call call;
  private final DataSource apart;
  private final Desk desk;
  private final List<List<@Nullable Object>> unchanged;
  private final List<List<@Nullable Object>> stored;

  /**
   * @param apart a way to the same database that the fault does not touch
   */
  Trial(Call call, DSLContext dsl, DataSource apart, String name) {
    this(call, dsl, apart, Desk.lay(dsl, name));
  }

  /**
   * @param desk as it was laid
   */
  Trial(Call call, DSLContext dsl, DataSource apart, Desk desk) {
    this.call = call;
    this.apart = apart;
    this.desk = desk;
    this.stored =
        STORED.computeIfAbsent(
            dsl.dialect() + " " + call, any -> tryOut(dsl, desk.queue().name() + "-twin"));
    this.unchanged = rows(desk);
    assertThat(unchanged.equals(stored)).as("%s changes nothing", call).isEqualTo(call.reads());
  }

  private List<List<@Nullable Object>> tryOut(DSLContext dsl, String name) {
    Desk twin = Desk.lay(dsl, name);
    assertThat(call.works(twin)).as("%s works without a fault", call).isTrue();
    return rows(twin);
  }

  Call call() {
    return call;
  }

  Desk desk() {
    return desk;
  }

  /** Makes the call, which must not answer. */
  DataAccessException failure() {
    return failure(desk);
  }

  DataAccessException failure(Desk on) {
    AtomicReference<@Nullable Boolean> answer = new AtomicReference<>();
    Throwable thrown = catchThrowable(() -> answer.set(call.works(on)));
    assertThat(answer).as("what %s answered", call).hasValue(null);
    assertThat(thrown).as("what %s threw", call).isInstanceOf(DataAccessException.class);
    return (DataAccessException) thrown;
  }

  void changedNothing() {
    assertThat(rows(desk)).as("the rows that %s must not change", call).isEqualTo(unchanged);
  }

  void isStoredWhole() {
    assertThat(rows(desk)).as("the rows after %s", call).isEqualTo(stored);
  }

  void works() {
    works(desk);
    isStoredWhole();
  }

  void works(Desk on) {
    assertThat(call.works(on)).as("whether %s works", call).isTrue();
  }

  /** All there is of a queue but its name. */
  private List<List<@Nullable Object>> rows(Desk of) {
    String name = of.queue().name();
    List<List<@Nullable Object>> rows = new ArrayList<>();
    try (Connection connection = apart.getConnection();
        Statement statement = connection.createStatement()) {
      for (String query :
          List.of(
              "select * from jobs where queue = '%s' order by id",
              "select * from redrives where queue = '%s' order by job_id, previous_token")) {
        try (ResultSet found = statement.executeQuery(String.format(query, name))) {
          while (found.next()) {
            rows.add(row(found, name));
          }
        }
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
    return rows;
  }

  private static List<@Nullable Object> row(ResultSet found, String name) throws SQLException {
    List<@Nullable Object> row = new ArrayList<>();
    for (int i = 1; i <= found.getMetaData().getColumnCount(); i++) {
      Object value = found.getObject(i);
      row.add(name.equals(value) ? "the queue" : value);
    }
    return row;
  }
}
