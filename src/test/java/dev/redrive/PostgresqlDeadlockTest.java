package dev.redrive;

import static dev.redrive.schema.Tables.JOBS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.redrive.schema.tables.records.JobsRecord;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import org.jooq.DSLContext;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.Test;

/**
 * Case 8.3: everything that changes rows, at the same time on the same hundred jobs and some more,
 * in random order, with leases that end at once. No exception may reach a caller; how long it is
 * tried says the system property {@code redrive.proof.seconds}.
 */
class PostgresqlDeadlockTest {
  private static final int HOT = 100;
  private static final long SECONDS = Long.getLong("redrive.proof.seconds", 5);

  private static final long SLACK = TimeUnit.SECONDS.toNanos(30);

  enum Verb {
    SUBMIT_ALL,
    CLAIM,
    FINISH_ALL,
    FINISH_AND_CLAIM,
    RENEW,
    RELEASE,
    INVESTIGATE,
    REDRIVE,
    PURGE
  }

  private final Map<Verb, LongAdder> changed = new EnumMap<>(Verb.class);
  private JobQueue queue;
  private JobQueue later;
  private DSLContext dsl;

  @Test
  void case_8_3_noDeadlockReachesACaller() throws Exception {
    for (Verb verb : Verb.values()) {
      changed.put(verb, new LongAdder());
    }
    try (PostgresqlStore store = PostgresqlStore.open("-c deadlock_timeout=10ms")) {
      dsl = store.dsl();
      queue = JobQueue.on(dsl);
      InstantSource tomorrow = InstantSource.offset(InstantSource.system(), Duration.ofHours(25));
      later = JobQueue.builder(dsl).clock(tomorrow).build();
      work();
      assertThat(changed)
          .allSatisfy((verb, rows) -> assertThat(rows.sum()).as("%s", verb).isPositive());
      Invariants.check(store);
    }
  }

  private void work() throws Exception {
    ExecutorService threads = Executors.newCachedThreadPool();
    try {
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
      List<Future<?>> workers = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        int seed = i;
        workers.add(threads.submit(() -> work(new Random(seed), "w" + seed, end)));
      }
      for (Future<?> worker : workers) {
        worker.get(SECONDS + 60, TimeUnit.SECONDS);
      }
    } finally {
      threads.shutdownNow();
    }
  }

  private void work(Random random, String owner, long end) {
    List<Lease> mine = new ArrayList<>();
    while (System.nanoTime() < end || (someNeverDid() && System.nanoTime() < end + SLACK)) {
      Collections.shuffle(mine, random);
      Verb verb = Verb.values()[random.nextInt(Verb.values().length)];
      changed.get(verb).add(act(verb, random, owner, mine));
    }
  }

  /** A slow machine gets more time to do each once. */
  private boolean someNeverDid() {
    return changed.values().stream().anyMatch(rows -> rows.sum() == 0);
  }

  /** Answers how many rows it changed. */
  private long act(Verb verb, Random random, String owner, List<Lease> mine) {
    return switch (verb) {
      case SUBMIT_ALL -> submitAll(random);
      case CLAIM -> {
        List<Lease> leases = queue.claim(owner, lease(random), 1 + random.nextInt(HOT));
        mine.addAll(leases);
        yield leases.size();
      }
      case FINISH_ALL -> {
        List<Finish> finishes =
            mine.stream().map(lease -> new Finish(lease, outcome(random))).toList();
        mine.clear();
        yield queue.finishAll(finishes).stream().filter(Boolean::booleanValue).count();
      }
      case FINISH_AND_CLAIM ->
          mine.isEmpty()
              ? 0
              : count(
                  queue
                      .finishAndClaim(mine.remove(0), outcome(random), owner, lease(random))
                      .finished());
      case RENEW -> mine.isEmpty() ? 0 : count(queue.renew(mine.get(0), lease(random)));
      case RELEASE -> mine.isEmpty() ? 0 : count(queue.release(mine.remove(0)));
      case INVESTIGATE ->
          dead(random, 1).stream().filter(job -> queue.investigate(job, "OPS-1", "kim")).count();
      case REDRIVE ->
          dead(random, 20).stream().filter(job -> queue.redrive(job, QueueTest.ORDER)).count();
      case PURGE -> later.purgeDone(Duration.ofHours(24), 1 + random.nextInt(HOT));
    };
  }

  private long submitAll(Random random) {
    List<NewJob> jobs =
        IntStream.range(0, 20)
            .mapToObj(i -> "j" + random.nextInt(random.nextBoolean() ? HOT : 10 * HOT))
            .map(id -> NewJob.of(id, "{}").maxAttempts(2))
            .toList();
    return queue.submitAll(jobs).stream().filter(Submission::created).count();
  }

  private List<Job> dead(Random random, int limit) {
    List<Job> dead = new ArrayList<>();
    for (JobsRecord row :
        dsl.selectFrom(JOBS).where(JOBS.STATE.eq("dead")).orderBy(DSL.rand()).limit(limit)) {
      queue.find(row.getId()).ifPresent(dead::add);
    }
    Collections.shuffle(dead, random);
    return dead;
  }

  /** Over at once, or long enough to be renewed. */
  private static Duration lease(Random random) {
    return Duration.ofMillis(random.nextBoolean() ? 1 : 1_000);
  }

  private static Outcome outcome(Random random) {
    return switch (random.nextInt(3)) {
      case 0 -> Outcome.ok();
      case 1 -> Outcome.permanent("http-422");
      default -> Outcome.retry("http-503", Duration.ZERO);
    };
  }

  private static long count(boolean changed) {
    return changed ? 1 : 0;
  }
}
