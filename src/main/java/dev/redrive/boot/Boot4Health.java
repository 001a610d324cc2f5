package dev.redrive.boot;

import dev.redrive.JobQueue;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** {@link QueueHealth} in the words of Spring Boot 4. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(HealthIndicator.class)
@ConditionalOnProperty(
    prefix = "management.health.redrive",
    name = "enabled",
    matchIfMissing = true)
class Boot4Health {

  @Bean
  @ConditionalOnMissingBean(name = "redriveHealthIndicator")
  HealthIndicator redriveHealthIndicator(ObjectProvider<JobQueue> queues) {
    QueueHealth health = new QueueHealth(queues.orderedStream());
    return () -> {
      try {
        return Health.up().withDetails(health.look()).build();
      } catch (RuntimeException e) {
        return Health.down(e).build();
      }
    };
  }
}
