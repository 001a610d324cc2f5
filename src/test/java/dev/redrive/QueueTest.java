package dev.redrive;

import static dev.redrive.schema.Tables.JOBS;
import static dev.redrive.schema.Tables.REDRIVES;
import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The base of every test of behaviour: runs it on each engine, with a clock that stands still, and
 * the words that tests arrange with. The numbers are those of the field cases: lease 30 s, 3
 * attempts, backoff 1 s doubling to 60 s, deadline after 600 s, workers A and B.
 */
@ParameterizedClass(name = "{0}")
@MethodSource("backends")
public abstract class QueueTest {
  protected static final long T0 = 1_800_000_000_000L;
  protected static final Duration LEASE = Duration.ofMillis(30_000);
  protected static final Duration DEADLINE = Duration.ofMillis(600_000);
  protected static final Redrive ORDER =
      Redrive.note("OPS-17").approvedBy("kim").deadline(Duration.ofMillis(600_000));

  @Parameter protected Backend backend;

  /** Each engine once. A test that also depends on the journal hides this method. */
  protected static Stream<Backend> backends() {
    return Stream.of(Backend.values()).filter(backend -> backend != Backend.SQLITE_WAL);
  }

  protected Backend.Store store;
  protected TestClock clock;
  protected JobQueue queue;

  @BeforeEach
  void openStore() {
    store = backend.open();
    clock = new TestClock();
    queue = queue("default").build();
  }

  @AfterEach
  void everyRowIsConsistent() throws SQLException {
    try {
      Invariants.check(store);
    } finally {
      store.close();
    }
  }

  protected JobQueue.Builder queue(String name) {
    return JobQueue.builder(store.dsl())
        .name(name)
        .clock(clock)
        .retry(RetryPolicy.exponential(Duration.ofMillis(1_000), Duration.ofMillis(60_000)));
  }

  /** A clock that moves when told to. */
  public static final class TestClock implements InstantSource {
    private volatile long millis = T0;

    public void at(long millis) {
      this.millis = millis;
    }

    @Override
    public Instant instant() {
      return Instant.ofEpochMilli(millis);
    }
  }

  protected static NewJob job(String id) {
    return NewJob.of(id, "{}").maxAttempts(3).deadline(DEADLINE);
  }

  protected void submit(String id) {
    assertThat(queue.submit(job(id)).created()).isTrue();
  }

  protected Optional<Lease> claim(String owner) {
    return queue.claim(owner, LEASE);
  }

  /** Submits and claims: a lease of owner A with token 1. */
  protected Lease leased(String id) {
    submit(id);
    return claim("A").orElseThrow();
  }

  /** Submits, claims and fails for good: dead/permanent with token 1. */
  protected Job dead(String id) {
    assertThat(queue.finish(leased(id), Outcome.permanent("http-422"))).isTrue();
    return find(id);
  }

  protected Job find(String id) {
    return queue.find(id).orElseThrow();
  }

  /** Every column of a job's row as the driver reads it. */
  protected Map<String, @Nullable Object> row(String id) {
    return rows("select * from jobs where id = '" + id + "'").get(0);
  }

  protected List<Map<String, @Nullable Object>> audit(String id) {
    return rows("select * from redrives where job_id = '" + id + "' order by previous_token");
  }

  protected int auditRows() {
    return store.dsl().fetchCount(REDRIVES);
  }

  protected int jobRows() {
    return store.dsl().fetchCount(JOBS);
  }

  protected List<Map<String, @Nullable Object>> rows(String query) {
    try (Connection connection = store.dataSource().getConnection();
        Statement statement = connection.createStatement();
        ResultSet result = statement.executeQuery(query)) {
      List<Map<String, @Nullable Object>> rows = new ArrayList<>();
      while (result.next()) {
        Map<String, @Nullable Object> row = new LinkedHashMap<>();
        for (int i = 1; i <= result.getMetaData().getColumnCount(); i++) {
          Object value = result.getObject(i);
          row.put(
              result.getMetaData().getColumnLabel(i),
              value instanceof Integer number ? Long.valueOf(number) : value);
        }
        rows.add(row);
      }
      return rows;
    } catch (SQLException e) {
      throw new IllegalStateException(query, e);
    }
  }

  /** Plants what no transition makes. */
  protected void plant(String statement) {
    Backend.execute(store, statement);
  }
}
