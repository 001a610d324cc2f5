package dev.redrive.boot;

import dev.redrive.JobQueue;
import dev.redrive.metrics.QueueMetrics;
import io.micrometer.core.instrument.MeterRegistry;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Counts what every queue of the application does, where it has a registry for that. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(MeterRegistry.class)
class RedriveMeters {

  @Bean
  static BeanPostProcessor redriveQueuesAreCounted(ObjectProvider<MeterRegistry> registries) {
    return new BeanPostProcessor() {
      @Override
      public Object postProcessAfterInitialization(Object bean, String name) {
        @Nullable MeterRegistry registry =
            bean instanceof JobQueue ? registries.getIfUnique() : null;
        return registry == null ? bean : counted((JobQueue) bean, registry);
      }
    };
  }

  private static JobQueue counted(JobQueue queue, MeterRegistry registry) {
    QueueMetrics metrics = QueueMetrics.of(queue);
    metrics.bindTo(registry);
    return queue.listening(metrics);
  }
}
