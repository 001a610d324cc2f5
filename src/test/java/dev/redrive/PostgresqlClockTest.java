package dev.redrive;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jooq.DSLContext;
import org.jooq.ExecuteContext;
import org.jooq.ExecuteListener;
import org.jooq.Param;
import org.jooq.SQLDialect;
import org.jooq.impl.DSL;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Without a clock of its own, a queue lives by the server's, which every statement reads anew. */
class PostgresqlClockTest extends PostgresqlTest {

  @Test
  void theTimeIsTheServers() {
    JobQueue jobs = JobQueue.on(store.dsl());
    long before = serverMillis();
    assertThat(jobs.submit(job("j1")).created()).isTrue();
    assertThat(jobs.claim("A", LEASE)).isPresent();
    long after = serverMillis();
    assertThat((Long) row("j1").get("submitted_at")).isBetween(before, after);
    assertThat((Long) row("j1").get("lease_until")).isBetween(before + 30_000, after + 30_000);
  }

  /** So hosts whose clocks differ by minutes neither steal live leases nor strand dead ones. */
  @Test
  void noStatementCarriesAHostsTime() {
    List<@Nullable Object> times = new ArrayList<>();
    JobQueue jobs = JobQueue.on(listening(times));
    assertThat(jobs.submit(job("j1")).created()).isTrue();
    assertThat(jobs.submit(job("j1")).created()).isFalse();
    Lease lease = jobs.claim("A", LEASE).orElseThrow();
    assertThat(jobs.renew(lease, LEASE)).isTrue();
    assertThat(jobs.finish(lease, Outcome.retry("http-503", Duration.ZERO))).isTrue();
    lease = jobs.claim("A", LEASE).orElseThrow();
    assertThat(jobs.release(lease)).isTrue();
    lease = jobs.claim("A", LEASE).orElseThrow();
    assertThat(jobs.finish(lease, Outcome.permanent("http-422"))).isTrue();
    assertThat(jobs.investigate(jobs.find("j1").orElseThrow(), "OPS-1", "kim")).isTrue();
    assertThat(jobs.redrive(jobs.find("j1").orElseThrow(), ORDER)).isTrue();
    lease = jobs.claim("A", LEASE).orElseThrow();
    assertThat(jobs.finishAndClaim(lease, Outcome.ok(), "A", LEASE).finished()).isTrue();
    assertThat(jobs.purgeDone(Duration.ofDays(1), 10)).isZero();
    assertThat(times).hasSizeGreaterThan(12).containsOnlyNulls();
  }

  /** Collects the value of every parameter named now. */
  private DSLContext listening(List<@Nullable Object> times) {
    DSLContext dsl = DSL.using(store.dataSource(), SQLDialect.POSTGRES);
    dsl.configuration()
        .set(
            new ExecuteListener() {
              @Override
              public void executeStart(ExecuteContext context) {
                Param<?> now = context.query() == null ? null : context.query().getParam("now");
                if (now != null) {
                  times.add(now.getValue());
                }
              }
            });
    return dsl;
  }

  /** Case 10.7: now() would be the start of the transaction. */
  @Test
  void case_10_7_aLongTransactionDoesNotStopTheClock() throws Exception {
    try (Connection host = hostConnection()) {
      long start = transactionStart(host);
      execute(host, "select pg_sleep(0.2)");
      JobQueue jobs = JobQueue.on(DSL.using(host, SQLDialect.POSTGRES));
      assertThat(jobs.submit(job("j1")).created()).isTrue();
      Lease lease = jobs.claim("A", LEASE).orElseThrow();
      assertThat(lease.leaseUntil().toEpochMilli()).isGreaterThanOrEqualTo(start + 30_200);
      host.commit();
    }
    assertThat((Long) row("j1").get("available_at")).isLessThanOrEqualTo(serverMillis());
  }

  /** A lease that ended while the transaction was open is over inside it too. */
  @Test
  void aLeaseRunsOutInsideALongTransaction() throws Exception {
    JobQueue jobs = JobQueue.on(store.dsl());
    assertThat(jobs.submit(job("j1")).created()).isTrue();
    try (Connection host = hostConnection()) {
      long start = transactionStart(host);
      Lease lease = jobs.claim("A", Duration.ofMillis(50)).orElseThrow();
      assertThat(lease.leaseUntil().toEpochMilli()).isGreaterThan(start);
      execute(host, "select pg_sleep(0.1)");
      JobQueue inside = JobQueue.on(DSL.using(host, SQLDialect.POSTGRES));
      assertThat(inside.renew(lease, LEASE)).isFalse();
      assertThat(inside.claim("B", LEASE)).map(Lease::token).contains(2L);
      host.commit();
    }
  }

  private static long transactionStart(Connection host) {
    return DSL.using(host, SQLDialect.POSTGRES)
        .fetchSingle("select floor(extract(epoch from now()) * 1000)::bigint")
        .get(0, Long.class);
  }

  private long serverMillis() {
    return number("select floor(extract(epoch from clock_timestamp()) * 1000)::bigint");
  }

  private static void execute(Connection host, String statement) throws SQLException {
    try (Statement executed = host.createStatement()) {
      executed.execute(statement);
    }
  }
}
