package dev.redrive.quarantine;

import static dev.redrive.Exists.exists;
import static dev.redrive.schema.Tables.JOBS;
import static dev.redrive.schema.Tables.REDRIVES;
import static org.jooq.impl.DSL.coalesce;
import static org.jooq.impl.DSL.count;
import static org.jooq.impl.DSL.inline;
import static org.jooq.impl.DSL.max;
import static org.jooq.impl.DSL.min;
import static org.jooq.impl.DSL.select;
import static org.jooq.impl.DSL.selectOne;
import static org.jooq.impl.DSL.when;
import static org.jooq.impl.SQLDataType.BIGINT;
import static org.jooq.impl.SQLDataType.VARCHAR;

import dev.redrive.JobState;
import dev.redrive.QueueReader;
import dev.redrive.schema.tables.Redrives;
import java.util.List;
import org.jooq.Field;
import org.jooq.Record;
import org.jooq.Select;
import org.jooq.SelectField;
import org.jooq.Table;

/**
 * The report in one statement, so that all its figures are of one moment on every engine and in
 * whatever transaction. It is four selects, each of which reads entries of one partial index: the
 * dead by reason and fault, what is due or will be, what became of redrives, and done up to a
 * bound.
 */
final class ReportQuery {
  /** Done work is counted up to here, because there is no end to history. */
  static final int DONE_BOUND = 10_000;

  static final String DEAD_FIGURE = "dead";
  static final String LIVE_FIGURE = "live";
  static final String REDRIVEN_FIGURE = "redriven";
  static final String DONE_FIGURE = "done";

  static final Field<String> FIGURE = inline(DEAD_FIGURE).as("figure");
  static final Field<String> WORD = JOBS.REASON.as("word");
  static final Field<String> DETAIL = JOBS.FAULT.as("detail");
  static final Field<Long> COUNTED = count().coerce(BIGINT).as("counted");
  static final Field<Long> PART =
      count(when(JOBS.INVESTIGATED_AT.isNull(), inline(1))).coerce(BIGINT).as("part");
  static final Field<Long> FIRST_AT = min(JOBS.FINISHED_AT).as("first_at");
  static final Field<Long> LAST_AT = max(JOBS.FINISHED_AT).as("last_at");
  static final Field<Long> SUBMITTED_AT = min(JOBS.SUBMITTED_AT).as("submitted_at");
  static final Field<Long> UNSEEN_SINCE =
      min(coalesce(JOBS.INVESTIGATED_AT, JOBS.FINISHED_AT)).as("unseen_since");
  static final Field<Long> SEEN_AT = max(JOBS.INVESTIGATED_AT).as("seen_at");

  private static final Field<String> DEAD = inline(JobState.DEAD.toString());
  private static final Field<String> DONE = inline(JobState.DONE.toString());
  private static final Field<String> NO_WORD = inline(null, VARCHAR);
  private static final Field<Long> NO_NUMBER = inline(null, BIGINT);

  private final QueueReader.Scope scope;
  private final Field<Long> now;

  ReportQuery(QueueReader.Scope scope) {
    this.scope = scope;
    this.now = scope.now().as("now");
  }

  /** The time of the report, the same in every row. */
  Field<Long> now() {
    return now;
  }

  Select<? extends Record> report() {
    return dead().unionAll(live()).unionAll(redriven()).unionAll(done());
  }

  private Select<Record> dead() {
    return scope
        .dsl()
        .select(
            List.of(
                FIGURE,
                WORD,
                DETAIL,
                COUNTED,
                PART,
                FIRST_AT,
                LAST_AT,
                SUBMITTED_AT,
                UNSEEN_SINCE,
                SEEN_AT,
                now))
        .from(JOBS)
        .where(JOBS.QUEUE.eq(scope.queue()))
        .and(JOBS.STATE.eq(DEAD))
        .groupBy(JOBS.REASON, JOBS.FAULT);
  }

  private Select<Record> live() {
    Field<Integer> due = count(when(JOBS.DUE_AT.le(scope.now()), inline(1)));
    return select(
            List.<SelectField<?>>of(
                inline(LIVE_FIGURE),
                JOBS.STATE,
                NO_WORD,
                count(),
                due,
                min(JOBS.DUE_AT),
                NO_NUMBER,
                NO_NUMBER,
                NO_NUMBER,
                NO_NUMBER,
                scope.now()))
        .from(JOBS)
        .where(JOBS.QUEUE.eq(scope.queue()))
        .and(JOBS.DUE_AT.isNotNull())
        .groupBy(JOBS.STATE);
  }

  private Select<Record> redriven() {
    Field<String> fate = fate().as("fate");
    Table<?> lives =
        select(REDRIVES.PREVIOUS_REASON, fate, REDRIVES.AT_MS, REDRIVES.PREVIOUS_INVESTIGATED_AT)
            .from(REDRIVES)
            .where(REDRIVES.QUEUE.eq(scope.queue()))
            .asTable("lives");
    return select(
            List.<SelectField<?>>of(
                inline(REDRIVEN_FIGURE),
                lives.field(REDRIVES.PREVIOUS_REASON),
                lives.field(fate),
                count(),
                NO_NUMBER,
                min(lives.field(REDRIVES.AT_MS)),
                max(lives.field(REDRIVES.AT_MS)),
                NO_NUMBER,
                NO_NUMBER,
                max(lives.field(REDRIVES.PREVIOUS_INVESTIGATED_AT)),
                scope.now()))
        .from(lives)
        .groupBy(lives.field(REDRIVES.PREVIOUS_REASON), lives.field(fate));
  }

  /** Dead again if another death of the job was redriven since, else where the job stands. */
  private static Field<String> fate() {
    Redrives later = REDRIVES.as("later");
    return when(
            exists(
                selectOne()
                    .from(later)
                    .where(later.QUEUE.eq(REDRIVES.QUEUE))
                    .and(later.JOB_ID.eq(REDRIVES.JOB_ID))
                    .and(later.PREVIOUS_TOKEN.gt(REDRIVES.PREVIOUS_TOKEN))),
            DEAD)
        .else_(
            select(JOBS.STATE)
                .from(JOBS)
                .where(JOBS.QUEUE.eq(REDRIVES.QUEUE))
                .and(JOBS.ID.eq(REDRIVES.JOB_ID)));
  }

  private Select<Record> done() {
    Table<?> done =
        selectOne()
            .from(JOBS)
            .where(JOBS.QUEUE.eq(scope.queue()))
            .and(JOBS.STATE.eq(DONE))
            .orderBy(JOBS.FINISHED_AT)
            .limit(inline(DONE_BOUND + 1))
            .asTable("done");
    return select(
            List.<SelectField<?>>of(
                inline(DONE_FIGURE),
                NO_WORD,
                NO_WORD,
                count(),
                NO_NUMBER,
                NO_NUMBER,
                NO_NUMBER,
                NO_NUMBER,
                NO_NUMBER,
                NO_NUMBER,
                scope.now()))
        .from(done);
  }
}
