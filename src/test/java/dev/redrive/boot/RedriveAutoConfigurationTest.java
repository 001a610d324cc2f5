package dev.redrive.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.redrive.Backend;
import dev.redrive.EmptyDatabase;
import dev.redrive.JobQueue;
import dev.redrive.Lease;
import dev.redrive.Migrations;
import dev.redrive.NewJob;
import dev.redrive.Outcome;
import dev.redrive.Redrive;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import javax.sql.DataSource;
import org.jooq.DSLContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** What a Spring Boot application gets by having redrive on its class path; 3 and 4 alike. */
@ParameterizedClass(name = "{0}")
@EnumSource(
    value = Backend.class,
    names = {"SQLITE", "POSTGRESQL"})
class RedriveAutoConfigurationTest {
  private static final Duration LEASE = Duration.ofSeconds(30);
  static final String WITHOUT_JOOQS_STARTER =
      "spring.autoconfigure.exclude="
          + "org.springframework.boot.autoconfigure.jooq.JooqAutoConfiguration,"
          + "org.springframework.boot.jooq.autoconfigure.JooqAutoConfiguration";

  @Parameter Backend backend;
  @TempDir Path folder;

  private EmptyDatabase database;

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Application {}

  @Configuration(proxyBeanMethods = false)
  @Import(Application.class)
  static class ShopApplication {
    @Bean
    Shop shop(JdbcTemplate database, JobQueue queue) {
      return new Shop(database, queue);
    }
  }

  @BeforeEach
  void openDatabase() {
    database = EmptyDatabase.of(backend);
  }

  @AfterEach
  void closeDatabase() {
    database.close();
  }

  private ApplicationContextRunner application(Class<?>... configurations) {
    return new ApplicationContextRunner()
        .withUserConfiguration(configurations)
        .withPropertyValues(
            "spring.datasource.url=" + database.url(),
            "spring.datasource.hikari.maximum-pool-size=2",
            "spring.flyway.enabled=false");
  }

  private static void use(ApplicationContext context) {
    JobQueue queue = context.getBean(JobQueue.class);
    assertThat(queue.submit(NewJob.of("j1", "{}")).created()).isTrue();
    Lease lease = queue.claim("A", LEASE).orElseThrow();
    assertThat(queue.finish(lease, Outcome.permanent("http-422"))).isTrue();
    assertThat(
            queue.redrive(
                queue.find(lease.id()).orElseThrow(),
                Redrive.note("OPS-17").approvedBy("kim").deadline(Duration.ofHours(1))))
        .isTrue();
  }

  @Test
  void theQueueIsThereAndCommitsByItself() {
    application(Application.class).run(RedriveAutoConfigurationTest::use);
    assertThat(database.texts("select state from jobs")).containsExactly("pending");
    assertThat(database.texts("select note from redrives")).containsExactly("OPS-17");
  }

  @ParameterizedTest(name = "auto-commit {0}")
  @ValueSource(booleans = {true, false})
  void insideATransactionalServiceItJoins(boolean autoCommit) {
    database.execute("create table orders (id varchar(20))");
    application(ShopApplication.class)
        .withPropertyValues("spring.datasource.hikari.auto-commit=" + autoCommit)
        .run(this::orders);
  }

  /** A manager for JPA is one of this kind: no nested transactions, but savepoints do. */
  @Test
  void aManagerWithoutNestedTransactionsIsJoined() {
    database.execute("create table orders (id varchar(20))");
    application(ShopApplication.class, Unnested.class).run(this::orders);
  }

  @Configuration(proxyBeanMethods = false)
  static class Unnested {
    @Bean
    PlatformTransactionManager transactionManager(DataSource source) {
      DataSourceTransactionManager manager = new DataSourceTransactionManager(source);
      manager.setNestedTransactionAllowed(false);
      return manager;
    }
  }

  @Test
  void withoutJooqsStarterTheDataSourceIsEnough() {
    database.execute("create table orders (id varchar(20))");
    application(ShopApplication.class)
        .withPropertyValues(WITHOUT_JOOQS_STARTER)
        .run(
            context -> {
              assertThat(context).doesNotHaveBean(DSLContext.class);
              orders(context);
            });
  }

  /** On SQLite a host that has read from a table there keeps everybody from committing. */
  @Test
  void whatTheHostLeftUncommittedIsNotCommittedForIt() {
    database.execute("create table orders (id varchar(20))");
    String work =
        backend == Backend.SQLITE ? "select 1" : "insert into orders (id) values ('lost')";
    application(ShopApplication.class)
        .withPropertyValues("spring.datasource.hikari.auto-commit=false")
        .run(context -> assertThat(context.getBean(Shop.class).help(work)).isTrue());
    assertThat(database.texts("select id from jobs")).containsExactly("help");
    assertThat(database.texts("select id from orders")).isEmpty();
  }

  /** Spring calls back while it still holds the connection, and commits there for nobody. */
  @ParameterizedTest(name = "auto-commit {0}")
  @ValueSource(booleans = {true, false})
  void afterATransactionACallCommitsByItself(boolean autoCommit) {
    application(Application.class)
        .withPropertyValues("spring.datasource.hikari.auto-commit=" + autoCommit)
        .run(
            context -> {
              JobQueue queue = context.getBean(JobQueue.class);
              TransactionTemplate transaction =
                  new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
              transaction.executeWithoutResult(status -> submitAfterwards(queue, "committed"));
              transaction.executeWithoutResult(
                  status -> {
                    submitAfterwards(queue, "rolled-back");
                    assertThat(queue.submit(NewJob.of("undone", "{}")).created()).isTrue();
                    status.setRollbackOnly();
                  });
            });
    assertThat(database.texts("select id from jobs order by id"))
        .containsExactly("committed", "committed-over", "rolled-back-over");
  }

  private static void submitAfterwards(JobQueue queue, String id) {
    TransactionSynchronizationManager.registerSynchronization(
        new TransactionSynchronization() {
          @Override
          public void afterCommit() {
            assertThat(queue.submit(NewJob.of(id, "{}")).created()).isTrue();
          }

          @Override
          public void afterCompletion(int status) {
            assertThat(queue.submit(NewJob.of(id + "-over", "{}")).created()).isTrue();
          }
        });
  }

  /** Spring holds a connection to ours until the other's transaction ends, and commits nothing. */
  @Test
  void besideATransactionOfAnotherDataSourceACallCommitsByItself() {
    try (EmptyDatabase other = EmptyDatabase.of(backend)) {
      application(Application.class, Unnested.class)
          .withBean(
              "others",
              PlatformTransactionManager.class,
              () -> new DataSourceTransactionManager(new DriverManagerDataSource(other.url())))
          .withPropertyValues(WITHOUT_JOOQS_STARTER, "spring.datasource.hikari.auto-commit=false")
          .run(
              context -> {
                JobQueue queue = context.getBean(JobQueue.class);
                JdbcTemplate ours = context.getBean(JdbcTemplate.class);
                new TransactionTemplate(context.getBean("others", PlatformTransactionManager.class))
                    .executeWithoutResult(
                        status -> {
                          ours.execute("select 1");
                          assertThat(queue.submit(NewJob.of("j1", "{}")).created()).isTrue();
                        });
              });
    }
    assertThat(database.texts("select id from jobs")).containsExactly("j1");
  }

  private void orders(ApplicationContext context) {
    Shop shop = context.getBean(Shop.class);
    shop.order("o1");
    assertThatExceptionOfType(Shop.OutOfStock.class).isThrownBy(() -> shop.orderAndFail("o2"));
    assertThat(database.texts("select id from orders")).containsExactly("o1");
    assertThat(database.texts("select id from jobs")).containsExactly("o1");
    use(context);
    assertThat(database.texts("select id from jobs order by id")).containsExactly("j1", "o1");
  }

  /** Flyway refuses a first script in a schema that has tables already. */
  @Test
  void theTablesComeAfterTheHostsOwnFlyway() throws IOException {
    Files.writeString(folder.resolve("V1__orders.sql"), "create table orders (id varchar(20));");
    ApplicationContextRunner application =
        application(QueueFirst.class)
            .withPropertyValues(
                WITHOUT_JOOQS_STARTER,
                "spring.flyway.enabled=true",
                "spring.flyway.locations=filesystem:" + folder);
    application.run(RedriveAutoConfigurationTest::use);
    Files.writeString(folder.resolve("V2__more.sql"), "create table more (id varchar(20));");
    application.run(
        again -> assertThat(again.getBean(JobQueue.class).find("j1")).as("after V2").isPresent());
    assertThat(database.texts("select version from flyway_schema_history order by version"))
        .containsExactly("1", "2");
    assertThat(database.texts("select id from more")).isEmpty();
  }

  /** A bean of the host's that wants the queue before anything else is made. */
  @Configuration(proxyBeanMethods = false)
  @Import(Application.class)
  static class QueueFirst {
    @Bean
    Runnable first(JobQueue queue) {
      return () -> assertThat(queue.find("j1")).isPresent();
    }
  }

  @Test
  void theTablesComeAfterTheHostsScripts() throws IOException {
    Path script = folder.resolve("schema.sql");
    Files.writeString(script, "create table jobs_of_ours (id varchar(20));");
    application(Application.class)
        .withPropertyValues(
            "spring.sql.init.mode=always", "spring.sql.init.schema-locations=file:" + script)
        .run(
            context ->
                assertThat(
                        context
                            .getSourceApplicationContext(ConfigurableApplicationContext.class)
                            .getBeanFactory()
                            .getDependenciesForBean("redriveTables"))
                    .anyMatch(bean -> bean.contains("ataSourceScriptDatabaseInitializer")));
  }

  @Test
  void withoutMigratingTheTablesHaveToBeThere() {
    ApplicationContextRunner looking =
        application(Application.class).withPropertyValues("redrive.migrate=false");
    looking.run(
        context ->
            assertThat(context)
                .getFailure()
                .rootCause()
                .hasMessageContaining("redrive's tables are missing"));
    assertThat(Migrations.of(new DriverManagerDataSource(database.url())).migrate()).isPositive();
    looking.run(RedriveAutoConfigurationTest::use);
  }

  @Test
  void theTablesMayHaveASchemaOfTheirOwn() {
    application(Application.class)
        .withPropertyValues("redrive.schema=redrive")
        .run(
            context -> {
              if (backend == Backend.SQLITE) {
                assertThat(context)
                    .getFailure()
                    .rootCause()
                    .hasMessage("schema must not be given on SQLite, which has one");
              } else {
                use(context);
                assertThat(database.texts("select state from redrive.jobs"))
                    .containsExactly("pending");
              }
            });
  }

  @Test
  void healthIsUpWithDeadJobsAndDownWithoutTables() {
    application(Application.class)
        .run(
            context -> {
              JobQueue queue = context.getBean(JobQueue.class);
              assertThat(queue.submit(NewJob.of("j1", "{}")).created()).isTrue();
              Lease lease = queue.claim("A", LEASE).orElseThrow();
              assertThat(queue.finish(lease, Outcome.permanent("http-422"))).isTrue();
              Health up = Health.of(context);
              assertThat(up.status()).isEqualTo("UP");
              assertThat(up.details()).containsOnlyKeys("default");
              assertThat(up.details().get("default"))
                  .asString()
                  .contains("dead=1", "neverInvestigated=1", "oldestReadySeconds=0");
              database.execute("drop table redrives");
              database.execute("drop table jobs");
              Health down = Health.of(context);
              assertThat(down.status()).isEqualTo("DOWN");
              assertThat(down.details()).containsKey("error");
            });
  }

  @Test
  void healthIsDownWhenTheDatabaseDoesNotAnswer() {
    application(Application.class)
        .run(
            context -> {
              assertThat(Health.of(context).status()).isEqualTo("UP");
              ((AutoCloseable) context.getBean(DataSource.class)).close();
              assertThat(Health.of(context).status()).isEqualTo("DOWN");
            });
  }

  /** The indicator of whichever Boot is on the class path. */
  private record Health(String status, Map<String, Object> details) {
    static Health of(ApplicationContext context) throws ReflectiveOperationException {
      Object indicator = context.getBean("redriveHealthIndicator");
      var health = indicator.getClass().getMethod("health");
      health.setAccessible(true);
      Object answer = health.invoke(indicator);
      return new Health(
          answer.getClass().getMethod("getStatus").invoke(answer).toString(),
          byName((Map<?, ?>) answer.getClass().getMethod("getDetails").invoke(answer)));
    }
  }

  private static Map<String, Object> byName(Map<?, ?> answer) {
    Map<String, Object> details = new TreeMap<>();
    answer.forEach((key, value) -> details.put(String.valueOf(key), value));
    return details;
  }

  @Test
  void aWholeApplicationStarts() {
    database.execute("create table orders (id varchar(20))");
    SpringApplication application = new SpringApplication(ShopApplication.class);
    application.setDefaultProperties(
        Map.of(
            "spring.datasource.url", database.url(),
            "spring.flyway.enabled", "false",
            "spring.main.banner-mode", "off"));
    try (ConfigurableApplicationContext context = application.run()) {
      orders(context);
    }
  }
}
