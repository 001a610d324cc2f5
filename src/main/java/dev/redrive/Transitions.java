package dev.redrive;

import static dev.redrive.Exists.notExists;
import static dev.redrive.schema.Tables.JOBS;
import static dev.redrive.schema.Tables.REDRIVES;
import static org.jooq.impl.DSL.coalesce;
import static org.jooq.impl.DSL.field;
import static org.jooq.impl.DSL.greatest;
import static org.jooq.impl.DSL.inline;
import static org.jooq.impl.DSL.param;
import static org.jooq.impl.DSL.select;
import static org.jooq.impl.DSL.selectOne;
import static org.jooq.impl.DSL.when;
import static org.jooq.impl.SQLDataType.BIGINT;
import static org.jooq.impl.SQLDataType.VARCHAR;

import dev.redrive.schema.tables.records.JobsRecord;
import dev.redrive.schema.tables.records.RedrivesRecord;
import java.time.Duration;
import java.time.Instant;
import org.jooq.Condition;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Insert;
import org.jooq.Param;
import org.jooq.Record;
import org.jooq.Record1;
import org.jooq.Record2;
import org.jooq.Record3;
import org.jooq.ResultQuery;
import org.jooq.Select;
import org.jooq.Update;
import org.jspecify.annotations.Nullable;

/**
 * One query per transition, built here and executed elsewhere.
 *
 * <pre>
 *             claim                finish ok
 *   pending ---------> leased --------------------> done ---> (purge)
 *      ^  ^--------------|
 *      |  release, retry |  finish retry (budget spent), finish permanent
 *      |                 v
 *      +-------------- dead <---- bury (pending or leased, due, budget spent)
 *          redrive
 * </pre>
 *
 * <p>What holds throughout: the token of a row grows by one in claim and in bury, nothing else
 * changes it, and nothing ever sets it back. So a claim, a death and everything learnt from them
 * can be named by (queue, id, token), and whoever comes late with an older token changes nothing.
 *
 * <p>Worker transitions name state, owner <em>and</em> token. The token alone would do if every
 * caller were right; the owner catches a lease handed to the wrong worker, and the state says in
 * the statement itself, for its reader, where the transition starts.
 *
 * <p>A row is due when its run or the end of its lease has come, and spent when its attempts are
 * used up or its deadline is over. Claim takes what is due and not spent, bury what is due and
 * spent: together they leave nothing behind. Decisions are made by the statement on the stored
 * columns, never on what was read before. States are inlined, so that a planner can match them with
 * partial indexes; inputs are parameters. The rendered text is reviewed in {@code db/transitions}.
 */
final class Transitions {
  /** How many due rows one bury looks at. */
  static final int BURY_BATCH = 1_000;

  private static final Field<String> PENDING = inline(JobState.PENDING.toString());
  private static final Field<String> LEASED = inline(JobState.LEASED.toString());
  private static final Field<String> DONE = inline(JobState.DONE.toString());
  private static final Field<String> DEAD = inline(JobState.DEAD.toString());
  private static final Field<String> PERMANENT = inline(DeadReason.PERMANENT.toString());
  private static final Field<String> EXHAUSTED = inline(DeadReason.EXHAUSTED.toString());
  private static final Field<String> DEADLINE = inline(DeadReason.DEADLINE.toString());
  private static final Field<String> LEASE_EXPIRED = inline(Fault.LEASE_EXPIRED);
  private static final Field<Long> ONE = inline(1L);
  private static final Field<Long> ZERO = inline(0L);
  private static final Field<Long> NEVER = inline(Long.MAX_VALUE);
  private static final Field<String> NOTHING = inline("");
  private static final Field<String> NO_TEXT = inline(null, VARCHAR);
  private static final Field<Long> NO_TIME = inline(null, BIGINT);

  private final DSLContext dsl;
  private final Engine engine;
  private final Param<String> queue;
  private final Field<Long> now;

  /**
   * @param now epoch milliseconds; null is the database's clock, where the engine has one
   */
  Transitions(DSLContext dsl, Engine engine, String queue, @Nullable Long now) {
    this.dsl = dsl;
    this.engine = engine;
    this.queue = text("queue", queue);
    this.now = engine.now(number("now", now));
  }

  /** – → pending. No row: a job of this id is there. */
  Insert<JobsRecord> submit(NewJob job) {
    Field<Long> availableAt = coalesce(number("available_at", millis(job.availableAt())), now);
    return dsl.insertInto(JOBS)
        .set(JOBS.QUEUE, queue)
        .set(JOBS.ID, text("id", job.id()))
        .set(JOBS.STATE, PENDING)
        .set(JOBS.TOKEN, ZERO)
        .set(JOBS.ATTEMPTS, ZERO)
        .set(JOBS.MAX_ATTEMPTS, number("max_attempts", (long) job.maxAttempts()))
        .set(JOBS.AVAILABLE_AT, availableAt)
        .set(JOBS.DEADLINE_AT, greatest(now, availableAt).plus(millis("deadline", job.deadline())))
        .set(JOBS.SUBMITTED_AT, now)
        .set(JOBS.PAYLOAD, text("payload", job.payload()))
        .onConflictDoNothing();
  }

  /** What stands in the way of a submit: where it stands, and whether the payload is the same. */
  Select<Record3<String, Boolean, Long>> submitted(NewJob job) {
    return dsl.select(
            JOBS.STATE, field(JOBS.PAYLOAD.eq(text("payload", job.payload()))), JOBS.TOKEN)
        .from(JOBS)
        .where(JOBS.QUEUE.eq(queue))
        .and(JOBS.ID.eq(text("id", job.id())));
  }

  /**
   * pending, leased → leased. The first {@code limit} rows that are due and not spent, oldest
   * first; the answer comes in no order.
   */
  ResultQuery<? extends Record> claim(String owner, Duration lease, int limit) {
    return dsl.update(JOBS)
        .set(JOBS.STATE, LEASED)
        .set(JOBS.FAULT, faultOfLostLease())
        .set(JOBS.OWNER, text("owner", owner))
        .set(JOBS.LEASE_UNTIL, now.plus(millis("lease", lease)))
        .set(JOBS.TOKEN, JOBS.TOKEN.plus(ONE))
        .set(JOBS.ATTEMPTS, JOBS.ATTEMPTS.plus(ONE))
        .where(JOBS.QUEUE.eq(queue))
        .and(
            engine.idIn(
                select(JOBS.ID)
                    .from(JOBS)
                    .where(JOBS.QUEUE.eq(queue))
                    .and(due())
                    .and(notSpent())
                    .orderBy(JOBS.DUE_AT, JOBS.ID)
                    .limit(number("limit", (long) limit))))
        .and(dueOfThoseIds())
        .and(notSpent())
        .returningResult(Rows.LEASE);
  }

  /** pending, leased → dead. Of the first 1,000 due rows those that are spent. */
  ResultQuery<? extends Record> bury() {
    return dsl.update(JOBS)
        .set(JOBS.STATE, DEAD)
        .set(JOBS.REASON, when(attemptsUsedUp(), EXHAUSTED).else_(DEADLINE))
        .set(JOBS.FAULT, faultOfLostLease())
        .set(JOBS.OWNER, NO_TEXT)
        .set(JOBS.LEASE_UNTIL, NO_TIME)
        .set(JOBS.TOKEN, JOBS.TOKEN.plus(ONE))
        .set(JOBS.FINISHED_AT, now)
        .where(JOBS.QUEUE.eq(queue))
        .and(
            engine.idAmong(
                select(JOBS.ID)
                    .from(JOBS)
                    .where(JOBS.QUEUE.eq(queue))
                    .and(due())
                    .orderBy(JOBS.DUE_AT, JOBS.ID)
                    .limit(inline(BURY_BATCH)),
                JOBS.QUEUE.eq(queue).and(dueOfThoseIds()).and(spent())))
        .and(dueOfThoseIds())
        .and(spent())
        .returningResult(Rows.DEATH);
  }

  /** leased → leased, never for a shorter time. No row: stale, or the lease is over. */
  Update<JobsRecord> renew(Lease held, Duration lease) {
    return dsl.update(JOBS)
        .set(JOBS.LEASE_UNTIL, greatest(JOBS.LEASE_UNTIL, now.plus(millis("lease", lease))))
        .where(heldBy(held))
        .and(JOBS.LEASE_UNTIL.gt(now));
  }

  /** leased → pending, for work never started: the attempt is given back. No row: stale. */
  Update<JobsRecord> release(Lease held) {
    return dsl.update(JOBS)
        .set(JOBS.STATE, PENDING)
        .set(JOBS.OWNER, NO_TEXT)
        .set(JOBS.LEASE_UNTIL, NO_TIME)
        .set(JOBS.ATTEMPTS, JOBS.ATTEMPTS.minus(ONE))
        .set(JOBS.AVAILABLE_AT, now)
        .where(heldBy(held));
  }

  /** leased → done. No row: stale. */
  ResultQuery<Record2<String, String>> finishOk(Lease held) {
    return dsl.update(JOBS)
        .set(JOBS.STATE, DONE)
        .set(JOBS.OWNER, NO_TEXT)
        .set(JOBS.LEASE_UNTIL, NO_TIME)
        .set(JOBS.FINISHED_AT, now)
        .where(heldBy(held))
        .returningResult(JOBS.STATE, JOBS.REASON);
  }

  /** leased → pending, or dead where no run of this life is left. No row: stale. */
  ResultQuery<Record2<String, String>> finishRetry(Lease held, String fault, Duration delay) {
    Field<Long> nextRun = now.plus(millis("delay", delay));
    Condition tooLate = nextRun.ge(JOBS.DEADLINE_AT);
    Condition over = attemptsUsedUp().or(tooLate);
    return dsl.update(JOBS)
        .set(JOBS.STATE, when(over, DEAD).else_(PENDING))
        .set(JOBS.REASON, when(attemptsUsedUp(), EXHAUSTED).when(tooLate, DEADLINE))
        .set(JOBS.FAULT, text("fault", fault))
        .set(JOBS.OWNER, NO_TEXT)
        .set(JOBS.LEASE_UNTIL, NO_TIME)
        .set(JOBS.AVAILABLE_AT, when(over, JOBS.AVAILABLE_AT).else_(nextRun))
        .set(JOBS.FINISHED_AT, when(over, now))
        .where(heldBy(held))
        .returningResult(JOBS.STATE, JOBS.REASON);
  }

  /** leased → dead. No row: stale. */
  ResultQuery<Record2<String, String>> finishPermanent(Lease held, String fault) {
    return dsl.update(JOBS)
        .set(JOBS.STATE, DEAD)
        .set(JOBS.REASON, PERMANENT)
        .set(JOBS.FAULT, text("fault", fault))
        .set(JOBS.OWNER, NO_TEXT)
        .set(JOBS.LEASE_UNTIL, NO_TIME)
        .set(JOBS.FINISHED_AT, now)
        .where(heldBy(held))
        .returningResult(JOBS.STATE, JOBS.REASON);
  }

  /** dead → dead. No row: it is not this death any more. */
  Update<JobsRecord> investigate(Death dead, String ticket, String by) {
    return dsl.update(JOBS)
        .set(JOBS.INVESTIGATED_AT, now)
        .set(JOBS.INVESTIGATED_BY, text("by", by))
        .set(JOBS.INVESTIGATION, text("ticket", ticket))
        .where(diedAs(dead));
  }

  /**
   * The audit of a redrive, written before it from the death as it stands. No row: it is not this
   * death any more, or this death has been redriven.
   */
  Insert<RedrivesRecord> redriveAudit(Death dead, Redrive order) {
    return dsl.insertInto(
            REDRIVES,
            REDRIVES.QUEUE,
            REDRIVES.JOB_ID,
            REDRIVES.PREVIOUS_TOKEN,
            REDRIVES.AT_MS,
            REDRIVES.NOTE,
            REDRIVES.APPROVED_BY,
            REDRIVES.DEADLINE_AT,
            REDRIVES.PREVIOUS_REASON,
            REDRIVES.PREVIOUS_FAULT,
            REDRIVES.PREVIOUS_ATTEMPTS,
            REDRIVES.PREVIOUS_DEADLINE_AT,
            REDRIVES.PREVIOUS_FINISHED_AT,
            REDRIVES.PREVIOUS_INVESTIGATED_AT,
            REDRIVES.PREVIOUS_INVESTIGATED_BY,
            REDRIVES.PREVIOUS_INVESTIGATION)
        .select(
            engine.locking(
                select(
                        JOBS.QUEUE,
                        JOBS.ID,
                        JOBS.TOKEN,
                        now,
                        text("note", order.note()),
                        text("approved_by", order.approvedBy()),
                        now.plus(millis("deadline", order.deadline())),
                        JOBS.REASON,
                        JOBS.FAULT,
                        JOBS.ATTEMPTS,
                        JOBS.DEADLINE_AT,
                        JOBS.FINISHED_AT,
                        JOBS.INVESTIGATED_AT,
                        JOBS.INVESTIGATED_BY,
                        JOBS.INVESTIGATION)
                    .from(JOBS)
                    .where(diedAs(dead))))
        .onConflictDoNothing();
  }

  /** dead → pending, with the times of the audit row. No row: it is not this death any more. */
  Update<JobsRecord> redrive(Death dead) {
    return dsl.update(JOBS)
        .set(JOBS.STATE, PENDING)
        .set(JOBS.REASON, NO_TEXT)
        .set(JOBS.ATTEMPTS, ZERO)
        .set(JOBS.AVAILABLE_AT, fromAudit(REDRIVES.AT_MS, dead))
        .set(JOBS.DEADLINE_AT, fromAudit(REDRIVES.DEADLINE_AT, dead))
        .set(JOBS.FINISHED_AT, NO_TIME)
        .set(JOBS.INVESTIGATED_AT, NO_TIME)
        .set(JOBS.INVESTIGATED_BY, NO_TEXT)
        .set(JOBS.INVESTIGATION, NO_TEXT)
        .where(diedAs(dead));
  }

  private Select<Record1<Long>> fromAudit(Field<Long> column, Death dead) {
    return select(column)
        .from(REDRIVES)
        .where(REDRIVES.QUEUE.eq(queue))
        .and(REDRIVES.JOB_ID.eq(text("id", dead.id())))
        .and(REDRIVES.PREVIOUS_TOKEN.eq(number("token", dead.token())));
  }

  /** done → gone. The oldest {@code limit} rows finished before the cut-off, without redrives. */
  ResultQuery<? extends Record> purge(Duration olderThan, int limit) {
    return dsl.deleteFrom(JOBS)
        .where(JOBS.QUEUE.eq(queue))
        .and(
            engine.idIn(
                select(JOBS.ID)
                    .from(JOBS)
                    .where(JOBS.QUEUE.eq(queue))
                    .and(forgettable(JOBS.STATE, JOBS.FINISHED_AT, olderThan))
                    .orderBy(JOBS.FINISHED_AT)
                    .limit(number("limit", (long) limit))))
        .and(forgettable(inNoIndex(JOBS.STATE), byNoIndex(JOBS.FINISHED_AT), olderThan))
        .returningResult(Rows.PURGED);
  }

  /** The whole row. */
  Select<? extends Record> find(String id) {
    return dsl.select(Rows.JOB)
        .from(JOBS)
        .where(JOBS.QUEUE.eq(queue))
        .and(JOBS.ID.eq(text("id", id)));
  }

  /** The fence: only who holds the row changes it. */
  private Condition heldBy(Lease held) {
    return JOBS.QUEUE
        .eq(queue)
        .and(JOBS.ID.eq(text("id", held.id())))
        .and(JOBS.STATE.eq(LEASED))
        .and(JOBS.OWNER.eq(text("owner", held.owner())))
        .and(JOBS.TOKEN.eq(number("token", held.token())));
  }

  /** The very death that was looked at. */
  private Condition diedAs(Death dead) {
    return JOBS.QUEUE
        .eq(queue)
        .and(JOBS.ID.eq(text("id", dead.id())))
        .and(JOBS.STATE.eq(DEAD))
        .and(JOBS.TOKEN.eq(number("token", dead.token())));
  }

  private Condition due() {
    return JOBS.DUE_AT.le(now);
  }

  private Condition spent() {
    return attemptsUsedUp().or(deadlineOver());
  }

  private Condition dueOfThoseIds() {
    return byNoIndex(JOBS.DUE_AT).le(now);
  }

  /**
   * A column as no index holds it, and not even one of those where it is not null. Where rows are
   * found by the ids of a subselect, its conditions are only looked at again: a planner that took
   * an index for them would walk the whole backlog to change one row. SQLite's does until the file
   * is analysed, PostgreSQL's when little was due at the last analysis.
   */
  private static Field<Long> byNoIndex(Field<Long> column) {
    return coalesce(column, NEVER);
  }

  /** A state as no partial index asks for it. */
  private static Field<String> inNoIndex(Field<String> state) {
    return state.concat(NOTHING);
  }

  private Condition attemptsUsedUp() {
    return JOBS.ATTEMPTS.ge(JOBS.MAX_ATTEMPTS);
  }

  private Condition deadlineOver() {
    return JOBS.DEADLINE_AT.le(now);
  }

  private Condition notSpent() {
    return JOBS.ATTEMPTS.lt(JOBS.MAX_ATTEMPTS).and(JOBS.DEADLINE_AT.gt(now));
  }

  private Condition forgettable(Field<String> state, Field<Long> finishedAt, Duration olderThan) {
    return state
        .eq(DONE)
        .and(finishedAt.lt(now.minus(millis("older_than", olderThan))))
        .and(
            notExists(
                selectOne()
                    .from(REDRIVES)
                    .where(REDRIVES.QUEUE.eq(JOBS.QUEUE))
                    .and(REDRIVES.JOB_ID.eq(JOBS.ID))));
  }

  private static Field<String> faultOfLostLease() {
    return when(JOBS.STATE.eq(LEASED), LEASE_EXPIRED).else_(JOBS.FAULT);
  }

  private static Param<String> text(String name, String value) {
    return param(name, value);
  }

  static Param<Long> number(String name, @Nullable Long value) {
    return value == null ? param(name, BIGINT) : param(name, value);
  }

  private static Param<Long> millis(String name, Duration value) {
    return number(name, value.toMillis());
  }

  private static @Nullable Long millis(@Nullable Instant time) {
    return time == null ? null : time.toEpochMilli();
  }
}
