package dev.redrive;

import static dev.redrive.schema.Tables.JOBS;
import static dev.redrive.schema.Tables.REDRIVES;

import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jooq.DSLContext;
import org.jooq.Record;
import org.jspecify.annotations.Nullable;

/** Every column of one queue's jobs, by id, and of its audit, by id and token. */
record Snapshot(
    Map<String, Map<String, @Nullable Object>> jobs,
    Map<String, Map<String, @Nullable Object>> audit) {

  static Snapshot of(DSLContext dsl, String queue) {
    return new Snapshot(
        dsl.selectFrom(JOBS)
            .where(JOBS.QUEUE.eq(queue))
            .fetchMap(job -> job.get(JOBS.ID), Record::intoMap),
        dsl.selectFrom(REDRIVES)
            .where(REDRIVES.QUEUE.eq(queue))
            .fetchMap(
                row -> death(row.get(REDRIVES.JOB_ID), row.get(REDRIVES.PREVIOUS_TOKEN)),
                Record::intoMap));
  }

  private static String death(Object id, @Nullable Object token) {
    return id + "#" + token;
  }

  private @Nullable Object of(String id, String column) {
    Map<String, @Nullable Object> job = jobs.get(id);
    return job == null ? null : job.get(column);
  }

  /** The ids of jobs that are not here as they are there. */
  private Set<String> changedIn(Snapshot later) {
    return Stream.of(this, later)
        .flatMap(snapshot -> snapshot.jobs.keySet().stream())
        .filter(id -> !Objects.equals(jobs.get(id), later.jobs.get(id)))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private boolean all(Set<String> ids, String state) {
    return ids.stream().allMatch(id -> state.equals(of(id, "state")));
  }

  /**
   * Whether a call that is more than one transaction may have come so far and no further: a claim
   * that has only buried, a bulk redrive with an audit row for each job it has redriven, a purge
   * with some of its batches. All other calls are stored whole or not at all.
   */
  boolean mayStopAt(Load.Verb verb, Snapshot later) {
    Set<String> changed = changedIn(later);
    return switch (verb) {
      case CLAIM, CLAIM_MANY -> later.all(changed, "dead") && audit.equals(later.audit);
      case REDRIVE_BULK -> all(changed, "dead") && later.isRedriven(changed, this);
      case PURGE_BULK ->
          all(changed, "done")
              && changed.stream().noneMatch(later.jobs::containsKey)
              && audit.equals(later.audit);
      default -> false;
    };
  }

  private boolean isRedriven(Set<String> ids, Snapshot dead) {
    Map<String, Map<String, @Nullable Object>> expected = new TreeMap<>(dead.audit);
    for (String id : ids) {
      String death = death(id, dead.of(id, "token"));
      expected.put(death, audit.get(death));
    }
    return all(ids, "pending") && !expected.containsValue(null) && expected.equals(audit);
  }

  /** Jobs whose token went down, or whose payload changed, without their having been purged. */
  Set<String> wornBy(Snapshot later) {
    return jobs.keySet().stream()
        .filter(id -> Objects.equals(of(id, "submitted_at"), later.of(id, "submitted_at")))
        .filter(
            id ->
                (Long) later.of(id, "token") < (Long) of(id, "token")
                    || !Objects.equals(later.of(id, "payload"), of(id, "payload")))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** Where two databases differ, for a failure's text. */
  String differenceTo(Snapshot other) {
    return changedIn(other).stream()
            .map(id -> "\n" + jobs.get(id) + "\n against " + other.jobs.get(id))
            .collect(Collectors.joining())
        + "\naudit of "
        + audit.keySet()
        + "\n against "
        + other.audit.keySet();
  }
}
