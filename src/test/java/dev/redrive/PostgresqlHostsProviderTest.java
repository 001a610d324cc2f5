package dev.redrive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import javax.sql.DataSource;
import org.jooq.DSLContext;
import org.jooq.SQLDialect;
import org.jooq.TransactionContext;
import org.jooq.TransactionProvider;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.DSL;
import org.jooq.impl.DataSourceConnectionProvider;
import org.jooq.impl.DefaultConfiguration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A provider of the host's that keeps one transaction and nests ours in it, together with a data
 * source that hands out the bound connection: what Spring does.
 */
class PostgresqlHostsProviderTest extends PostgresqlTest {
  private DSLContext dsl;
  private JobQueue jobs;

  @BeforeEach
  void hostWithAProvider() {
    plant("create table host (x integer)");
    Keeping spring = new Keeping(store.dataSource());
    dsl =
        DSL.using(
            new DefaultConfiguration()
                .set(SQLDialect.POSTGRES)
                .set(new DataSourceConnectionProvider(spring.dataSource()))
                .set(spring));
    jobs = JobQueue.builder(dsl).clock(clock).build();
  }

  @Test
  void outsideOfATransactionACallIsOneOfItsOwnAndRepeated() {
    Lease lease = leased("j1");
    failUpdates("40001", 2);
    assertThat(jobs.finish(lease, Outcome.ok())).isTrue();
    assertThat(tries()).isEqualTo(3);
    assertThat(find("j1").state()).isEqualTo(JobState.DONE);
  }

  @Test
  void insideOfATransactionTheFailureReachesTheHostWhichGoesOn() {
    Lease lease = leased("j1");
    failUpdates("40001", 1);
    dsl.transaction(
        host -> {
          hostWork(host.dsl());
          DataAccessException thrown =
              catchThrowableOfType(
                  DataAccessException.class, () -> jobs.finish(lease, Outcome.ok()));
          assertThat(thrown.sqlState()).isEqualTo("40001");
          assertThat(tries()).isEqualTo(1);
          hostWork(host.dsl());
        });
    assertThat(rows("select x from host")).hasSize(2);
    assertThat(find("j1").state()).isEqualTo(JobState.LEASED);
  }

  @Test
  void aLookEndsNoTransactionOfTheHosts() {
    submit("j1");
    dsl.transaction(
        host -> {
          hostWork(host.dsl());
          assertThat(jobs.find("j1")).isPresent();
          assertThat(JobQueue.builder(dsl).clock(clock).build().find("j1")).isPresent();
          assertThat(rows("select x from host")).isEmpty();
        });
    assertThat(rows("select x from host")).hasSize(1);
  }

  @Test
  void theHostsRollbackTakesOurRows() {
    Optional<RuntimeException> thrown =
        Optional.ofNullable(
            catchThrowableOfType(
                IllegalStateException.class,
                () ->
                    dsl.transaction(
                        host -> {
                          assertThat(jobs.submit(job("j1")).created()).isTrue();
                          throw new IllegalStateException("undo");
                        })));
    assertThat(thrown).isPresent();
    assertThat(queue.find("j1")).isEmpty();
  }

  private static void hostWork(DSLContext host) {
    assertThat(host.execute("insert into host values (1)")).isEqualTo(1);
  }

  private static final class Keeping implements TransactionProvider {
    private final DataSource pool;
    private @Nullable Connection bound;
    private final Deque<Savepoint> nested = new ArrayDeque<>();

    Keeping(DataSource pool) {
      this.pool = pool;
    }

    DataSource dataSource() {
      return proxy(
          DataSource.class,
          (proxy, method, arguments) -> {
            Connection connection = bound;
            return connection == null ? pool.getConnection() : unclosed(connection);
          });
    }

    private static Connection unclosed(Connection connection) {
      return proxy(
          Connection.class,
          (proxy, method, arguments) -> {
            try {
              return method.getName().equals("close") ? null : method.invoke(connection, arguments);
            } catch (InvocationTargetException e) {
              throw e.getCause();
            }
          });
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
      return type.cast(
          Proxy.newProxyInstance(
              PostgresqlHostsProviderTest.class.getClassLoader(), new Class<?>[] {type}, handler));
    }

    @FunctionalInterface
    private interface Step {
      void run(@Nullable Connection connection) throws SQLException;
    }

    private void step(Step step) {
      try {
        step.run(bound);
      } catch (SQLException e) {
        throw new DataAccessException("host", e);
      }
    }

    @Override
    public void begin(TransactionContext context) {
      step(
          open -> {
            if (open != null) {
              nested.push(open.setSavepoint());
            } else {
              Connection connection = pool.getConnection();
              connection.setAutoCommit(false);
              bound = connection;
            }
          });
    }

    @Override
    public void commit(TransactionContext context) {
      step(
          open -> {
            if (!nested.isEmpty()) {
              open.releaseSavepoint(nested.pop());
            } else {
              open.commit();
              end(open);
            }
          });
    }

    @Override
    public void rollback(TransactionContext context) {
      step(
          open -> {
            if (!nested.isEmpty()) {
              open.rollback(nested.pop());
            } else {
              open.rollback();
              end(open);
            }
          });
    }

    private void end(Connection connection) throws SQLException {
      bound = null;
      connection.setAutoCommit(true);
      connection.close();
    }
  }
}
