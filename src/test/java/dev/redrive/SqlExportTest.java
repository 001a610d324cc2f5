package dev.redrive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.List;
import java.util.regex.Pattern;
import org.jooq.SQLDialect;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The scripts in the hands of a team that runs them by its own means. */
class SqlExportTest extends QueueTest {

  @BeforeEach
  void anEmptyDatabase() {
    for (String table : List.of("redrives", "jobs", "redrive_schema_history")) {
      plant("drop table if exists " + table);
    }
  }

  /** What every test leaves has to hold redrive's invariants. */
  @AfterEach
  void whole() {
    if (!isThere()) {
      scripts().forEach(script -> run(script.sql()));
    }
  }

  private boolean isThere() {
    try {
      Migrations.of(store.dataSource()).verify();
      return true;
    } catch (IllegalStateException e) {
      return false;
    }
  }

  private List<Migrations.Script> scripts() {
    return Migrations.sql(backend.engine().dialect());
  }

  /** As a person does: statement by statement, comments and all. */
  private void run(String sql) {
    Pattern.compile(";\\n").splitAsStream(sql).forEach(this::plant);
  }

  @Test
  void everyScriptIsThereInTheOrderToRun() {
    assertThat(scripts())
        .extracting(Migrations.Script::file)
        .containsExactly("V1__jobs.sql", "V2__redrives.sql");
    assertThat(scripts()).extracting(Migrations.Script::version).containsExactly("1", "2");
    assertThat(scripts()).allMatch(script -> script.sql().endsWith(";\n"));
  }

  @Test
  void whatWasRunByHandIsComplete() {
    scripts().forEach(script -> run(script.sql()));
    Migrations.of(store.dataSource()).verify();
    assertThat(Migrations.of(store.dataSource()).migrate()).isZero();
    JobQueue own = queue("default").verifyOnly().build();
    assertThat(own.submit(job("j1")).created()).isTrue();
  }

  @Test
  void aScriptThatWasForgottenIsNoticed() {
    run(scripts().get(0).sql());
    assertThatIllegalStateException()
        .isThrownBy(() -> Migrations.of(store.dataSource()).verify())
        .withMessageContaining("missing: table redrives");
    submit("j1");
    run(scripts().get(1).sql());
    Migrations.of(store.dataSource()).verify();
    assertThat(queue("default").verifyOnly().build().find("j1")).isPresent();
  }

  @Test
  void nothingAtAllIsMissing() {
    assertThatIllegalStateException()
        .isThrownBy(() -> Migrations.of(store.dataSource()).verify())
        .withMessageStartingWith("redrive's tables are missing; run ");
  }

  /** Each constraint in turn is left out of a script that somebody copied. */
  @Test
  void aConstraintThatWasLeftOutIsNamed() {
    List<String> constraints =
        Migrations.text(backend.engine(), "catalog.txt")
            .lines()
            .filter(part -> part.startsWith("constraint ") && !part.contains("_pk"))
            .map(part -> part.replaceAll("^constraint \\w+\\.(\\w+).*", "$1"))
            .toList();
    assertThat(constraints).hasSizeGreaterThan(25);
    for (String constraint : constraints) {
      scripts().forEach(script -> run(script.sql().replace("constraint " + constraint + " ", "")));
      assertThatIllegalStateException()
          .isThrownBy(() -> Migrations.of(store.dataSource()).verify())
          .withMessageContaining(constraint);
      anEmptyDatabase();
    }
  }

  @Test
  void aColumnThatIsOtherThanItShouldBeIsNamed() {
    String jobs = scripts().get(0).sql();
    for (String altered :
        List.of(
            jobs.replaceFirst("payload( +)text( +)not null", "payload$1text"),
            jobs.replaceFirst(
                "payload( +)text",
                backend.engine() instanceof SqliteEngine ? "payload$1blob" : "payload$1varchar"))) {
      assertThat(altered).isNotEqualTo(jobs);
      run(altered);
      run(scripts().get(1).sql());
      assertThatIllegalStateException()
          .isThrownBy(() -> Migrations.of(store.dataSource()).verify())
          .withMessageContaining("missing: column jobs.payload text");
      anEmptyDatabase();
    }
  }

  @Test
  void anotherDialectIsRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Migrations.sql(SQLDialect.MYSQL))
        .withMessageContaining("dialect must be of a dialect that redrive runs on");
  }
}
