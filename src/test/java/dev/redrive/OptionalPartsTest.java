package dev.redrive;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A part that a host did not add is missed by the calls that need it, and by no others. */
class OptionalPartsTest {
  @TempDir Path folder;

  private static String tells(List<String> missing, String what, String where) throws IOException {
    try (ChildJvm host = ChildJvm.without(missing, OptionalPartsChild.class, what, where)) {
      return host.hear();
    }
  }

  @Test
  void aSqliteHostNeedsNothingForPostgresqlHttpOrMetrics() throws IOException {
    List<String> missing =
        List.of("postgresql", "flyway-database-postgresql", "jackson-databind", "micrometer-core");
    assertThat(tells(missing, "file", folder.resolve("jobs.db").toString()))
        .isEqualTo("CREATED true");
  }

  @Test
  void aPostgresqlHostNeedsNothingForSqliteHttpOrMetrics() throws IOException {
    List<String> missing = List.of("sqlite-jdbc", "jackson-databind", "micrometer-core");
    try (PostgresqlServer.Database database = PostgresqlServer.database("")) {
      assertThat(tells(missing, "pool", database.url())).isEqualTo("CREATED true");
    }
  }

  @Test
  void withoutItsDriverEngineSqliteSaysWhatToAdd() throws IOException {
    Path file = folder.resolve("jobs.db");
    assertThat(tells(List.of("sqlite-jdbc"), "file", file.toString()))
        .startsWith("IllegalStateException: Engine.sqlite needs ")
        .contains("org.xerial:sqlite-jdbc on the class path");
    assertThat(file).doesNotExist();
  }

  @Test
  void withoutItsDriverAPoolOfTheHostsSaysWhatToAdd() throws IOException {
    assertThat(tells(List.of("sqlite-jdbc"), "pool", "jdbc:sqlite:" + folder.resolve("jobs.db")))
        .startsWith("IllegalStateException: the JDBC driver is not on the class path; ")
        .contains("org.xerial:sqlite-jdbc");
  }

  @Test
  void withoutMicrometerQueueMetricsSayWhatToAdd() throws IOException {
    String file = folder.resolve("jobs.db").toString();
    assertThat(tells(List.of("micrometer-core"), "metrics", file))
        .startsWith("IllegalStateException: QueueMetrics needs io.micrometer:micrometer-core");
    assertThat(tells(List.of(), "metrics", file)).isEqualTo("QueueMetrics[default]");
  }
}
