package dev.redrive;

import static dev.redrive.schema.Tables.JOBS;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.time.Instant;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.jooq.Field;
import org.jooq.Record;
import org.jspecify.annotations.Nullable;

/** Which columns the service reads, and the values it makes of them. */
final class Rows {
  static final List<Field<?>> LEASE =
      List.of(
          JOBS.QUEUE,
          JOBS.ID,
          JOBS.OWNER,
          JOBS.TOKEN,
          JOBS.ATTEMPTS,
          JOBS.MAX_ATTEMPTS,
          JOBS.LEASE_UNTIL,
          JOBS.AVAILABLE_AT,
          JOBS.DEADLINE_AT,
          JOBS.PAYLOAD);

  static final List<Field<?>> JOB =
      List.of(
          JOBS.QUEUE,
          JOBS.ID,
          JOBS.STATE,
          JOBS.REASON,
          JOBS.FAULT,
          JOBS.OWNER,
          JOBS.LEASE_UNTIL,
          JOBS.TOKEN,
          JOBS.ATTEMPTS,
          JOBS.MAX_ATTEMPTS,
          JOBS.AVAILABLE_AT,
          JOBS.DEADLINE_AT,
          JOBS.SUBMITTED_AT,
          JOBS.FINISHED_AT,
          JOBS.INVESTIGATED_AT,
          JOBS.INVESTIGATED_BY,
          JOBS.INVESTIGATION,
          JOBS.PAYLOAD);

  static final List<Field<?>> DEATH =
      List.of(JOBS.QUEUE, JOBS.ID, JOBS.TOKEN, JOBS.REASON, JOBS.FAULT);

  static final List<Field<?>> PURGED = List.of(JOBS.QUEUE, JOBS.ID, JOBS.TOKEN);

  /** The order of a claim's answer: RETURNING promises none. */
  static final Comparator<Record> OLDEST_FIRST =
      Comparator.<Record, Long>comparing(row -> row.get(JOBS.AVAILABLE_AT))
          .thenComparing(row -> row.get(JOBS.ID), Rows::compareIds);

  private Rows() {}

  /** The order of both engines, by bytes of UTF-8; that of strings in Java is by UTF-16. */
  static int compareIds(String one, String other) {
    return Arrays.compareUnsigned(one.getBytes(UTF_8), other.getBytes(UTF_8));
  }

  static Lease lease(Record row) {
    return new Lease(
        row.get(JOBS.QUEUE),
        row.get(JOBS.ID),
        row.get(JOBS.OWNER),
        row.get(JOBS.TOKEN),
        count(row.get(JOBS.ATTEMPTS)),
        count(row.get(JOBS.MAX_ATTEMPTS)),
        Instant.ofEpochMilli(row.get(JOBS.LEASE_UNTIL)),
        Instant.ofEpochMilli(row.get(JOBS.DEADLINE_AT)),
        row.get(JOBS.PAYLOAD));
  }

  static Job job(Record row) {
    return new Job(
        row.get(JOBS.QUEUE),
        row.get(JOBS.ID),
        JobState.of(row.get(JOBS.STATE)),
        Optional.ofNullable(row.get(JOBS.REASON)).map(DeadReason::of),
        Optional.ofNullable(row.get(JOBS.FAULT)),
        Optional.ofNullable(row.get(JOBS.OWNER)),
        time(row.get(JOBS.LEASE_UNTIL)),
        row.get(JOBS.TOKEN),
        count(row.get(JOBS.ATTEMPTS)),
        count(row.get(JOBS.MAX_ATTEMPTS)),
        Instant.ofEpochMilli(row.get(JOBS.AVAILABLE_AT)),
        Instant.ofEpochMilli(row.get(JOBS.DEADLINE_AT)),
        Instant.ofEpochMilli(row.get(JOBS.SUBMITTED_AT)),
        time(row.get(JOBS.FINISHED_AT)),
        time(row.get(JOBS.INVESTIGATED_AT))
            .map(
                at ->
                    new Job.Investigation(
                        at, row.get(JOBS.INVESTIGATED_BY), row.get(JOBS.INVESTIGATION))),
        row.get(JOBS.PAYLOAD));
  }

  static JobEvent.Died died(Record row) {
    return new JobEvent.Died(
        row.get(JOBS.QUEUE),
        row.get(JOBS.ID),
        row.get(JOBS.TOKEN),
        DeadReason.of(row.get(JOBS.REASON)),
        Optional.ofNullable(row.get(JOBS.FAULT)));
  }

  static JobEvent.Purged purged(Record row) {
    return new JobEvent.Purged(row.get(JOBS.QUEUE), row.get(JOBS.ID), row.get(JOBS.TOKEN));
  }

  private static Optional<Instant> time(@Nullable Long millis) {
    return Optional.ofNullable(millis).map(Instant::ofEpochMilli);
  }

  /** A counter that only planted rows can drive above the range of int. */
  private static int count(long stored) {
    return (int) Math.min(stored, Integer.MAX_VALUE);
  }
}
