package dev.redrive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.zaxxer.hikari.HikariDataSource;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jooq.Transaction;
import org.jooq.TransactionContext;
import org.jooq.TransactionProvider;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.DSL;
import org.jooq.impl.DataSourceConnectionProvider;
import org.jooq.impl.DefaultConfiguration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.support.AopUtils;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.NestedTransactionNotSupportedException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** Spring's {@code @Transactional} decides, whichever way a host hands its connections to us. */
class SpringTransactionTest extends HostTest {

  /** How the host sets its queue up. */
  enum Way {
    /** The context of Spring Boot's jOOQ starter, and nothing said. */
    WITH_SPRINGS_PROVIDER,
    /** A transaction-aware data source, and the builder told so. */
    JOINS,
    /** The builder told how to ask Spring. */
    JOINS_AND_ASKS;

    JobQueue.Builder queue(DefaultConfiguration aware, PlatformTransactionManager manager) {
      return switch (this) {
        case WITH_SPRINGS_PROVIDER ->
            JobQueue.builder(DSL.using(aware.set(new SpringsProvider(manager))));
        case JOINS -> JobQueue.builder(DSL.using(aware)).joins();
        case JOINS_AND_ASKS ->
            JobQueue.builder(DSL.using(aware))
                .joins(TransactionSynchronizationManager::isActualTransactionActive);
      };
    }
  }

  /** jOOQ's transactions as Spring's, the way Spring Boot has it. */
  private record SpringsProvider(PlatformTransactionManager manager)
      implements TransactionProvider {

    private record Springs(TransactionStatus status) implements Transaction {}

    @Override
    public void begin(TransactionContext context) {
      context.transaction(
          new Springs(
              manager.getTransaction(
                  new DefaultTransactionDefinition(TransactionDefinition.PROPAGATION_NESTED))));
    }

    @Override
    public void commit(TransactionContext context) {
      manager.commit(((Springs) context.transaction()).status());
    }

    @Override
    public void rollback(TransactionContext context) {
      manager.rollback(((Springs) context.transaction()).status());
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableTransactionManagement
  static class Settings {}

  /** A bean with no interface: its transactions come from a subclass. */
  public static class Shop {
    @Transactional
    public void sell(Runnable work) {
      work.run();
    }

    @Transactional(propagation = Propagation.REQUIRES_NEW)
    public void sellApart(Runnable work) {
      work.run();
    }

    @Transactional(propagation = Propagation.NESTED)
    public void sellNested(Runnable work) {
      work.run();
    }

    @Transactional(readOnly = true)
    public void look(Runnable work) {
      work.run();
    }

    @Transactional(propagation = Propagation.SUPPORTS)
    public void help(Runnable work) {
      work.run();
    }

    @Transactional(propagation = Propagation.NOT_SUPPORTED)
    public void ring(Runnable work) {
      work.run();
    }
  }

  /** A bean with an interface: its transactions come from a proxy of the JDK's. */
  interface Till {
    void pay(Runnable work);
  }

  static final class Drawer implements Till {
    @Override
    @Transactional
    public void pay(Runnable work) {
      work.run();
    }
  }

  /** A host as Spring knows it. */
  private record Host(
      AnnotationConfigApplicationContext context, HikariDataSource pool, JobQueue queue)
      implements AutoCloseable {

    Shop shop() {
      return context.getBean(Shop.class);
    }

    Till till() {
      return context.getBean(Till.class);
    }

    void work() {
      JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
      assertThat(jdbc.update("insert into host values (1)")).isEqualTo(1);
    }

    @Override
    public void close() {
      context.close();
      pool.close();
    }
  }

  private Host host(Way way, boolean autoCommit) {
    return host(way, pool(autoCommit, 4), manager -> {});
  }

  private Host host(
      Way way, HikariDataSource pool, Consumer<DataSourceTransactionManager> settings) {
    DataSourceTransactionManager manager = new DataSourceTransactionManager(pool);
    settings.accept(manager);
    AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
    context.registerBean(PlatformTransactionManager.class, () -> manager);
    context.registerBean(JdbcTemplate.class, () -> new JdbcTemplate(pool));
    context.register(Settings.class, Shop.class, Drawer.class);
    context.refresh();
    DefaultConfiguration aware = new DefaultConfiguration();
    aware.set(backend.engine().dialect());
    aware.set(new DataSourceConnectionProvider(new TransactionAwareDataSourceProxy(pool)));
    JobQueue queue = way.queue(aware, manager).clock(clock).build();
    return new Host(context, pool, queue);
  }

  static Stream<Arguments> ways() {
    return Arrays.stream(Way.values())
        .flatMap(way -> Stream.of(true, false).map(autoCommit -> Arguments.of(way, autoCommit)));
  }

  /** Each way with the pool that is harder for it. */
  static Stream<Arguments> eachWayOnce() {
    return ways().filter(way -> way.get()[1].equals(way.get()[0] == Way.WITH_SPRINGS_PROVIDER));
  }

  /**
   * Without a transaction, but with a scope, Spring keeps one connection for the thread. With
   * auto-commit off it looks like a transaction to who doesn't ask.
   */
  static Stream<Arguments> waysThatAreSureOutside() {
    return ways().filter(way -> way.get()[0] != Way.JOINS || way.get()[1].equals(true));
  }

  @ParameterizedTest(name = "{0}, auto-commit {1}")
  @MethodSource("ways")
  void aCommitStoresBoth(Way way, boolean autoCommit) {
    Job dead = dead("dead");
    Lease held = leased("held");
    try (Host host = host(way, autoCommit)) {
      host.shop()
          .sell(
              () -> {
                host.work();
                everything(host.queue(), dead, held);
                assertThat(hostRows()).as("committed for the host").isZero();
              });
    }
    everythingIsThere();
  }

  @ParameterizedTest(name = "{0}, auto-commit {1}")
  @MethodSource("ways")
  void aRollbackTakesBothBack(Way way, boolean autoCommit) {
    Job dead = dead("dead");
    Lease held = leased("held");
    try (Host host = host(way, autoCommit)) {
      assertThatExceptionOfType(Undo.class)
          .isThrownBy(
              () ->
                  host.till()
                      .pay(
                          () -> {
                            host.work();
                            everything(host.queue(), dead, held);
                            throw new Undo();
                          }));
    }
    nothingIsThere(dead);
  }

  @Test
  void bothKindsOfProxiesAreTried() {
    try (Host host = host(Way.JOINS, true)) {
      assertThat(AopUtils.isCglibProxy(host.shop())).isTrue();
      assertThat(AopUtils.isJdkDynamicProxy(host.till())).isTrue();
    }
  }

  @ParameterizedTest(name = "{0}, auto-commit {1}")
  @MethodSource("ways")
  void outsideOfTransactionsEachCallIsStored(Way way, boolean autoCommit) {
    try (Host host = host(way, autoCommit)) {
      losesNothing(host.queue(), "j");
    }
  }

  @ParameterizedTest(name = "auto-commit {0}")
  @ValueSource(booleans = {true, false})
  void onePooledConnectionIsEnoughToAsk(boolean autoCommit) {
    Job dead = dead("dead");
    Lease held = leased("held");
    try (Host host = host(Way.JOINS_AND_ASKS, pool(autoCommit, 1), manager -> {})) {
      host.shop()
          .sell(
              () -> {
                host.work();
                everything(host.queue(), dead, held);
              });
      everythingIsThere();
      losesNothing(host.queue(), "j");
    }
  }

  @ParameterizedTest(name = "{0}, auto-commit {1}")
  @MethodSource("ways")
  void aFailedCallLeavesTheHostsTransactionUsable(Way way, boolean autoCommit) {
    Job dead = dead("dead");
    backend.breakUpdates(store, "jobs");
    try (Host host = host(way, autoCommit)) {
      host.shop()
          .sell(
              () -> {
                assertThat(host.queue().submit(job("before")).created()).isTrue();
                assertThatExceptionOfType(DataAccessException.class)
                    .isThrownBy(() -> host.queue().redrive(dead, ORDER));
                host.work();
                assertThat(host.queue().submit(job("after")).created()).isTrue();
              });
    } finally {
      backend.mend(store, "jobs");
    }
    assertThat(hostRows()).isEqualTo(1);
    assertThat(queue.find("before")).isPresent();
    assertThat(queue.find("after")).isPresent();
    assertThat(find("dead")).isEqualTo(dead);
    assertThat(auditRows()).isZero();
  }

  @ParameterizedTest(name = "{0}, auto-commit {1}")
  @MethodSource("eachWayOnce")
  void aNewTransactionInsideIsItsOwn(Way way, boolean autoCommit) {
    try (Host host = host(way, autoCommit)) {
      assertThatExceptionOfType(Undo.class)
          .isThrownBy(
              () ->
                  host.shop()
                      .sell(
                          () -> {
                            host.shop().sellApart(() -> created(host, "apart"));
                            created(host, "undone");
                            throw new Undo();
                          }));
    }
    assertThat(find("apart").state()).isEqualTo(JobState.PENDING);
    assertThat(queue.find("undone")).isEmpty();
  }

  @ParameterizedTest(name = "{0}, auto-commit {1}")
  @MethodSource("eachWayOnce")
  void aNestedTransactionIsUndoneAlone(Way way, boolean autoCommit) {
    try (Host host = host(way, autoCommit)) {
      host.shop()
          .sell(
              () -> {
                created(host, "kept");
                assertThatExceptionOfType(Undo.class)
                    .isThrownBy(
                        () ->
                            host.shop()
                                .sellNested(
                                    () -> {
                                      created(host, "undone");
                                      throw new Undo();
                                    }));
                created(host, "kept-too");
              });
    }
    assertThat(find("kept").state()).isEqualTo(JobState.PENDING);
    assertThat(find("kept-too").state()).isEqualTo(JobState.PENDING);
    assertThat(queue.find("undone")).isEmpty();
  }

  /** A host that catches what an inner method threw has lost the transaction, and is told so. */
  @ParameterizedTest(name = "{0}, auto-commit {1}")
  @MethodSource("eachWayOnce")
  void aTransactionMarkedForRollbackStoresNothing(Way way, boolean autoCommit) {
    try (Host host = host(way, autoCommit)) {
      assertThatExceptionOfType(TransactionException.class)
          .isThrownBy(
              () ->
                  host.shop()
                      .sell(
                          () -> {
                            created(host, "outer");
                            assertThatExceptionOfType(Undo.class)
                                .isThrownBy(
                                    () ->
                                        host.till()
                                            .pay(
                                                () -> {
                                                  created(host, "inner");
                                                  throw new Undo();
                                                }));
                            created(host, "later");
                          }));
    }
    assertThat(jobRows()).isZero();
  }

  @ParameterizedTest(name = "{0}, auto-commit {1}")
  @MethodSource("waysThatAreSureOutside")
  void aMethodThatSupportsATransactionTakesWhatThereIs(Way way, boolean autoCommit) {
    try (Host host = host(way, autoCommit)) {
      host.shop()
          .help(
              () -> {
                created(host, "alone");
                assertThat(find("alone").state()).isEqualTo(JobState.PENDING);
              });
      assertThatExceptionOfType(Undo.class)
          .isThrownBy(
              () ->
                  host.shop()
                      .sell(
                          () -> {
                            host.shop().help(() -> created(host, "undone"));
                            throw new Undo();
                          }));
    }
    assertThat(queue.find("undone")).isEmpty();
  }

  @ParameterizedTest(name = "{0}, auto-commit {1}")
  @MethodSource("waysThatAreSureOutside")
  void aMethodThatSuspendsTheTransactionCommitsByItself(Way way, boolean autoCommit) {
    try (Host host = host(way, autoCommit)) {
      assertThatExceptionOfType(Undo.class)
          .isThrownBy(
              () ->
                  host.shop()
                      .sell(
                          () -> {
                            host.shop().ring(() -> losesNothing(host.queue(), "rung"));
                            created(host, "undone");
                            throw new Undo();
                          }));
    }
    assertThat(find("rung").state()).isEqualTo(JobState.DONE);
    assertThat(queue.find("undone")).isEmpty();
  }

  /** There Spring commits for nobody, and who does not ask it shares the host's fate. */
  @Test
  void withoutAskingAScopeWithoutATransactionIsTakenForOneWhereAutoCommitIsOff() {
    try (Host host = host(Way.JOINS, false)) {
      host.shop()
          .help(
              () -> {
                host.work();
                created(host, "lost");
              });
    }
    assertThat(hostRows()).isZero();
    assertThat(queue.find("lost")).isEmpty();
  }

  /** PostgreSQL refuses to write then; sqlite-jdbc cannot make an open connection read-only. */
  @ParameterizedTest(name = "{0}, auto-commit {1}")
  @MethodSource("eachWayOnce")
  void aReadOnlyTransactionLooks(Way way, boolean autoCommit) {
    submit("j1");
    try (Host host = host(way, autoCommit)) {
      host.shop()
          .look(
              () -> {
                assertThat(host.queue().find("j1")).isPresent();
                if (backend == Backend.POSTGRESQL) {
                  assertThatExceptionOfType(DataAccessException.class)
                      .isThrownBy(() -> host.queue().submit(job("j2")))
                      .withMessageContaining("read-only transaction");
                } else {
                  created(host, "j2");
                }
                assertThat(host.queue().find("j1")).isPresent();
              });
    }
    assertThat(jobRows()).isEqualTo(backend == Backend.POSTGRESQL ? 1 : 2);
  }

  @ParameterizedTest(name = "{0}, auto-commit {1}")
  @MethodSource("eachWayOnce")
  void aManagerWithoutNestedTransactionsIsJoinedToo(Way way, boolean autoCommit) {
    Job dead = dead("dead");
    Lease held = leased("held");
    try (Host host =
        host(way, pool(autoCommit, 4), manager -> manager.setNestedTransactionAllowed(false))) {
      if (way == Way.WITH_SPRINGS_PROVIDER) {
        assertThatExceptionOfType(NestedTransactionNotSupportedException.class)
            .isThrownBy(() -> host.shop().sell(() -> created(host, "refused")));
        assertThat(queue.find("refused")).isEmpty();
        return;
      }
      host.shop()
          .sell(
              () -> {
                host.work();
                everything(host.queue(), dead, held);
              });
    }
    everythingIsThere();
  }

  /** A listener hears a death that a claim finds when the claim's connection is back. */
  @ParameterizedTest(name = "auto-commit {0}")
  @ValueSource(booleans = {true, false})
  void whoHearsOfADeathFindsTheOnlyConnectionFree(boolean autoCommit) {
    AtomicReference<JobState> heard = new AtomicReference<>();
    submit("j1");
    try (Host host = host(Way.JOINS_AND_ASKS, pool(autoCommit, 1), manager -> {})) {
      JobQueue hearing = host.queue().listening(event -> heard.set(found(host.queue(), event)));
      clock.at(T0 + 172_800_000);
      assertThat(hearing.claim("A", LEASE)).isEmpty();
    }
    assertThat(heard.get()).isEqualTo(JobState.DEAD);
  }

  private static JobState found(JobQueue queue, JobEvent event) {
    return queue.find(((JobEvent.Died) event).id()).orElseThrow().state();
  }

  private static void created(Host host, String id) {
    assertThat(host.queue().submit(job(id)).created()).isTrue();
  }
}
