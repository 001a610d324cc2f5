package dev.redrive.boot;

import dev.redrive.JobQueue;
import javax.sql.DataSource;
import org.jooq.DSLContext;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.sql.init.dependency.DatabaseInitializationDependencyConfigurer;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Scope;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.ConfigurableTransactionManager;

/**
 * Gives an application with a data source a {@link JobQueue}: a call inside of {@code
 * Transactional} is part of that transaction, any other commits by itself. The tables come after
 * the application's own Flyway, Liquibase or scripts.
 *
 * <p>For several queues, each is a bean made by {@code builder.name("orders").build()} of a {@link
 * JobQueue.Builder} that is injected; the queue named by the properties is then not made.
 */
@AutoConfiguration(
    afterName = {
      "org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration",
      "org.springframework.boot.autoconfigure.jooq.JooqAutoConfiguration",
      "org.springframework.boot.autoconfigure.flyway.FlywayAutoConfiguration",
      "org.springframework.boot.autoconfigure.liquibase.LiquibaseAutoConfiguration",
      "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
      "org.springframework.boot.jooq.autoconfigure.JooqAutoConfiguration",
      "org.springframework.boot.flyway.autoconfigure.FlywayAutoConfiguration",
      "org.springframework.boot.liquibase.autoconfigure.LiquibaseAutoConfiguration"
    })
@ConditionalOnClass({DSLContext.class, TransactionAwareDataSourceProxy.class})
@ConditionalOnSingleCandidate(DataSource.class)
@ConditionalOnProperty(prefix = "redrive", name = "enabled", matchIfMissing = true)
@EnableConfigurationProperties(RedriveProperties.class)
@Import({
  DatabaseInitializationDependencyConfigurer.class,
  Boot3Health.class,
  Boot4Health.class,
  RedriveMeters.class
})
public class RedriveAutoConfiguration {

  /** Made by Spring. */
  public RedriveAutoConfiguration() {}

  @Bean
  static BeanPostProcessor redriveHearsOfTransactions() {
    return new BeanPostProcessor() {
      @Override
      public Object postProcessAfterInitialization(Object bean, String name) {
        if (bean instanceof ConfigurableTransactionManager manager) {
          manager.addListener(new SpringTransactions());
        }
        return bean;
      }
    };
  }

  @Bean
  @DependsOnDatabaseInitialization
  RedriveTables redriveTables(
      DataSource database, ObjectProvider<DSLContext> dsl, RedriveProperties properties) {
    return new RedriveTables(database, dsl.getIfUnique(), properties);
  }

  @Bean
  @Scope(ConfigurableBeanFactory.SCOPE_PROTOTYPE)
  JobQueue.Builder jobQueueBuilder(RedriveTables tables) {
    return tables.builder();
  }

  @Bean
  @ConditionalOnMissingBean
  JobQueue jobQueue(JobQueue.Builder builder) {
    return builder.build();
  }
}
