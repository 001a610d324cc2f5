package dev.redrive;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.jooq.impl.DSL.param;

import dev.redrive.quarantine.QuarantineSql;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jooq.Constants;
import org.jooq.DSLContext;
import org.jooq.Query;
import org.jooq.SQLDialect;
import org.jooq.impl.DSL;

/** The statements that production sends, and the reviewed text of each. */
final class ReviewedSql {
  private static final Path FOLDER = Path.of("db", "transitions");
  private static final boolean OUR_JOOQ = ourJooq();

  private ReviewedSql() {}

  /** A statement: where it leads from and to, and the query as the service builds it. */
  record Statement(SQLDialect dialect, String name, String fromTo, Query query) {
    String text() {
      String sql = dsl(dialect).renderNamedParams(query);
      return "-- " + fromTo + "\n" + sql.replaceAll(" +\n", "\n") + ";\n";
    }
  }

  static List<Statement> of(Engine engine) {
    SQLDialect dialect = engine.dialect();
    DSLContext dsl = dsl(dialect);
    Transitions transitions = new Transitions(dsl, engine, "default", 1L);
    NewJob job = NewJob.of("id", "payload").availableAt(Instant.EPOCH);
    Duration second = Duration.ofSeconds(1);
    Lease lease =
        new Lease("default", "id", "owner", 1, 1, 5, Instant.EPOCH, Instant.EPOCH, "payload");
    Redrive order = Redrive.note("note").approvedBy("kim").deadline(second);
    List<Statement> all = new ArrayList<>();
    QuarantineSql.of(scope(dsl, engine))
        .forEach(
            (name, reviewed) ->
                all.add(new Statement(dialect, name, reviewed.fromTo(), reviewed.query())));
    all.addAll(
        List.of(
            new Statement(dialect, "submit", "- -> pending", transitions.submit(job)),
            new Statement(dialect, "submitted", "any -> unchanged", transitions.submitted(job)),
            new Statement(
                dialect,
                "claim",
                "pending, leased -> leased",
                transitions.claim("owner", second, 1)),
            new Statement(dialect, "bury", "pending, leased -> dead", transitions.bury()),
            new Statement(dialect, "renew", "leased -> leased", transitions.renew(lease, second)),
            new Statement(dialect, "release", "leased -> pending", transitions.release(lease)),
            new Statement(dialect, "finish-ok", "leased -> done", transitions.finishOk(lease)),
            new Statement(
                dialect,
                "finish-retry",
                "leased -> pending, dead",
                transitions.finishRetry(lease, "fault", second)),
            new Statement(
                dialect,
                "finish-permanent",
                "leased -> dead",
                transitions.finishPermanent(lease, "fault")),
            new Statement(
                dialect,
                "investigate",
                "dead -> dead",
                transitions.investigate(dead(), "OPS-1", "kim")),
            new Statement(
                dialect,
                "redrive-audit",
                "dead -> unchanged",
                transitions.redriveAudit(dead(), order)),
            new Statement(dialect, "redrive", "dead -> pending", transitions.redrive(dead())),
            new Statement(dialect, "purge", "done -> gone", transitions.purge(second, 1)),
            new Statement(dialect, "find", "any -> unchanged", transitions.find("id"))));
    return all;
  }

  private static QueueReader.Scope scope(DSLContext dsl, Engine engine) {
    return new QueueReader.Scope(dsl, param("queue", "default"), engine.now(param("now", 1L)));
  }

  private static Death dead() {
    return new Death("default", "id", 1);
  }

  /** Letter by letter on the jOOQ of our build; newer ones break some lines elsewhere. */
  static String comparable(String sql) {
    return OUR_JOOQ ? sql : sql.replaceAll("\\s+", " ").replaceAll("(?<=\\() | (?=\\))", "");
  }

  /** Asked when the test runs: javac would write down the version that it compiled against. */
  private static boolean ourJooq() {
    try {
      return Constants.VERSION_3_19.equals(Constants.class.getField("MINOR_VERSION").get(null));
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  static DSLContext dsl(SQLDialect dialect) {
    return DSL.using(dialect, Transactions.settings(null));
  }

  static Path file(Engine engine, Statement statement) {
    return FOLDER.resolve(engine.folder()).resolve(statement.name() + ".sql");
  }

  /** The reviewed texts of an engine by statement name. */
  static Map<String, String> files(Engine engine) {
    Map<String, String> texts = new LinkedHashMap<>();
    try (Stream<Path> files = Files.list(FOLDER.resolve(engine.folder()))) {
      for (Path file : files.sorted().toList()) {
        String name = String.valueOf(file.getFileName()).replace(".sql", "");
        texts.put(name, Files.readString(file, UTF_8));
      }
      return texts;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
