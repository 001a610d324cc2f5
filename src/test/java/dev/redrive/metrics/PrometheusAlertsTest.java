package dev.redrive.metrics;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.redrive.Job;
import dev.redrive.JobQueue;
import dev.redrive.Lease;
import dev.redrive.Outcome;
import dev.redrive.QueueTest;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Every alert of the Prometheus file, on what a scrape really answers. The expressions are all of
 * one form, an aggregate of a metric or of its increase above a number, which is computed here:
 * {@code increase} as the difference of two scrapes.
 */
class PrometheusAlertsTest extends QueueTest {
  private static final Pattern RULE =
      Pattern.compile("- alert: (\\w+)\n +expr: (sum|max) by \\(queue\\) \\((.*)\\) > ([0-9.]+)\n");
  private static final Pattern SELECTOR =
      Pattern.compile("(increase\\()?([a-z_]+)(?:\\{(\\w+=\"\\w+\")})?(?:\\[\\d+[mh]]\\))?");

  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private long nanos;
  private JobQueue counted;
  private Map<String, MatchResult> rules;
  private String before;

  @BeforeEach
  void bind() throws IOException {
    QueueMetrics metrics = new MicrometerMetrics(queue, Duration.ofSeconds(15), () -> nanos);
    metrics.bindTo(registry);
    counted = queue.listening(metrics);
    before = registry.scrape();
    rules = new LinkedHashMap<>();
    try (InputStream text = QueueMetrics.class.getResourceAsStream("alerts.yaml")) {
      String yaml = new String(text.readAllBytes(), UTF_8);
      RULE.matcher(yaml).results().forEach(rule -> rules.put(rule.group(1), rule));
      assertThat(rules)
          .as("every rule has the form that this test computes")
          .hasSize(yaml.split("- alert:", -1).length - 1);
    }
  }

  private List<String> firing() {
    nanos += Duration.ofSeconds(15).toNanos();
    assertThat(registry.scrape()).as("a scrape that reads a new report").isNotEmpty();
    String after = registry.scrape();
    return rules.entrySet().stream()
        .filter(
            rule -> value(rule.getValue(), after) > Double.parseDouble(rule.getValue().group(4)))
        .map(Map.Entry::getKey)
        .toList();
  }

  private double value(MatchResult rule, String after) {
    MatchResult selector = SELECTOR.matcher(rule.group(3)).results().findFirst().orElseThrow();
    assertThat(selector.group()).isEqualTo(rule.group(3));
    List<Double> now = samples(after, selector.group(2), selector.group(3));
    assertThat(now).as("samples of %s", rule.group(3)).isNotEmpty();
    double value = aggregate(rule.group(2), now);
    return selector.group(1) == null
        ? value
        : value - aggregate(rule.group(2), samples(before, selector.group(2), selector.group(3)));
  }

  private static List<Double> samples(String scrape, String metric, String label) {
    List<Double> values = new ArrayList<>();
    for (String line : scrape.lines().toList()) {
      if (line.startsWith(metric + "{")
          && line.contains("queue=\"default\"")
          && (label == null || line.contains(label))) {
        values.add(Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)));
      }
    }
    return values;
  }

  private static double aggregate(String how, List<Double> values) {
    return how.equals("sum")
        ? values.stream().mapToDouble(value -> value).sum()
        : values.stream().mapToDouble(value -> value).max().orElseThrow();
  }

  @Test
  void aQuietQueueFiresNothing() {
    assertThat(rules).hasSize(7);
    submit("j1");
    assertThat(firing()).isEmpty();
  }

  @Test
  void aDeathWithoutALookFiresAfterADay() {
    assertThat(dead("j1").id()).isEqualTo("j1");
    clock.at(T0 + 86_400_000);
    assertThat(firing()).isEmpty();
    clock.at(T0 + 86_400_001);
    assertThat(firing()).containsExactly("RedriveQuarantineUnseen");
    assertThat(queue.investigate(find("j1"), "OPS-1", "lee")).isTrue();
    assertThat(firing()).isEmpty();
  }

  @Test
  void manyDeathsFire() {
    for (int i = 0; i < 101; i++) {
      assertThat(firing()).isEmpty();
      assertThat(counted.finish(leased("j" + i), Outcome.permanent("x"))).isTrue();
    }
    assertThat(firing()).containsExactly("RedriveQuarantineGrowing");
  }

  @Test
  void readyWorkThatNobodyClaimsFires() {
    submit("j1");
    clock.at(T0 + 300_000);
    assertThat(firing()).isEmpty();
    clock.at(T0 + 300_001);
    assertThat(firing()).containsExactly("RedriveReadyWaiting");
  }

  @Test
  void aLeaseThatIsOverFires() {
    assertThat(leased("j1").token()).isEqualTo(1);
    assertThat(firing()).isEmpty();
    clock.at(T0 + 30_000);
    assertThat(firing()).containsExactly("RedriveLeasesExpired");
  }

  @Test
  void redrivesThatDieAgainFire() {
    Job dead = dead("j1");
    assertThat(queue.redrive(dead, ORDER)).isTrue();
    assertThat(firing()).isEmpty();
    assertThat(queue.finish(claim("A").orElseThrow(), Outcome.permanent("x"))).isTrue();
    assertThat(firing()).containsExactly("RedriveRedrivesDieAgain");
  }

  @Test
  void manyStaleFinishesFire() {
    Lease lease = leased("j1");
    assertThat(queue.finish(lease, Outcome.ok())).isTrue();
    for (int i = 0; i < 11; i++) {
      assertThat(firing()).isEmpty();
      assertThat(counted.finish(lease, Outcome.ok())).isFalse();
    }
    assertThat(firing()).containsExactly("RedriveStale");
  }

  @Test
  void aReportThatFailsFires() {
    plant("alter table redrives rename to hidden");
    assertThat(firing()).containsExactly("RedriveReportFails");
    plant("alter table hidden rename to redrives");
  }
}
