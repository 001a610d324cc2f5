package dev.redrive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.zaxxer.hikari.HikariDataSource;
import dev.redrive.CuttingProxy.Cut;
import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jooq.DSLContext;
import org.jooq.ExecuteListener;
import org.jooq.exception.DataAccessException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Trouble with the database is an exception, never false, and an unknown outcome is left alone. */
class PostgresqlOutageTest extends PostgresqlTest {
  private CuttingProxy proxy;
  private HikariDataSource throughProxy;
  private JobQueue remote;

  /** A queue on one connection that goes through the proxy. */
  @BeforeEach
  void openProxy() throws IOException {
    proxy = new CuttingProxy();
    throughProxy =
        PostgresqlServer.pool(proxy.url(((PostgresqlStore) store).dataSource().getJdbcUrl()), 1);
    remote = queueOn(PostgresqlStore.dsl(throughProxy));
  }

  @AfterEach
  void closeProxy() throws IOException {
    throughProxy.close();
    proxy.close();
  }

  private JobQueue queueOn(DSLContext dsl) {
    return JobQueue.builder(dsl).clock(clock).build();
  }

  private void isCut(Cut where, ThrowingCallable call) {
    proxy.cutNextCommit(where);
    assertThatExceptionOfType(DataAccessException.class)
        .isThrownBy(call)
        .withMessageStartingWith("The answer of a commit was lost");
  }

  /** Cases 8.5 b and 10.17. */
  @Test
  void case_8_5_afterALostAnswerFindTellsThatTheFinishWasStored() {
    Lease lease = leased("j1");
    isCut(Cut.BEFORE_ITS_ANSWER, () -> remote.finish(lease, Outcome.ok()));
    assertThat(remote.find("j1").orElseThrow().endedBy(lease)).isTrue();
    Map<String, @Nullable Object> before = row("j1");
    assertThat(remote.finish(lease, Outcome.ok())).isFalse();
    assertThat(row("j1")).isEqualTo(before).containsEntry("state", "done");
  }

  @Test
  void case_8_5_afterALostCommitFindTellsThatTheLeaseIsStillHeld() {
    Lease lease = leased("j1");
    Map<String, @Nullable Object> before = row("j1");
    isCut(Cut.BEFORE_IT_ARRIVES, () -> remote.finish(lease, Outcome.ok()));
    assertThat(remote.find("j1").orElseThrow().endedBy(lease)).isFalse();
    assertThat(row("j1")).isEqualTo(before);
    assertThat(remote.finish(lease, Outcome.ok())).isTrue();
  }

  @Test
  void aSubmitWhoseAnswerIsLostIsADuplicateAfterwards() {
    isCut(Cut.BEFORE_ITS_ANSWER, () -> remote.submit(job("j1")));
    assertThat(remote.submit(job("j1")).result()).isEqualTo(Submission.Result.DUPLICATE);
  }

  /** A repetition would answer another job, and this one would wait for the end of its lease. */
  @Test
  void aClaimWhoseAnswerIsLostIsNotRepeated() {
    submitMany(remote, 3);
    assertThat(remote.claim("A", LEASE)).isPresent();
    isCut(Cut.BEFORE_ITS_ANSWER, () -> remote.claim("A", LEASE));
    assertThat(rows("select id from jobs where state = 'leased'")).hasSize(2);
    assertThat(number("select max(token) from jobs")).isEqualTo(1);
  }

  @Test
  void aRedriveWhoseAnswerIsLostIsThereOnceAndWhole() {
    Job dead = dead("j1");
    isCut(Cut.BEFORE_ITS_ANSWER, () -> remote.redrive(dead, ORDER));
    assertThat(remote.redrive(dead, ORDER)).isFalse();
    assertThat(audit("j1")).hasSize(1);
    assertThat(find("j1").state()).isEqualTo(JobState.PENDING);
  }

  @Test
  void aRedriveWhoseCommitIsLostIsNotThereAtAll() {
    Job dead = dead("j1");
    isCut(Cut.BEFORE_IT_ARRIVES, () -> remote.redrive(dead, ORDER));
    assertThat(audit("j1")).isEmpty();
    assertThat(find("j1")).isEqualTo(dead);
    assertThat(remote.redrive(dead, ORDER)).isTrue();
  }

  /** Case 8.5 a. */
  @Test
  void case_8_5_aBackendKilledBeforeAFinishIsAnExceptionAndTheFinishWorksLater() {
    Lease lease = leased("j1");
    Map<String, @Nullable Object> before = row("j1");
    AtomicInteger statements = new AtomicInteger();
    DSLContext dsl = PostgresqlStore.dsl(throughProxy);
    dsl.configuration()
        .set(
            ExecuteListener.onExecuteStart(
                context -> {
                  if (statements.incrementAndGet() == 1) {
                    kill(context.connection());
                  }
                }));
    JobQueue unlucky = queueOn(dsl);
    DataAccessException thrown =
        catchThrowableOfType(DataAccessException.class, () -> unlucky.finish(lease, Outcome.ok()));
    assertThat(thrown.sqlState()).isIn("57P01", "08006");
    assertThat(statements).hasValue(1);
    assertThat(row("j1")).isEqualTo(before);
    assertThat(unlucky.finish(lease, Outcome.ok())).isTrue();
  }

  private void kill(Connection connection) {
    try (Statement statement = connection.createStatement();
        ResultSet pid = statement.executeQuery("select pg_backend_pid()")) {
      assertThat(pid.next()).isTrue();
      int session = pid.getInt(1);
      assertThat(rows("select pg_terminate_backend(" + session + ")")).hasSize(1);
      await(() -> number("select count(*) from pg_stat_activity where pid = " + session) == 0);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Case 8.5 c: a primary that became a replica takes no writes, and one call is one try. */
  @Test
  void case_8_5_aReadOnlyServerIsAnExceptionUntilItIsNot() throws SQLException {
    submit("j1");
    AtomicInteger statements = new AtomicInteger();
    DSLContext dsl = PostgresqlStore.dsl(throughProxy);
    dsl.configuration().set(ExecuteListener.onExecuteStart(any -> statements.incrementAndGet()));
    JobQueue failingOver = queueOn(dsl);
    onTheOneConnection("set session characteristics as transaction read only");
    for (int i = 1; i <= 3; i++) {
      DataAccessException thrown =
          catchThrowableOfType(DataAccessException.class, () -> failingOver.claim("A", LEASE));
      assertThat(thrown.sqlState()).isEqualTo("25006");
      assertThat(statements).hasValue(i);
    }
    assertThat(failingOver.find("j1")).isPresent();
    onTheOneConnection("set session characteristics as transaction read write");
    assertThat(failingOver.claim("A", LEASE)).isPresent();
  }

  private void onTheOneConnection(String statement) throws SQLException {
    try (Connection connection = throughProxy.getConnection();
        Statement executed = connection.createStatement()) {
      executed.execute(statement);
    }
  }

  /** A statement that the server cancels is undone, and says so. */
  @Test
  void aCancelledFinishIsAnException() throws Exception {
    Lease lease = leased("j1");
    onTheOneConnection("set statement_timeout = '50ms'");
    try (Connection host = hostConnection()) {
      assertThat(within(host).renew(lease, LEASE.multipliedBy(2))).isTrue();
      DataAccessException thrown =
          catchThrowableOfType(DataAccessException.class, () -> remote.finish(lease, Outcome.ok()));
      assertThat(thrown.sqlState()).isEqualTo("57014");
      host.commit();
    }
    assertThat(remote.finish(lease, Outcome.ok())).isTrue();
  }
}
