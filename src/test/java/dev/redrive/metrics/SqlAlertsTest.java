package dev.redrive.metrics;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.redrive.QueueTest;
import java.io.IOException;
import java.io.InputStream;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Every alert of the SQL files, just short of firing and firing. */
class SqlAlertsTest extends QueueTest {
  private static final long SLACK = 60_000;
  private final long now = System.currentTimeMillis();
  private Map<String, String> alerts;

  @BeforeEach
  void readAlerts() throws IOException {
    String file =
        "alerts-" + store.dsl().dialect().family().name().replace("POSTGRES", "postgresql");
    try (InputStream text =
        QueueMetrics.class.getResourceAsStream(file.replace("SQLITE", "sqlite") + ".sql")) {
      alerts = new LinkedHashMap<>();
      Pattern.compile("-- (\\w+): [^\n]+\n(.*?);\n", Pattern.DOTALL)
          .matcher(new String(text.readAllBytes(), UTF_8))
          .results()
          .forEach(alert -> alerts.put(alert.group(1), alert.group(2)));
    }
  }

  private List<Map<String, @Nullable Object>> fire(String alert) {
    return rows(alerts.get(alert));
  }

  private void fires(String alert, long jobs) {
    assertThat(fire(alert)).hasSize(1);
    assertThat(fire(alert).get(0)).containsEntry("queue", "default");
    assertThat(Long.parseLong(String.valueOf(fire(alert).get(0).get("jobs")))).isEqualTo(jobs);
    assertThat(alerts.keySet().stream().filter(other -> !fire(other).isEmpty()))
        .as("nothing else fires")
        .containsExactly(alert);
  }

  private void nothingFires() {
    for (String alert : alerts.keySet()) {
      assertThat(fire(alert)).as(alert).isEmpty();
    }
  }

  @Test
  void anEmptyDatabaseFiresNothing() {
    assertThat(alerts)
        .containsOnlyKeys(
            "QuarantineUnseen",
            "QuarantineGrowing",
            "ReadyWaiting",
            "LeasesExpired",
            "RedrivesDieAgain");
    nothingFires();
  }

  @Test
  void aDeathWithoutALookFiresAfterADay() {
    clock.at(now - 86_400_000 + SLACK);
    assertThat(dead("j1").id()).isEqualTo("j1");
    nothingFires();
    plant("update jobs set finished_at = finished_at - " + 2 * SLACK);
    fires("QuarantineUnseen", 1);
    clock.at(now);
    assertThat(queue.investigate(find("j1"), "OPS-1", "lee")).isTrue();
    nothingFires();
  }

  @Test
  void manyDeathsInAnHourFire() {
    clock.at(now - SLACK);
    for (int i = 0; i < 100; i++) {
      assertThat(dead("j" + i).token()).isEqualTo(1);
    }
    nothingFires();
    assertThat(dead("one more").token()).isEqualTo(1);
    fires("QuarantineGrowing", 101);
    plant("update jobs set finished_at = finished_at - 3600000");
    nothingFires();
  }

  @Test
  void readyWorkThatNobodyClaimsFiresAfterFiveMinutes() {
    clock.at(now - 300_000 + SLACK);
    submit("j1");
    nothingFires();
    plant("update jobs set available_at = available_at - " + 2 * SLACK);
    fires("ReadyWaiting", 1);
  }

  @Test
  void aLeaseThatIsOverFiresAfterFiveMinutes() {
    clock.at(now - 330_000 + SLACK);
    assertThat(leased("j1").token()).isEqualTo(1);
    nothingFires();
    plant("update jobs set lease_until = lease_until - " + 2 * SLACK);
    fires("LeasesExpired", 1);
  }

  @Test
  void redrivesThatDieAgainFire() {
    clock.at(now - SLACK);
    for (int i = 0; i < 20; i++) {
      assertThat(queue.redrive(dead("j" + i), ORDER)).isTrue();
      plant("update jobs set available_at = available_at + 600000 where state = 'pending'");
    }
    nothingFires();
    plant("update jobs set state = 'done', finished_at = 1");
    plant(
        "update jobs set state = 'dead', reason = 'permanent', finished_at = "
            + now
            + " where id in ('j0','j1','j2','j3','j4','j5','j6','j7','j8','j9')");
    nothingFires();
    plant(
        "update jobs set state = 'dead', reason = 'permanent', finished_at = "
            + now
            + " where id = 'j10'");
    fires("RedrivesDieAgain", 11);
  }
}
