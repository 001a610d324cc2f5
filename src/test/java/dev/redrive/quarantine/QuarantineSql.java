package dev.redrive.quarantine;

import dev.redrive.Death;
import dev.redrive.QueueReader;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jooq.Query;

/** The statements that the quarantine sends, as it builds them, by the names of their files. */
public final class QuarantineSql {
  private QuarantineSql() {}

  /** A statement, and where it leads from and to. */
  public record Reviewed(String fromTo, Query query) {}

  public static Map<String, Reviewed> of(QueueReader.Scope scope) {
    QuarantineQueries queries = new QuarantineQueries(scope);
    Death death = new Death("default", "id", 1);
    Map<String, Reviewed> all = new LinkedHashMap<>();
    all.put("quarantine-report", any(new ReportQuery(scope).report()));
    all.put("quarantine-list", dead(queries.list(Filter.all(), Page.of(1))));
    all.put("quarantine-preview", dead(queries.preview(Filter.all(), 1)));
    all.put("quarantine-members", dead(queries.members(Filter.all(), 1)));
    all.put("quarantine-fate", any(queries.fate(death)));
    return all;
  }

  private static Reviewed any(Query query) {
    return new Reviewed("any -> unchanged", query);
  }

  private static Reviewed dead(Query query) {
    return new Reviewed("dead -> unchanged", query);
  }
}
