package dev.redrive;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jooq.Query;
import org.jooq.SQLDialect;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sqlite.ProgressHandler;
import org.sqlite.SQLiteConnection;

/**
 * What the statements cost on a file of 400,000 rows: 200,000 done, 100,000 dead and 500 live ones
 * in one queue, a backlog of 99,500 in another. SQLite plans by guesses until a file is analysed
 * and by statistics afterwards; both have to be good.
 */
class SqlitePlanTest {
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final Set<String> WITHOUT_A_SEARCH = Set.of("submit");
  private static final Set<String> BY_DUE = Set.of("claim", "bury");
  private static final Set<String> BY_DONE = Set.of("purge");
  private static final String KEY = "sqlite_autoindex_jobs_1 (queue=? AND id=?)";

  @TempDir private static Path folder;

  /** What SQLite knows of the file. */
  enum Statistics {
    NONE,
    ANALYSED
  }

  private static final Map<Statistics, SqliteDatabase> DATABASES = new EnumMap<>(Statistics.class);

  @BeforeAll
  static void fourHundredThousandRows() throws IOException, SQLException {
    Path file = folder.resolve("none.db");
    try (SqliteDatabase database = Engine.sqlite(file).open()) {
      execute(database, HISTORY);
    }
    Path analysed = Files.copy(file, folder.resolve("analysed.db"));
    DATABASES.put(Statistics.NONE, Engine.sqlite(file).open());
    DATABASES.put(Statistics.ANALYSED, Engine.sqlite(analysed).open());
    execute(DATABASES.get(Statistics.ANALYSED), "analyze");
  }

  @AfterAll
  static void close() {
    DATABASES.values().forEach(SqliteDatabase::close);
  }

  private static final String HISTORY =
      """
      with recursive numbers (n) as (
        select 1 union all select n + 1 from numbers where n < 400000
      ), kinds as (
        select n, case
          when n <= 200000 then 'done' when n <= 300000 then 'dead'
          when n <= 300250 then 'leased' else 'pending' end as state
        from numbers
      )
      insert into jobs (queue, id, state, reason, fault, owner, lease_until, token, attempts,
        max_attempts, available_at, deadline_at, submitted_at, finished_at, payload)
      select case when n <= 300500 then 'default' else 'backlog' end,
        'j' || n, state,
        case state when 'dead' then 'exhausted' end,
        case state when 'dead' then 'http-' || (500 + n % 7) end,
        case state when 'leased' then 'A' end,
        case state when 'leased' then 1800000000000 - n end,
        1, 1, 3, 1800000000000 - n, 1900000000000, 1700000000000,
        case when state in ('done', 'dead') then 1700000000000 + n end,
        '{}'
      from kinds
      """;

  @ParameterizedTest
  @EnumSource
  void noStatementScansOrSortsATable(Statistics statistics) throws SQLException {
    for (ReviewedSql.Statement statement : statements()) {
      List<String> plan = plan(statistics, statement.query());
      assertThat(plan)
          .as(statement.name())
          .noneMatch(line -> line.matches("SCAN (jobs|redrives)\\b.*"));
      if (!isReport(statement.name())) {
        assertThat(plan).as(statement.name()).noneMatch(line -> line.contains("TEMP B-TREE"));
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void claimAndBuryFindIdsByWhatIsDueAndRowsByTheirIds(Statistics statistics) throws SQLException {
    for (ReviewedSql.Statement statement : statements(BY_DUE)) {
      assertThat(plan(statistics, statement.query()))
          .as(statement.name())
          .containsExactly(
              "SEARCH jobs USING INDEX " + KEY,
              "LIST SUBQUERY 1",
              "SEARCH jobs USING INDEX jobs_due (queue=? AND due_at<?)");
    }
  }

  @ParameterizedTest
  @EnumSource
  void purgeFindsIdsByWhenTheyWereDoneAndRowsByTheirIds(Statistics statistics) throws SQLException {
    for (ReviewedSql.Statement statement : statements(BY_DONE)) {
      assertThat(plan(statistics, statement.query()))
          .filteredOn(line -> line.startsWith("SEARCH jobs"))
          .containsExactly(
              "SEARCH jobs USING INDEX " + KEY,
              "SEARCH jobs USING INDEX jobs_done (queue=? AND finished_at<?)");
    }
  }

  @ParameterizedTest
  @EnumSource
  void everyOtherStatementFindsItsRowByTheKey(Statistics statistics) throws SQLException {
    int searches = 0;
    for (ReviewedSql.Statement statement : statements()) {
      String name = statement.name();
      if (!BY_DUE.contains(name)
          && !BY_DONE.contains(name)
          && !WITHOUT_A_SEARCH.contains(name)
          && !isReport(name)) {
        searches++;
        assertThat(plan(statistics, statement.query()))
            .as(name)
            .filteredOn(line -> line.startsWith("SEARCH jobs"))
            .containsExactly("SEARCH jobs USING INDEX " + KEY);
      }
    }
    assertThat(searches).isGreaterThan(9);
  }

  /** Reports group and sort what they found; they have tests of their own. */
  private static boolean isReport(String statement) {
    return statement.startsWith("quarantine-");
  }

  @Test
  void statesAreWrittenIntoTheTextWherePartialIndexesNeedThem() {
    assertThat(ReviewedSql.files(Backend.SQLITE.engine()).values())
        .noneMatch(text -> text.matches("(?s).*\\bstate (=|in|<>) *\\(? *:.*"))
        .filteredOn(text -> text.contains("jobs.state = '"))
        .hasSizeGreaterThan(8);
  }

  @ParameterizedTest
  @EnumSource
  void aClaimCostsTheSameWhateverTheHistoryAndTheBacklog(Statistics statistics)
      throws SQLException {
    for (String name : List.of("default", "backlog")) {
      try (Connection connection = connection(statistics)) {
        JobQueue queue = queue(connection, name);
        long withBury = steps(connection, () -> queue.claim("A", LEASE).orElseThrow());
        long claim = steps(connection, () -> queue.claim("A", LEASE).orElseThrow());
        assertThat(withBury).as("bury and claim of %s", name).isBetween(1_000L, 100_000L);
        assertThat(claim).as("claim of %s", name).isBetween(10L, 2_000L);
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void aPurgeCostsWhatItForgetsAndNotWhatItLeaves(Statistics statistics) throws SQLException {
    try (Connection connection = connection(statistics)) {
      JobQueue queue = queue(connection, "default");
      assertThat(steps(connection, () -> queue.purgeDone(Duration.ofDays(1), 100)))
          .isBetween(100L, 30_000L);
    }
  }

  private static Connection connection(Statistics statistics) throws SQLException {
    return DATABASES.get(statistics).dataSource().getConnection();
  }

  private static JobQueue queue(Connection connection, String name) {
    return JobQueue.builder(DSL.using(connection, SQLDialect.SQLITE))
        .name(name)
        .clock(InstantSource.fixed(Instant.ofEpochMilli(QueueTest.T0)))
        .build();
  }

  /** How many instructions of its virtual machine SQLite runs for a call. */
  private static long steps(Connection connection, Supplier<?> call) throws SQLException {
    SQLiteConnection sqlite = connection.unwrap(SQLiteConnection.class);
    AtomicLong tens = new AtomicLong();
    ProgressHandler.setHandler(
        sqlite,
        10,
        new ProgressHandler() {
          @Override
          protected int progress() {
            tens.incrementAndGet();
            return 0;
          }
        });
    try {
      assertThat(call.get()).isNotNull();
    } finally {
      ProgressHandler.clearHandler(sqlite);
    }
    return tens.get() * 10;
  }

  /** All but those of the quarantine, whose reports and lists have plans of their own. */
  private static List<ReviewedSql.Statement> statements() {
    return ReviewedSql.of(Backend.SQLITE.engine()).stream()
        .filter(statement -> !statement.name().startsWith("quarantine-"))
        .toList();
  }

  private static List<ReviewedSql.Statement> statements(Set<String> names) {
    List<ReviewedSql.Statement> found =
        statements().stream().filter(statement -> names.contains(statement.name())).toList();
    assertThat(found).hasSameSizeAs(names);
    return found;
  }

  private static List<String> plan(Statistics statistics, Query query) throws SQLException {
    List<String> lines = new ArrayList<>();
    try (Connection connection = connection(statistics);
        PreparedStatement statement =
            connection.prepareStatement("explain query plan " + query.getSQL())) {
      int index = 0;
      for (Object value : query.getBindValues()) {
        statement.setObject(++index, value);
      }
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          lines.add(rows.getString("detail"));
        }
      }
    }
    return lines;
  }

  private static void execute(SqliteDatabase database, String sql) throws SQLException {
    try (Connection connection = database.dataSource().getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }
}
