package dev.redrive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import com.zaxxer.hikari.HikariDataSource;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.sql.DataSource;
import org.jooq.Configuration;
import org.jooq.DSLContext;
import org.jooq.TransactionListener;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.DSL;
import org.jooq.impl.DataSourceConnectionProvider;
import org.jooq.impl.DefaultConfiguration;
import org.jooq.impl.ThreadLocalTransactionProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who owns the transaction: case 6.3 and its kind. */
class HostTransactionTest extends HostTest {

  private JobQueue on(DSLContext dsl) {
    return JobQueue.builder(dsl).clock(clock).build();
  }

  private JobQueue on(Connection connection) {
    return on(DSL.using(connection, backend.engine().dialect()));
  }

  @ParameterizedTest(name = "commit {0}")
  @ValueSource(booleans = {true, false})
  void case_6_3_onAPlainConnectionTheHostDecides(boolean commit) throws SQLException {
    Job dead = dead("dead");
    Lease held = leased("held");
    try (Connection connection = store.dataSource().getConnection()) {
      connection.setAutoCommit(false);
      hostWork(connection);
      everything(on(connection), dead, held);
      assertThat(connection.getAutoCommit()).isFalse();
      if (commit) {
        connection.commit();
      } else {
        connection.rollback();
      }
      connection.setAutoCommit(true);
    }
    if (commit) {
      everythingIsThere();
    } else {
      nothingIsThere(dead);
    }
  }

  @ParameterizedTest(name = "commit {0}")
  @ValueSource(booleans = {true, false})
  void case_6_3_insideAJooqTransactionTheHostDecides(boolean commit) {
    Job dead = dead("dead");
    Lease held = leased("held");
    try {
      store
          .dsl()
          .transaction(
              inner -> {
                inner.dsl().connection(this::hostWork);
                everything(on(inner.dsl()), dead, held);
                if (!commit) {
                  throw new Undo();
                }
              });
    } catch (Undo undone) {
      assertThat(commit).isFalse();
    }
    if (commit) {
      everythingIsThere();
    } else {
      nothingIsThere(dead);
    }
  }

  @ParameterizedTest(name = "commit {0}")
  @ValueSource(booleans = {true, false})
  void case_6_3_withAThreadLocalTransactionTheHostDecides(boolean commit) {
    Job dead = dead("dead");
    Lease held = leased("held");
    DSLContext dsl =
        DSL.using(
            new DefaultConfiguration()
                .set(backend.engine().dialect())
                .set(
                    new ThreadLocalTransactionProvider(
                        new DataSourceConnectionProvider(store.dataSource()))));
    JobQueue threadLocal = on(dsl);
    try {
      dsl.transaction(
          () -> {
            dsl.connection(this::hostWork);
            everything(threadLocal, dead, held);
            if (!commit) {
              throw new Undo();
            }
          });
    } catch (Undo undone) {
      assertThat(commit).isFalse();
    }
    if (commit) {
      everythingIsThere();
    } else {
      nothingIsThere(dead);
    }
    // outside of a transaction the same queue commits by itself
    assertThat(threadLocal.submit(job("after")).created()).isTrue();
    assertThat(find("after").state()).isEqualTo(JobState.PENDING);
  }

  @ParameterizedTest(name = "commit {0}")
  @ValueSource(booleans = {true, false})
  void aTransactionAwareDataSourceIsJoinedWhenTheBuilderSaysSo(boolean commit) throws SQLException {
    Job dead = dead("dead");
    Lease held = leased("held");
    try (Connection connection = store.dataSource().getConnection()) {
      DataSource aware = bound(connection);
      JobQueue joining =
          JobQueue.builder(DSL.using(aware, backend.engine().dialect()))
              .clock(clock)
              .joins()
              .build();
      connection.setAutoCommit(false);
      hostWork(connection);
      everything(joining, dead, held);
      if (commit) {
        connection.commit();
      } else {
        connection.rollback();
      }
      connection.setAutoCommit(true);
      assertThat(joining.submit(job("after")).created()).isTrue();
    }
    assertThat(find("after").state()).isEqualTo(JobState.PENDING);
    if (commit) {
      everythingIsThere();
    } else {
      nothingIsThere(dead);
    }
  }

  @Test
  void aQueueWithinATransactionKeepsItsNameAndClock() {
    JobQueue orders = queue("orders").build();
    clock.at(T0 + 5);
    store
        .dsl()
        .transaction(
            inner -> assertThat(orders.within(inner.dsl()).submit(job("j1")).created()).isTrue());
    assertThat(orders.find("j1").orElseThrow().submittedAt().toEpochMilli()).isEqualTo(T0 + 5);
    assertThatExceptionOfType(Undo.class)
        .isThrownBy(
            () ->
                store
                    .dsl()
                    .transaction(
                        inner -> {
                          assertThat(orders.within(inner.dsl()).submit(job("j2")).created())
                              .isTrue();
                          throw new Undo();
                        }));
    assertThat(orders.find("j2")).isEmpty();
  }

  @Test
  void withinRefusesAContextWithoutAnOpenTransaction() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> queue.within(store.dsl()))
        .withMessageStartingWith("transaction must have an open transaction");
  }

  @Test
  void anInnerTransactionIsUndoneAlone() {
    store
        .dsl()
        .transaction(
            outer -> {
              assertThat(on(outer.dsl()).submit(job("kept")).created()).isTrue();
              assertThatExceptionOfType(Undo.class)
                  .isThrownBy(
                      () ->
                          outer
                              .dsl()
                              .transaction(
                                  inner -> {
                                    assertThat(on(inner.dsl()).submit(job("undone")).created())
                                        .isTrue();
                                    throw new Undo();
                                  }));
            });
    assertThat(find("kept").state()).isEqualTo(JobState.PENDING);
    assertThat(queue.find("undone")).isEmpty();
  }

  @Test
  void aFailedCallTakesBackWhatItDidAndNoMore() throws SQLException {
    Job dead = dead("dead");
    backend.breakUpdates(store, "jobs");
    try (Connection connection = store.dataSource().getConnection()) {
      connection.setAutoCommit(false);
      hostWork(connection);
      JobQueue inHost = on(connection);
      assertThat(inHost.submit(job("before")).created()).isTrue();
      assertThatExceptionOfType(DataAccessException.class)
          .isThrownBy(() -> inHost.redrive(dead, ORDER));
      assertThat(inHost.submit(job("after")).created()).isTrue();
      connection.commit();
      connection.setAutoCommit(true);
    }
    assertThat(hostRows()).isEqualTo(1);
    assertThat(queue.find("before")).isPresent();
    assertThat(queue.find("after")).isPresent();
    assertThat(auditRows()).isZero();
    backend.mend(store, "jobs");
  }

  @Test
  void onAPlainConnectionWithAutoCommitEachCallIsStored() throws SQLException {
    Job dead = dead("dead");
    try (Connection connection = store.dataSource().getConnection()) {
      JobQueue plain = on(connection);
      assertThat(plain.submit(job("j1")).created()).isTrue();
      assertThat(plain.redrive(dead, ORDER)).isTrue();
      assertThat(connection.getAutoCommit()).isTrue();
      assertThat(queue.find("j1")).isPresent();
      assertThat(find("dead").state()).isEqualTo(JobState.PENDING);
    }
  }

  /** One thread's transaction is not another's host. */
  @Test
  void twoThreadsOnOnePlainConnectionDoNotJoinEachOther() throws Exception {
    backend.breakInserts(store, "redrives");
    Job dead = dead("dead");
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try (Connection connection = store.dataSource().getConnection()) {
      JobQueue plain = on(connection);
      Future<Integer> failing =
          threads.submit(
              () -> {
                int failed = 0;
                for (int i = 0; i < 50; i++) {
                  try {
                    assertThat(plain.redrive(dead, ORDER)).isFalse();
                  } catch (DataAccessException rolledBack) {
                    failed++;
                  }
                }
                return failed;
              });
      for (int i = 0; i < 50; i++) {
        assertThat(plain.submit(job("j" + i)).created()).isTrue();
      }
      assertThat(failing.get()).isEqualTo(50);
    } finally {
      threads.shutdownNow();
    }
    assertThat(rows("select 1 as x from jobs where id like 'j%'")).hasSize(50);
    backend.mend(store, "redrives");
  }

  /** What is stored must not be tried again, whatever a listener says afterwards. */
  @Test
  void aListenerThatFailsAfterTheCommitRepeatsNothing() {
    Lease lease = leased("j1");
    TransactionListener failing =
        TransactionListener.onCommitEnd(
            context -> {
              throw new DataAccessException(
                  "another database", new SQLException("elsewhere", "40001"));
            });
    JobQueue unlucky = on(DSL.using(store.dsl().configuration().derive(failing)));
    assertThatExceptionOfType(DataAccessException.class)
        .isThrownBy(() -> unlucky.finish(lease, Outcome.ok()))
        .withMessage("another database");
    assertThat(find("j1").endedBy(lease)).isTrue();
    assertThat(find("j1").state()).isEqualTo(JobState.DONE);
  }

  /** Like Spring's SingleConnectionDataSource: transactions take turns on the one connection. */
  @Test
  void threadsThatShareTheOnlyConnectionOfADataSourceLoseNothing() throws Exception {
    Job dead = dead("dead");
    backend.breakInserts(store, "redrives");
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try (Connection connection = store.dataSource().getConnection()) {
      JobQueue shared = on(DSL.using(bound(connection), backend.engine().dialect()));
      Future<Integer> rolledBack =
          threads.submit(
              () -> {
                int failed = 0;
                for (int i = 0; i < 50; i++) {
                  try {
                    assertThat(shared.redrive(dead, ORDER)).isFalse();
                  } catch (DataAccessException undone) {
                    failed++;
                  }
                }
                return failed;
              });
      for (int i = 0; i < 50; i++) {
        assertThat(shared.submit(job("j" + i)).created()).isTrue();
        assertThat(shared.find("none")).isEmpty();
      }
      assertThat(rolledBack.get()).isEqualTo(50);
      assertThat(connection.getAutoCommit()).isTrue();
    } finally {
      threads.shutdownNow();
    }
    assertThat(rows("select 1 as x from jobs where id like 'j%'")).hasSize(50);
    backend.mend(store, "redrives");
  }

  @Test
  void aPoolWithAutoCommitOffLosesNothing() {
    try (HikariDataSource pool = pool(false, 4)) {
      losesNothing(on(DSL.using(pool, backend.engine().dialect())), "j");
    }
  }

  /** Auto-commit off is no transaction of the host's when it is only the pool's habit. */
  @Test
  void aPoolWithAutoCommitOffBehindOtherProvidersLosesNothing() {
    try (HikariDataSource pool = pool(false, 4)) {
      DSLContext dsl = DSL.using(pool, backend.engine().dialect());
      losesNothing(JobQueue.builder(dsl).clock(clock).joins().build(), "a");
      losesNothing(
          on(
              DSL.using(
                  new DefaultConfiguration()
                      .set(backend.engine().dialect())
                      .set(
                          new ThreadLocalTransactionProvider(
                              new DataSourceConnectionProvider(pool))))),
          "b");
    }
  }

  /** Those who look hold no connection while those who write wait for one. */
  @Test
  void readersAndWritersShareASmallPoolWithAutoCommitOff() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(6);
    try (HikariDataSource pool = pool(false, 4)) {
      JobQueue pooled = on(DSL.using(pool, backend.engine().dialect()));
      List<Future<?>> all = new ArrayList<>();
      for (int t = 0; t < 6; t++) {
        int thread = t;
        all.add(
            threads.submit(
                () -> {
                  for (int i = 0; i < 20; i++) {
                    assertThat(pooled.find("none")).isEmpty();
                    assertThat(pooled.submit(job(thread + "-" + i)).created()).isTrue();
                  }
                }));
      }
      for (Future<?> done : all) {
        done.get();
      }
    } finally {
      threads.shutdownNow();
    }
    assertThat(jobRows()).isEqualTo(120);
  }

  @Test
  void withinRefusesThePoolAlsoWithAutoCommitOff() {
    try (HikariDataSource pool = pool(false, 4)) {
      DSLContext outer = DSL.using(pool, backend.engine().dialect());
      JobQueue pooled = on(outer);
      assertThatIllegalArgumentException()
          .isThrownBy(() -> pooled.within(outer))
          .withMessageStartingWith("transaction must have an open transaction");
      outer.transaction(
          inner -> assertThat(pooled.within(inner.dsl()).submit(job("j1")).created()).isTrue());
    }
    assertThat(queue.find("j1")).isPresent();
  }

  @Test
  void aQueueWithinATransactionEndsWithIt() throws SQLException {
    try (Connection connection = store.dataSource().getConnection()) {
      connection.setAutoCommit(false);
      JobQueue within = queue.within(DSL.using(connection, backend.engine().dialect()));
      assertThat(within.submit(job("j1")).created()).isTrue();
      connection.commit();
      connection.setAutoCommit(true);
      assertThatIllegalStateException()
          .isThrownBy(() -> within.submit(job("j2")))
          .withMessageContaining("has ended");
    }
    assertThat(queue.find("j2")).isEmpty();
  }

  @Test
  void aClaimThatTheHostRollsBackNeverHappened() {
    submit("j1");
    assertThatExceptionOfType(Undo.class)
        .isThrownBy(
            () ->
                store
                    .dsl()
                    .transaction(
                        inner -> {
                          assertThat(on(inner.dsl()).claim("A", LEASE)).isPresent();
                          throw new Undo();
                        }));
    assertThat(row("j1")).containsEntry("state", "pending").containsEntry("token", 0L);
  }

  @Test
  void aQueueOnTheDataSourceIsNotPartOfAnOpenTransactionElsewhere() {
    Configuration untouched = store.dsl().configuration();
    assertThat(on(DSL.using(untouched)).submit(job("j1")).created()).isTrue();
    assertThat(queue.find("j1")).isPresent();
  }

  /** What Spring's TransactionAwareDataSourceProxy does inside a transaction. */
  private static DataSource bound(Connection connection) {
    Connection unclosed =
        (Connection)
            Proxy.newProxyInstance(
                HostTransactionTest.class.getClassLoader(),
                new Class<?>[] {Connection.class},
                (proxy, method, arguments) -> {
                  if (method.getName().equals("close")) {
                    return null;
                  }
                  try {
                    return method.invoke(connection, arguments);
                  } catch (InvocationTargetException e) {
                    throw e.getCause();
                  }
                });
    return (DataSource)
        Proxy.newProxyInstance(
            HostTransactionTest.class.getClassLoader(),
            new Class<?>[] {DataSource.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "getConnection" -> unclosed;
                  case "equals" -> proxy == arguments[0];
                  case "hashCode" -> System.identityHashCode(proxy);
                  default -> throw new UnsupportedOperationException(method.getName());
                });
  }
}
