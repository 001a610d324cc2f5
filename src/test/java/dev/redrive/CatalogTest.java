package dev.redrive;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * What makes the tables complete. After a wanted change of a script, write the lists anew with
 * {@code mvn test -Dtest=CatalogTest -Dredrive.regenerate=true} and review the difference.
 */
class CatalogTest extends QueueTest {

  private Set<String> parts() throws SQLException {
    try (Connection connection = store.dataSource().getConnection()) {
      return backend.engine().parts(connection, null);
    }
  }

  private List<String> catalog() {
    return Migrations.text(backend.engine(), "catalog.txt").lines().toList();
  }

  @Test
  void theListIsWhatTheScriptsCreate() throws IOException, SQLException {
    List<String> created =
        parts().stream().filter(part -> !part.contains(Installation.HISTORY)).sorted().toList();
    if (Boolean.getBoolean("redrive.regenerate")) {
      Path file = Path.of("db", "migration", backend.engine().folder(), "catalog.txt");
      Files.writeString(file, String.join("\n", created) + "\n", UTF_8);
    }
    assertThat(created).isEqualTo(catalog());
  }

  @Test
  void everyConstraintAndIndexOfTheScriptsIsInTheList() {
    String scripts =
        Migrations.sql(backend.engine().dialect()).stream()
            .map(Migrations.Script::sql)
            .reduce("", String::concat);
    List<String> named =
        Pattern.compile("(?m)^ *(?:constraint|create index|create table) (\\w+)")
            .matcher(scripts)
            .results()
            .map(found -> found.group(1))
            .toList();
    assertThat(named).hasSizeGreaterThan(30).contains("jobs_due", "redrives_job", "jobs_pk");
    assertThat(named)
        .allSatisfy(
            name -> assertThat(catalog()).anyMatch(part -> part.matches(".*\\b" + name + "\\b.*")));
  }

  /** Audit rows that vanish with their job would be an erased failure. */
  @Test
  void aKeyThatLetsAnAuditVanishIsNamed() {
    plant("drop table redrives");
    String redrives = Migrations.sql(backend.engine().dialect()).get(1).sql();
    plant(
        redrives.replace(
            "references jobs (queue, id)", "references jobs (queue, id) on delete cascade"));
    refusedNaming("foreign key");
  }

  /** What a host added is its own affair. */
  @Test
  void moreThanWhatIsNeededIsFine() {
    plant("alter table jobs add column tenant text");
    plant("create index jobs_of_host on jobs (queue, submitted_at)");
    Migrations.of(store.dataSource()).verify();
    assertThat(queue("default").verifyOnly().build().submit(job("j1")).created()).isTrue();
  }

  @Test
  void anIndexThatWasDroppedIsNamed() {
    for (String index : List.of("jobs_due", "jobs_dead", "jobs_died", "jobs_done")) {
      String again = createdBy(index);
      plant("drop index " + index);
      refusedNaming("index jobs." + index + " (queue, ");
      plant("create index " + index + " on jobs (queue)");
      refusedNaming("index jobs." + index + " (queue, ");
      plant("drop index " + index);
      plant(again);
    }
    Migrations.of(store.dataSource()).verify();
  }

  private String createdBy(String index) {
    return Migrations.sql(backend.engine().dialect()).stream()
        .flatMap(script -> Pattern.compile(";\\n").splitAsStream(script.sql()))
        .map(statement -> statement.replaceAll("(?m)^--.*$", "").trim())
        .filter(statement -> statement.startsWith("create index " + index + " "))
        .findFirst()
        .orElseThrow();
  }

  /** A host's service stops at its start, and not when a claim has read the whole history. */
  private void refusedNaming(String part) {
    assertThatIllegalStateException()
        .isThrownBy(() -> Migrations.of(store.dataSource()).verify())
        .withMessageContaining("missing: ")
        .withMessageContaining(part);
    assertThatIllegalStateException()
        .isThrownBy(() -> queue("default").verifyOnly().build())
        .withMessageContaining(part);
  }
}
