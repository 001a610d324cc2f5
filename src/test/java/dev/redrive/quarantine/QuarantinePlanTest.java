package dev.redrive.quarantine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redrive.JobQueue;
import dev.redrive.QueueTest;
import dev.redrive.Redrive;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.StringJoiner;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jooq.ExecuteContext;
import org.jooq.ExecuteListener;
import org.jooq.SQLDialect;
import org.jooq.impl.DefaultExecuteListenerProvider;
import org.junit.jupiter.api.Test;

/**
 * What looking at the quarantine costs beside a long history: 1,000,000 done, 100,000 dead and 300
 * live jobs with {@code -Dredrive.rows=1000000}, a tenth of that by default. The plans are those of
 * the very statements that were sent; what is read is counted by the engine.
 */
class QuarantinePlanTest extends QueueTest {
  private static final int DONE = Integer.getInteger("redrive.rows", 100_000);
  private static final int DEAD = DONE / 10;
  private static final int LIVE = 300;
  private static final int REDRIVEN = 200;

  private static final String BY_KEY =
      "SEARCH jobs USING INDEX sqlite_autoindex_jobs_1 (queue=? AND id=?)";
  private static final String PARTIAL_INDEX =
      "SEARCH jobs USING (COVERING )?INDEX jobs_(dead|died|due|done) .*";
  private static final Pattern POSTGRESQL_SCAN =
      Pattern.compile(
          "Scan (?:using|on) (?<index>jobs_\\w+)(?: on jobs)?"
              + " \\(actual rows=(?<rows>[0-9.]+) loops=(?<loops>\\d+)\\)");

  /** A statement as the driver got it. */
  private record Sent(String sql, List<Object> values) {}

  private final List<Sent> sent = new ArrayList<>();

  private JobQueue listened() {
    return JobQueue.builder(
            store
                .dsl()
                .configuration()
                .deriveAppending(
                    new DefaultExecuteListenerProvider(
                        ExecuteListener.onExecuteStart(this::remember)))
                .dsl())
        .clock(clock)
        .build();
  }

  private void remember(ExecuteContext context) {
    sent.add(new Sent(context.sql(), context.query().getBindValues()));
  }

  private void fill() {
    plant(
        "insert into jobs (queue, id, state, reason, fault, owner, lease_until, token, attempts,"
            + " max_attempts, available_at, deadline_at, submitted_at, finished_at, payload)"
            + " with recursive n(i) as (select 1 union all select i + 1 from n where i < "
            + (DONE + DEAD + LIVE)
            + "), kinds as (select i, case when i <= "
            + LIVE / 2
            + " then 'pending' when i <= "
            + LIVE
            + " then 'leased' when i % 11 = 0 then 'dead' else 'done' end as state from n)"
            + " select 'default', 'job-' || i, state,"
            + " case state when 'dead' then case i % 3 when 0 then 'exhausted' else 'permanent' end end,"
            + " case state when 'dead' then 'http-' || (500 + i % 7) end,"
            + " case state when 'leased' then 'A' end,"
            + " case state when 'leased' then "
            + T0
            + " + i end, 1, 1, 3, "
            + T0
            + " - i, "
            + (T0 + 600_000)
            + ", 1700000000000 + i,"
            + " case when state in ('done', 'dead') then 1700000000000 + i end, 'payload'"
            + " from kinds");
    BulkReport some =
        Quarantine.of(queue)
            .redrive(Filter.all())
            .limit(REDRIVEN)
            .pacedBy(new FakePacer())
            .run(Redrive.note("OPS-1").approvedBy("kim").deadline(Duration.ofDays(1)));
    assertThat(some.redriven()).hasSize(REDRIVEN);
    plant(backend.name().startsWith("SQLITE") ? "analyze" : "vacuum analyze jobs, redrives");
  }

  private List<Supplier<?>> looks(Quarantine quarantine) {
    Filter narrow = Filter.all().fault("http-503").idPrefix("job-1").investigated(false);
    return List.of(
        quarantine::report,
        () -> quarantine.list(Filter.all(), Page.of(50)),
        () -> quarantine.list(narrow, Page.of(50)),
        () -> quarantine.preview(Filter.all(), 10),
        () -> quarantine.members(narrow, 100_000));
  }

  @Test
  void case_9_3_noLookReadsHistory() throws SQLException {
    fill();
    Quarantine quarantine = Quarantine.of(listened());
    for (Supplier<?> look : looks(quarantine)) {
      sent.clear();
      assertThat(look.get()).isNotNull();
      assertThat(sent).hasSize(1);
      if (store.dsl().dialect().family() == SQLDialect.SQLITE) {
        readsNoHistoryOnSqlite(sent.get(0));
      } else {
        readsNoHistoryOnPostgresql(sent.get(0));
      }
    }
    report(quarantine);
  }

  /** Figures and times, told with the full size. */
  private void report(Quarantine quarantine) {
    Report report = quarantine.report();
    assertThat(report.live().done()).isEqualTo(10_001);
    long dead = report.dead().count();
    assertThat(dead).isBetween(DEAD * 9L / 10, DEAD * 11L / 10);
    if (Boolean.getBoolean("redrive.times")) {
      List<Supplier<?>> looks = looks(quarantine);
      for (int look = 0; look < looks.size(); look++) {
        long[] millis = new long[9];
        for (int i = 0; i < millis.length; i++) {
          long start = System.nanoTime();
          assertThat(looks.get(look).get()).isNotNull();
          millis[i] = (System.nanoTime() - start) / 1_000_000;
        }
        Arrays.sort(millis);
        System.out.println(
            backend + " look " + look + ": median " + millis[4] + " ms, worst " + millis[8]);
      }
      System.out.println(report);
    }
  }

  /** Every access is a search of a partial index, or of a key within the loop over redrives. */
  private void readsNoHistoryOnSqlite(Sent statement) throws SQLException {
    List<String> lines = explained("explain query plan ", statement, "detail");
    assertThat(lines)
        .as("%s", lines)
        .noneMatch(line -> line.matches("SCAN (jobs|later)\\b.*"))
        .filteredOn(line -> line.startsWith("SEARCH jobs"))
        .isNotEmpty()
        .allMatch(line -> line.matches(PARTIAL_INDEX) || line.equals(BY_KEY));
    if (isReport(statement)) {
      assertThat(lines)
          .anyMatch(line -> line.startsWith("SEARCH jobs USING COVERING INDEX jobs_dead"))
          .anyMatch(line -> line.startsWith("SEARCH jobs USING INDEX jobs_due"))
          .anyMatch(line -> line.startsWith("SEARCH jobs USING COVERING INDEX jobs_done"))
          .filteredOn(line -> line.equals(BY_KEY))
          .hasSize(1);
      assertThat(columnsReadFromRows(statement))
          .as("of rows, only the state of a redriven job")
          .isEqualTo(1);
    } else {
      assertThat(lines).anyMatch(line -> line.contains("INDEX jobs_died"));
      assertThat(lines).noneMatch(line -> line.contains("TEMP B-TREE"));
    }
  }

  private static boolean isReport(Sent statement) {
    return statement.sql().contains("redrives");
  }

  /** How many instructions read a column of a row, not of an index; the planner does not tell. */
  private long columnsReadFromRows(Sent statement) throws SQLException {
    String root =
        rows("select rootpage as root from sqlite_schema where name = 'jobs'")
            .get(0)
            .get("root")
            .toString();
    List<String> code = explained("explain ", statement, "opcode", "p1", "p2");
    List<String> rows =
        code.stream()
            .filter(line -> line.matches("OpenRead \\d+ " + root))
            .map(line -> line.split(" ", -1)[1])
            .toList();
    return code.stream()
        .filter(line -> line.startsWith("Column ") && rows.contains(line.split(" ", -1)[1]))
        .count();
  }

  private List<String> explained(String how, Sent statement, String... columns)
      throws SQLException {
    List<String> lines = new ArrayList<>();
    try (Connection connection = store.dataSource().getConnection();
        PreparedStatement explain = connection.prepareStatement(how + statement.sql())) {
      bind(explain, statement);
      try (ResultSet rows = explain.executeQuery()) {
        while (rows.next()) {
          StringJoiner line = new StringJoiner(" ");
          for (String column : columns) {
            line.add(rows.getString(column));
          }
          lines.add(line.toString());
        }
      }
    }
    return lines;
  }

  /**
   * Really run: what was read is counted, and no more than the dead, the live and a bound of done.
   */
  private void readsNoHistoryOnPostgresql(Sent statement) throws SQLException {
    List<String> lines =
        explained("explain (analyze, costs off, timing off) ", statement, "QUERY PLAN");
    long read = 0;
    for (String line : lines) {
      Matcher scan = POSTGRESQL_SCAN.matcher(line);
      if (scan.find()) {
        assertThat(scan.group("index")).as("%s", lines).matches("jobs_(dead|died|due|done|pk)");
        read +=
            Math.round(Double.parseDouble(scan.group("rows")))
                * Long.parseLong(scan.group("loops"));
      }
    }
    assertThat(String.join("\n", lines)).doesNotContain("Seq Scan on jobs");
    assertThat(read)
        .as("rows read by %s", lines)
        .isBetween(1L, 2L * DEAD + LIVE + 10_001 + REDRIVEN);
  }

  private static void bind(PreparedStatement statement, Sent sent) throws SQLException {
    int index = 0;
    for (Object value : sent.values()) {
      if (value == null) {
        statement.setNull(++index, java.sql.Types.NULL);
      } else {
        statement.setObject(++index, value);
      }
    }
  }
}
