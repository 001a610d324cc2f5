package dev.redrive.boot;

import dev.redrive.Arguments;
import dev.redrive.RetryPolicy;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The application's settings under {@code redrive}.
 *
 * @param enabled whether the application gets tables, queue, health and metrics by itself
 * @param name the queue's name, an identifier
 * @param schema the PostgreSQL schema of redrive's tables; the connection's current one if not set
 * @param migrate whether the tables are created and upgraded at start; if not, they are only looked
 *     at
 * @param retry how long failed jobs wait
 * @param maxPayloadBytes the largest payload that a submit takes, in UTF-8, 1 to 268,435,456
 */
@ConfigurationProperties("redrive")
public record RedriveProperties(
    @DefaultValue("true") boolean enabled,
    @DefaultValue("default") String name,
    @Nullable String schema,
    @DefaultValue("true") boolean migrate,
    @DefaultValue Retry retry,
    @DefaultValue("1048576") int maxPayloadBytes) {

  /** Refuses what no queue takes. */
  public RedriveProperties {
    Arguments.identifier(name, "name");
    Arguments.notNull(retry, "retry");
  }

  /**
   * How long a failed job waits before its next run, when the worker names no delay.
   *
   * @param base the delay after the first attempt, doubled with each further one; at least 1 ms
   * @param cap the longest delay, at least the base
   * @param jitter the share of a delay that is random, 0 to 1; it only shortens
   */
  public record Retry(
      @DefaultValue("1s") Duration base,
      @DefaultValue("5m") Duration cap,
      @DefaultValue("0.5") double jitter) {

    /** Refuses what is no policy. */
    public Retry {
      Arguments.notNull(policy(base, cap, jitter), "policy");
    }

    RetryPolicy policy() {
      return policy(base, cap, jitter);
    }

    private static RetryPolicy policy(Duration base, Duration cap, double jitter) {
      return RetryPolicy.exponential(base, cap).jitter(jitter);
    }
  }
}
