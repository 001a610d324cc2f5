package dev.redrive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.jooq.exception.DataAccessException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A host's transaction stays the host's: what it decides holds for our rows, and it stays usable.
 */
class PostgresqlHostTransactionTest extends PostgresqlTest {

  @BeforeEach
  void hostTable() {
    plant("create table host (word text)");
  }

  /**
   * PostgreSQL refuses every statement after a failed one, up to a rollback: ours is done by then.
   * A look fails for example while somebody alters the table.
   */
  @Test
  void aFailedLookLeavesTheHostsTransactionUsable() throws Exception {
    submit("j1");
    try (Connection host = hostConnection();
        Connection other = hostConnection()) {
      JobQueue inside = within(host);
      execute(host, "set local lock_timeout = '1ms'");
      execute(host, "insert into host values ('before')");
      execute(other, "lock table jobs in access exclusive mode");
      assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> inside.find("j1"));
      execute(host, "insert into host values ('after')");
      host.commit();
    }
    assertThat(hostRows()).isEqualTo(2);
  }

  /** Its snapshot is older than the change: only the host can begin anew. */
  @ParameterizedTest
  @ValueSource(strings = {"repeatable read", "serializable"})
  void aSerializationFailureReachesTheHost(String level) throws Exception {
    Lease lease = leased("j1");
    try (Connection host = hostConnection()) {
      execute(host, "set transaction isolation level " + level);
      execute(host, "insert into host values ('before')");
      JobQueue inside = within(host);
      assertThat(inside.find("j1")).isPresent();
      assertThat(queue.renew(lease, LEASE.multipliedBy(2))).isTrue();
      DataAccessException thrown =
          catchThrowableOfType(DataAccessException.class, () -> inside.finish(lease, Outcome.ok()));
      assertThat(thrown.sqlState()).isEqualTo("40001");
      host.rollback();
    }
    assertThat(queue.finish(lease, Outcome.ok())).isTrue();
  }

  @Test
  void aDeadlockWithTheHostsOwnOrderReachesTheHost() throws Exception {
    Lease first = leased("j1");
    Lease second = leased("j2");
    try (Connection host = hostConnection();
        Connection other = hostConnection()) {
      execute(host, "set local deadlock_timeout = '10ms'");
      execute(other, "set local deadlock_timeout = '1h'");
      assertThat(within(host).finish(second, Outcome.ok())).isTrue();
      assertThat(within(other).finish(first, Outcome.ok())).isTrue();
      var waiting = start(() -> within(other).finish(second, Outcome.ok()));
      awaitLockWaits(1);
      DataAccessException thrown =
          catchThrowableOfType(
              DataAccessException.class, () -> within(host).finish(first, Outcome.ok()));
      assertThat(thrown.sqlState()).isEqualTo("40P01");
      host.rollback();
      assertThat(answer(waiting)).isTrue();
      other.commit();
    }
  }

  private int hostRows() {
    return (int) number("select count(*) from host");
  }

  private static void execute(Connection host, String statement) throws SQLException {
    try (Statement executed = host.createStatement()) {
      executed.execute(statement);
    }
  }
}
