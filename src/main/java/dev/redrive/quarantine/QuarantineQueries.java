package dev.redrive.quarantine;

import static dev.redrive.Exists.exists;
import static dev.redrive.schema.Tables.JOBS;
import static dev.redrive.schema.Tables.REDRIVES;
import static org.jooq.impl.DSL.coalesce;
import static org.jooq.impl.DSL.count;
import static org.jooq.impl.DSL.field;
import static org.jooq.impl.DSL.inline;
import static org.jooq.impl.DSL.param;
import static org.jooq.impl.DSL.row;
import static org.jooq.impl.DSL.select;
import static org.jooq.impl.DSL.selectOne;
import static org.jooq.impl.DSL.when;
import static org.jooq.impl.SQLDataType.BIGINT;
import static org.jooq.impl.SQLDataType.INTEGER;
import static org.jooq.impl.SQLDataType.VARCHAR;

import dev.redrive.Death;
import dev.redrive.JobState;
import dev.redrive.QueueReader;
import java.util.List;
import org.jooq.Condition;
import org.jooq.Field;
import org.jooq.Param;
import org.jooq.Record;
import org.jooq.Record1;
import org.jooq.Select;
import org.jspecify.annotations.Nullable;

/**
 * The statements on single dead jobs, built here and executed elsewhere. A filter is one condition
 * for all of them, whatever it asks for: a part that asks for nothing is a null parameter. All walk
 * {@code jobs_died}, oldest death first, and judge by its columns, unless PostgreSQL finds the few
 * that are asked for sooner in {@code jobs_dead}.
 */
final class QuarantineQueries {
  static final Field<Long> MATCHED = count().coerce(BIGINT).as("matched");

  private static final Field<String> DEAD = inline(JobState.DEAD.toString());
  private static final Field<String> NO_FAULT = inline("");
  private static final Field<Long> BEGINNING = inline(0L);
  private static final Field<Long> END = inline(Long.MAX_VALUE);
  private static final long BEFORE_ALL = -1;

  static final List<Field<?>> DEAD_JOB =
      List.of(
          JOBS.QUEUE,
          JOBS.ID,
          JOBS.TOKEN,
          JOBS.REASON,
          JOBS.FAULT,
          JOBS.ATTEMPTS,
          JOBS.MAX_ATTEMPTS,
          JOBS.SUBMITTED_AT,
          JOBS.FINISHED_AT,
          JOBS.INVESTIGATED_AT,
          JOBS.INVESTIGATED_BY,
          JOBS.INVESTIGATION);

  private final QueueReader.Scope scope;

  QuarantineQueries(QueueReader.Scope scope) {
    this.scope = scope;
  }

  /** A page of dead jobs, with their payloads where asked for. */
  Select<? extends Record> list(Filter filter, Page page) {
    Param<Long> afterTime =
        param("after_time", page.after().map(p -> p.diedAt().toEpochMilli()).orElse(BEFORE_ALL));
    Param<String> afterId = param("after_id", page.after().map(Page.Position::id).orElse(""));
    return scope
        .dsl()
        .select(DEAD_JOB)
        .select(payload(page))
        .from(JOBS)
        .where(matches(filter))
        .and(row(JOBS.FINISHED_AT, JOBS.ID).gt(afterTime, afterId))
        .orderBy(JOBS.FINISHED_AT, JOBS.ID)
        .limit(param("limit", (long) page.limit()));
  }

  private static Field<String> payload(Page page) {
    return when(param("payloads", page.payloads() ? 1 : 0).eq(inline(1)), JOBS.PAYLOAD)
        .as(JOBS.PAYLOAD);
  }

  /** The first dead jobs, each with the number of all. */
  Select<? extends Record> preview(Filter filter, int sample) {
    return scope
        .dsl()
        .select(DEAD_JOB)
        .select(matched(filter))
        .from(JOBS)
        .where(matches(filter))
        .orderBy(JOBS.FINISHED_AT, JOBS.ID)
        .limit(param("limit", (long) sample));
  }

  /** The names of the first deaths, each with the number of all. */
  Select<? extends Record> members(Filter filter, int limit) {
    return scope
        .dsl()
        .select(JOBS.QUEUE, JOBS.ID, JOBS.TOKEN, matched(filter))
        .from(JOBS)
        .where(matches(filter))
        .orderBy(JOBS.FINISHED_AT, JOBS.ID)
        .limit(param("limit", (long) limit));
  }

  /** Apart, because a window over the rows would have to sort them before it gives the first. */
  private Field<Long> matched(Filter filter) {
    return field(select(count().coerce(BIGINT)).from(JOBS).where(matches(filter))).as(MATCHED);
  }

  /** What became of a job since this death was redriven: dead also if it was redriven again. */
  Select<Record1<String>> fate(Death redriven) {
    Param<Long> token = param("token", redriven.token());
    return scope
        .dsl()
        .select(
            when(
                    exists(
                        selectOne()
                            .from(REDRIVES)
                            .where(REDRIVES.QUEUE.eq(JOBS.QUEUE))
                            .and(REDRIVES.JOB_ID.eq(JOBS.ID))
                            .and(REDRIVES.PREVIOUS_TOKEN.gt(token))),
                    DEAD)
                .else_(JOBS.STATE))
        .from(JOBS)
        .where(JOBS.QUEUE.eq(scope.queue()))
        .and(JOBS.ID.eq(param("id", redriven.id())));
  }

  private Condition matches(Filter filter) {
    IdRange ids = filter.ids();
    Param<String> reason = text("reason", filter.reasonWord());
    Param<String> fault = text("fault", filter.faultWord());
    Param<Integer> investigated = flag("investigated", filter.investigatedFlag());
    Field<Integer> looked = when(JOBS.INVESTIGATED_AT.isNull(), inline(0)).else_(inline(1));
    return JOBS.QUEUE
        .eq(scope.queue())
        .and(JOBS.STATE.eq(DEAD))
        .and(JOBS.FINISHED_AT.ge(coalesce(ago("at_most", filter.atMostMillis()), BEGINNING)))
        .and(JOBS.FINISHED_AT.le(coalesce(ago("at_least", filter.atLeastMillis()), END)))
        .and(JOBS.ID.ge(param("id_from", ids.from())))
        .and(JOBS.ID.lt(param("id_until", ids.until())))
        .and(notAsked(reason).or(JOBS.REASON.eq(reason)))
        .and(notAsked(fault).or(coalesce(JOBS.FAULT, NO_FAULT).eq(fault)))
        .and(notAsked(investigated).or(looked.eq(investigated)));
  }

  /** The cast is for PostgreSQL, where a host may have its driver send values without a type. */
  private static Condition notAsked(Param<?> parameter) {
    return parameter.cast(parameter.getDataType()).isNull();
  }

  private Field<Long> ago(String name, @Nullable Long millis) {
    return scope.now().minus(millis == null ? param(name, BIGINT) : param(name, millis));
  }

  private static Param<String> text(String name, @Nullable String value) {
    return value == null ? param(name, VARCHAR) : param(name, value);
  }

  private static Param<Integer> flag(String name, @Nullable Integer value) {
    return value == null ? param(name, INTEGER) : param(name, value);
  }
}
