package dev.redrive;

import static java.util.Map.entry;
import static java.util.stream.Collectors.toMap;
import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;

import java.sql.SQLWarning;
import java.time.Duration;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jooq.DSLContext;
import org.jooq.ExecuteContext;
import org.jooq.ExecuteListener;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * How the statements run on 200,000 done, 100,000 dead and 100,000 due rows and 50,000 audits, as
 * the server itself tells of what a queue sends.
 */
class PostgresqlPlanTest {
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final Map<String, Set<String>> INDEXES =
      Map.ofEntries(
          entry("submit", Set.of()), // the server tells no plan for looking for a conflict
          entry("submitted", Set.of("jobs_pk")),
          entry("claim", Set.of("jobs_due", "jobs_pk")),
          entry("bury", Set.of("jobs_due", "jobs_pk")),
          entry("renew", Set.of("jobs_pk")),
          entry("release", Set.of("jobs_pk")),
          entry("finish-ok", Set.of("jobs_pk")),
          entry("finish-retry", Set.of("jobs_pk")),
          entry("finish-permanent", Set.of("jobs_pk")),
          entry("find", Set.of("jobs_pk")),
          entry("investigate", Set.of("jobs_pk")),
          entry("redrive-audit", Set.of("jobs_pk")),
          entry("redrive", Set.of("jobs_pk", "redrives_pk")),
          entry("purge", Set.of("jobs_done", "jobs_pk", "redrives_pk")));

  private static final Set<String> BY_MANY = Set.of("bury", "purge");
  private static final Set<String> OF_DEAD = Set.of("investigate", "redrive-audit", "redrive");
  private static final Pattern INDEX =
      Pattern.compile("(?:Scan using|Bitmap Index Scan on) (\\w+)");

  private static final String EXPLAINED =
      "-c session_preload_libraries=auto_explain -c auto_explain.log_min_duration=0"
          + " -c auto_explain.log_level=notice -c auto_explain.log_analyze=on"
          + " -c auto_explain.log_buffers=on -c auto_explain.log_timing=off"
          + " -c plan_cache_mode=";

  private static final String HISTORY =
      """
      insert into jobs (queue, id, state, reason, fault, token, attempts, max_attempts,
        available_at, deadline_at, submitted_at, finished_at, payload)
      select 'default', 'j' || n, state,
        case state when 'dead' then 'exhausted' end,
        case state when 'dead' then 'http-' || (500 + n % 7) end,
        1, 1, 3, 1600000000000, 4000000000000, 1600000000000, 1600000000000 + n, '{}'
      from (
        select n, case when n <= 200000 then 'done' else 'dead' end as state
        from generate_series(1, 300000) n
      ) kinds;
      insert into redrives (queue, job_id, previous_token, at_ms, note, approved_by, deadline_at,
        previous_reason, previous_attempts, previous_deadline_at, previous_finished_at)
      select 'default', 'j' || 200000 + n, 0, 1, 'OPS-17', 'kim', 2, 'deadline', 3, 1, 1
      from generate_series(1, 50000) n
      """;

  private static final String BACKLOG =
      """
      insert into jobs (queue, id, state, owner, lease_until, token, attempts, max_attempts,
        available_at, deadline_at, submitted_at, payload)
      select 'default', 'j' || n, state,
        case state when 'leased' then 'A' end,
        case state when 'leased' then 1700000000000 - n end,
        1, 1, 3, 1700000000000 - n, 4000000000000, 1600000000000, '{}'
      from (
        select n, case when n <= 350000 then 'leased' else 'pending' end as state
        from generate_series(300001, 400000) n
      ) kinds
      """;

  /** What the server knows of the tables and of the parameters when it plans. */
  enum Knowledge {
    /** Neither. */
    NOTHING,
    /** The tables. */
    TABLES,
    /** The parameters, and the tables as they were before the backlog came: little was due. */
    TABLES_OF_YESTERDAY
  }

  private static final Map<Knowledge, Map<String, String>> PLANS = new EnumMap<>(Knowledge.class);

  @BeforeAll
  static void everyStatementOnFourHundredThousandRows() {
    try (PostgresqlStore store = PostgresqlStore.open(EXPLAINED + "force_generic_plan")) {
      load(store, HISTORY, BACKLOG);
      PLANS.put(Knowledge.NOTHING, plansOfEverything(store, "nothing"));
      load(store, "analyze jobs, redrives");
      PLANS.put(Knowledge.TABLES, plansOfEverything(store, "tables"));
    }
    try (PostgresqlStore store = PostgresqlStore.open(EXPLAINED + "force_custom_plan")) {
      load(store, HISTORY, "analyze jobs, redrives", BACKLOG);
      PLANS.put(Knowledge.TABLES_OF_YESTERDAY, plansOfEverything(store, "yesterday"));
    }
  }

  private static void load(PostgresqlStore store, String... statements) {
    Backend.execute(store, "alter table jobs set (autovacuum_enabled = off)");
    Backend.execute(store, "alter table redrives set (autovacuum_enabled = off)");
    for (String statement : statements) {
      Backend.execute(store, statement);
    }
  }

  /** Sends every statement, on live rows, and answers the plan of each by its name. */
  private static Map<String, String> plansOfEverything(PostgresqlStore store, String id) {
    Map<String, String> plans = new LinkedHashMap<>();
    DSLContext dsl = explained(store, plans);
    JobQueue queue = JobQueue.on(dsl);
    NewJob job = NewJob.of(id, "{}");
    assertThat(queue.submit(job).created()).isTrue();
    // read to its end, which within a transaction the driver leaves to the commit
    Transitions transitions = new Transitions(dsl, Backend.POSTGRESQL.engine(), "default", null);
    assertThat(transitions.submitted(job).fetch()).hasSize(1);
    Lease first = queue.claim("A", LEASE).orElseThrow();
    assertThat(queue.renew(first, LEASE)).isTrue();
    assertThat(queue.finish(first, Outcome.retry("http-503"))).isTrue();
    Lease second = queue.claim("A", LEASE).orElseThrow();
    assertThat(queue.release(second)).isTrue();
    Lease third = queue.claim("A", LEASE).orElseThrow();
    assertThat(queue.finish(third, Outcome.permanent("http-422"))).isTrue();
    Job dead = queue.find(third.id()).orElseThrow();
    assertThat(queue.investigate(dead, "OPS-16", "lee")).isTrue();
    assertThat(queue.redrive(dead, QueueTest.ORDER)).isTrue();
    assertThat(queue.finish(queue.claim("A", LEASE).orElseThrow(), Outcome.ok())).isTrue();
    assertThat(queue.purgeDone(Duration.ofDays(1), 100)).isEqualTo(100);
    return plans;
  }

  private static DSLContext explained(PostgresqlStore store, Map<String, String> plans) {
    Map<String, String> names =
        ReviewedSql.files(Backend.POSTGRESQL.engine()).entrySet().stream()
            .collect(
                toMap(file -> StatementsSentTest.withoutNames(file.getValue()), Map.Entry::getKey));
    DSLContext dsl = PostgresqlStore.dsl(store.dataSource());
    dsl.configuration()
        .set(Transactions.settings(null))
        .set(
            new ExecuteListener() {
              @Override
              public void warning(ExecuteContext context) {
                String sql = String.valueOf(context.sql()).replaceAll(" +\n", "\n");
                SQLWarning told = context.sqlWarning();
                if (told != null && names.containsKey(sql)) {
                  plans.putIfAbsent(names.get(sql), planOnly(told.getMessage()));
                }
              }
            });
    return dsl;
  }

  /** The server tells the statement first, then its plan, whose first line has a cost. */
  private static String planOnly(String told) {
    int cost = told.indexOf("  (cost=");
    assertThat(cost).as(told).isPositive();
    return told.substring(told.lastIndexOf('\n', cost) + 1);
  }

  @ParameterizedTest
  @EnumSource
  void noStatementReadsATableFromEndToEnd(Knowledge knowledge) {
    assertThat(PLANS.get(knowledge).values()).noneMatch(plan -> plan.contains("Seq Scan"));
  }

  /** What is due by the due index, what is done by its own, and every row by the primary key. */
  @ParameterizedTest
  @EnumSource
  void eachStatementUsesTheIndexesThatWereMadeForIt(Knowledge knowledge) {
    Map<String, Set<String>> used = new LinkedHashMap<>();
    PLANS.get(knowledge).forEach((name, plan) -> used.put(name, all(INDEX, plan)));
    if (knowledge == Knowledge.NOTHING) {
      // the server takes the dead for so few that any index on them is as good; a person waits 2 ms
      used.keySet().removeAll(OF_DEAD);
      assertThat(INDEXES).containsAllEntriesOf(used);
    } else {
      assertThat(used).containsExactlyInAnyOrderEntriesOf(INDEXES);
    }
  }

  @ParameterizedTest
  @EnumSource
  void claimAndBuryChangeTheirRowsByTheKey(Knowledge knowledge) {
    for (String name : List.of("claim", "bury")) {
      assertThat(PLANS.get(knowledge).get(name))
          .containsPattern("Scan on jobs_pk|Scan using jobs_pk on jobs ")
          .contains("Index Cond: ((queue = ")
          .contains("(id = ANY (");
    }
  }

  /** In pages of 8 kB; a bury looks at 1,000 due rows, a purge takes 100. */
  @ParameterizedTest
  @EnumSource
  void historyAndBacklogCostAStatementNothing(Knowledge knowledge) {
    PLANS
        .get(knowledge)
        .forEach(
            (name, plan) ->
                assertThat(pages(plan))
                    .as("%s %s", name, plan)
                    .isLessThan(BY_MANY.contains(name) || OF_DEAD.contains(name) ? 10_000 : 100));
  }

  private static int pages(String plan) {
    Matcher buffers =
        Pattern.compile("Buffers: shared(?: hit=(\\d+))?(?: read=(\\d+))?").matcher(plan);
    assertThat(buffers.find()).as(plan).isTrue();
    return number(buffers.group(1)) + number(buffers.group(2));
  }

  private static int number(@Nullable String digits) {
    return digits == null ? 0 : Integer.parseInt(digits);
  }

  private static Set<String> all(Pattern pattern, String text) {
    return pattern.matcher(text).results().map(found -> found.group(1)).collect(toSet());
  }
}
