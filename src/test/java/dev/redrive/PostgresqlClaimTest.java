package dev.redrive;

import static dev.redrive.schema.Tables.JOBS;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jooq.SQLDialect;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PostgresqlClaimTest extends PostgresqlTest {

  @Test
  void case_6_5_openTransactionsClaimDifferentJobsAtOnce() throws Exception {
    submitMany(queue, 200);
    CyclicBarrier allHaveClaimed = new CyclicBarrier(8);
    List<Future<String>> claims = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      String owner = "w" + i;
      claims.add(
          start(
              () -> {
                try (Connection host = hostConnection()) {
                  Lease lease = within(host).claim(owner, LEASE).orElseThrow();
                  allHaveClaimed.await(30, TimeUnit.SECONDS);
                  host.commit();
                  return lease.id();
                }
              }));
    }
    assertThat(answers(claims)).doesNotHaveDuplicates().hasSize(8);
    assertThat(number("select count(*) from jobs where state = 'leased'")).isEqualTo(8);
  }

  /** A bury that locked what it only looks at would make the claim skip it. */
  @Test
  void anOpenBuryHidesNothingThatIsClaimable() throws Exception {
    submit("good");
    assertThat(queue.submit(job("spent").maxAttempts(1)).created()).isTrue();
    plant("update jobs set attempts = 1 where id = 'spent'");
    try (Connection host = hostConnection()) {
      Transitions open =
          new Transitions(
              DSL.using(host, SQLDialect.POSTGRES), backend.engine(), "default", clock.millis());
      assertThat(open.bury().execute()).isEqualTo(1);
      assertThat(claim("A")).map(Lease::id).contains("good");
      host.commit();
    }
    assertThat(find("spent").reason()).contains(DeadReason.EXHAUSTED);
  }

  /** Case 8.1. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "-c enable_hashjoin=off -c enable_mergejoin=off -c enable_hashagg=off -c enable_sort=off"
            + " -c enable_material=off",
        "-c enable_indexscan=off -c enable_bitmapscan=off",
        "-c enable_seqscan=off -c plan_cache_mode=force_generic_plan",
        "-c plan_cache_mode=force_custom_plan",
      })
  void case_8_1_theLimitHoldsUnderEveryPlan(String settings) {
    try (PostgresqlStore planned = PostgresqlStore.open(settings)) {
      Backend.execute(planned, "alter table jobs set (autovacuum_enabled = false)");
      JobQueue jobs = JobQueue.builder(planned.dsl()).clock(clock).build();
      submitMany(jobs, 100);
      for (boolean analysed : new boolean[] {false, true}) {
        if (analysed) {
          Backend.execute(planned, "analyze jobs");
        }
        int before = leased(planned);
        assertThat(jobs.claim("A", LEASE, 5)).hasSize(5);
        assertThat(jobs.claim("A", LEASE)).isPresent();
        assertThat(leased(planned)).isEqualTo(before + 6);
      }
    }
  }

  private static int leased(Backend.Store planned) {
    return planned.dsl().fetchCount(JOBS, JOBS.STATE.eq("leased"));
  }

  /** By code point, as on SQLite, where the database's own collation says a, B. */
  @Test
  void equallyOldJobsAreClaimedInTheOrderOfTheirCodePoints() {
    try (PostgresqlServer.Database other =
            PostgresqlServer.database("template template0 locale_provider icu icu_locale 'en-US'");
        HikariDataSource source = PostgresqlServer.pool(other.url(), 2)) {
      JobQueue jobs = JobQueue.builder(PostgresqlStore.dsl(source)).clock(clock).build();
      assertThat(PostgresqlStore.dsl(source).fetchValue("select 'a' < 'B'")).isEqualTo(true);
      assertThat(jobs.submitAll(List.of(job("a"), job("B"), job("_"), job("A"))))
          .allMatch(Submission::created);
      assertThat(IntStream.range(0, 4).mapToObj(i -> jobs.claim("A", LEASE).orElseThrow().id()))
          .containsExactly("A", "B", "_", "a");
    }
  }

  /** Rows that another transaction holds are passed over, not waited for. */
  @Test
  void aClaimDoesNotWaitForAHostsTransaction() throws Exception {
    submitMany(queue, 3);
    try (Connection host = hostConnection()) {
      List<Lease> held = within(host).claim("A", LEASE, 2);
      assertThat(held).hasSize(2);
      assertThat(queue.claim("B", LEASE, 10)).hasSize(1);
      host.rollback();
      assertThat(queue.claim("B", LEASE, 10)).hasSize(2).doesNotContainAnyElementsOf(held);
    }
  }
}
