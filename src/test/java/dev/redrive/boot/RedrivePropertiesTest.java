package dev.redrive.boot;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.redrive.Backend;
import dev.redrive.EmptyDatabase;
import dev.redrive.JobQueue;
import dev.redrive.JobState;
import dev.redrive.Lease;
import dev.redrive.NewJob;
import dev.redrive.Outcome;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.RecordComponent;
import java.time.Duration;
import java.util.Locale;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** What an application may choose; no engine makes a difference to it. */
class RedrivePropertiesTest {
  private static final Duration LEASE = Duration.ofSeconds(30);

  private EmptyDatabase database;

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Application {}

  @BeforeEach
  void openDatabase() {
    database = EmptyDatabase.of(Backend.SQLITE);
  }

  @AfterEach
  void closeDatabase() {
    database.close();
  }

  private ApplicationContextRunner application(Class<?>... configurations) {
    return new ApplicationContextRunner()
        .withUserConfiguration(configurations)
        .withPropertyValues(
            "spring.datasource.url=" + database.url(), "spring.flyway.enabled=false");
  }

  @Test
  void theSettingsReachTheQueue() {
    application(Application.class)
        .withPropertyValues(
            "redrive.name=orders",
            "redrive.max-payload-bytes=3",
            "redrive.retry.base=7s",
            "redrive.retry.cap=7s",
            "redrive.retry.jitter=0")
        .run(
            context -> {
              JobQueue queue = context.getBean(JobQueue.class);
              assertThat(queue.name()).isEqualTo("orders");
              assertThatExceptionOfType(IllegalArgumentException.class)
                  .isThrownBy(() -> queue.submit(NewJob.of("j1", "1234")));
              assertThat(queue.submit(NewJob.of("j1", "{}")).created()).isTrue();
              Lease lease = queue.claim("A", LEASE).orElseThrow();
              assertThat(queue.finish(lease, Outcome.retry("http-503"))).isTrue();
              assertThat(queue.find("j1").orElseThrow().state()).isEqualTo(JobState.PENDING);
            });
    assertThat(database.texts("select available_at - submitted_at >= 7000 from jobs").get(0))
        .isIn("1", "t");
  }

  @Test
  void aBadSettingIsNamed() {
    application(Application.class)
        .withPropertyValues("redrive.retry.base=7s", "redrive.retry.cap=1s")
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .hasStackTraceContaining("'redrive.retry'")
                    .rootCause()
                    .hasMessage("cap must be at least base, it is PT1S"));
  }

  @Test
  void itCanBeSwitchedOff() {
    application(Application.class)
        .withPropertyValues("redrive.enabled=false")
        .run(
            context ->
                assertThat(context)
                    .hasNotFailed()
                    .doesNotHaveBean(JobQueue.class)
                    .doesNotHaveBean("redriveHealthIndicator"));
    assertThat(database.texts("select name from sqlite_schema")).isEmpty();
  }

  @Test
  void amongSeveralDataSourcesItDoesNotChoose() {
    application(Application.class, TwoDataSources.class)
        .withPropertyValues(RedriveAutoConfigurationTest.WITHOUT_JOOQS_STARTER)
        .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(JobQueue.class));
    assertThat(database.texts("select name from sqlite_schema")).isEmpty();
  }

  @Configuration(proxyBeanMethods = false)
  static class TwoDataSources {
    @Bean
    DataSource one() {
      return new DriverManagerDataSource("jdbc:sqlite::memory:");
    }

    @Bean
    DataSource other() {
      return new DriverManagerDataSource("jdbc:sqlite::memory:");
    }
  }

  @Test
  void aHostWithSeveralQueuesBuildsThem() {
    application(TwoQueues.class)
        .run(
            context -> {
              JobQueue orders = context.getBean("orders", JobQueue.class);
              assertThat(orders.submit(NewJob.of("j1", "{}")).created()).isTrue();
              assertThat(context.getBean("mails", JobQueue.class).find("j1")).isEmpty();
              assertThat(context).doesNotHaveBean("jobQueue");
            });
    assertThat(database.texts("select queue from jobs")).containsExactly("orders");
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class TwoQueues {
    @Bean
    JobQueue orders(JobQueue.Builder builder) {
      return builder.name("orders").build();
    }

    @Bean
    JobQueue mails(JobQueue.Builder builder) {
      return builder.name("mails").build();
    }
  }

  @Test
  void queuesAreCountedWhereThereIsARegistry() {
    application(TwoQueues.class)
        .withBean(MeterRegistry.class, SimpleMeterRegistry::new)
        .run(
            context -> {
              JobQueue orders = context.getBean("orders", JobQueue.class);
              assertThat(orders.submit(NewJob.of("j1", "{}")).created()).isTrue();
              MeterRegistry registry = context.getBean(MeterRegistry.class);
              assertThat(
                      registry
                          .get("redrive.transitions")
                          .tags("queue", "orders", "transition", "submit", "result", "created")
                          .functionCounter()
                          .count())
                  .isEqualTo(1.0);
              assertThat(
                      registry
                          .get("redrive.jobs")
                          .tags("queue", "mails", "state", "ready")
                          .gauge()
                          .value())
                  .isZero();
            });
  }

  @Test
  void healthCanBeSwitchedOff() {
    application(Application.class)
        .withPropertyValues("management.health.redrive.enabled=false")
        .run(
            context ->
                assertThat(context).hasNotFailed().doesNotHaveBean("redriveHealthIndicator"));
  }

  @Test
  void neitherHealthNorMetricsHaveToBeThere() {
    application(Application.class)
        .withClassLoader(
            new FilteredClassLoader(
                "io.micrometer.core.instrument",
                "org.springframework.boot.actuate.health.HealthIndicator",
                "org.springframework.boot.health.contributor.HealthIndicator"))
        .run(
            context -> {
              assertThat(context).doesNotHaveBean("redriveHealthIndicator");
              assertThat(context.getBean(JobQueue.class).find("j1")).isEmpty();
            });
  }

  @Test
  void everySettingIsDescribedForEditors() throws IOException {
    String metadata;
    try (InputStream file =
        RedriveProperties.class.getResourceAsStream(
            "/META-INF/spring-configuration-metadata.json")) {
      metadata = new String(file.readAllBytes(), UTF_8);
    }
    for (RecordComponent setting : RedriveProperties.class.getRecordComponents()) {
      if (setting.getType() != RedriveProperties.Retry.class) {
        assertThat(metadata).contains("\"redrive." + dashed(setting.getName()) + "\"");
      }
    }
    for (RecordComponent setting : RedriveProperties.Retry.class.getRecordComponents()) {
      assertThat(metadata).contains("\"redrive.retry." + setting.getName() + "\"");
    }
  }

  private static String dashed(String name) {
    return name.replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
  }
}
