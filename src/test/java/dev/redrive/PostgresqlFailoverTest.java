package dev.redrive;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.io.IOException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jooq.exception.DataAccessException;
import org.junit.jupiter.api.Test;

/**
 * The primary dies under load, its synchronous standby takes over, and nothing answered is lost.
 */
class PostgresqlFailoverTest {
  private static final int WORKERS = 4;
  private static final Duration LONG = Duration.ofHours(1);
  private static final Redrive ORDER = Redrive.note("OPS-17").approvedBy("kim").deadline(LONG);

  private final AtomicInteger answers = new AtomicInteger();
  private final AtomicInteger errors = new AtomicInteger();
  private final AtomicBoolean enough = new AtomicBoolean();
  private final Queue<Fact> facts = new ConcurrentLinkedQueue<>();

  /** What an answer said of a job, and has to be true of its row ever after. */
  private record Fact(String said, String id, long token, String query) {}

  @Test
  void everyAnsweredSubmitFinishAndRedriveIsOnTheStandbyThatTookOver() throws Exception {
    long seed = new Random().nextLong();
    System.out.println("PostgresqlFailoverTest: seed " + seed);
    int answersBefore = 200 + new Random(seed).nextInt(200);
    try (PostgresqlNode primary = started();
        PostgresqlNode standby = primary.standby();
        HikariDataSource pool = poolOf(primary, standby)) {
      JobQueue queue = JobQueue.on(PostgresqlStore.dsl(pool));
      ExecutorService threads = Executors.newFixedThreadPool(WORKERS);
      try {
        List<Future<?>> workers = new ArrayList<>();
        for (int i = 0; i < WORKERS; i++) {
          String name = "w" + i;
          workers.add(threads.submit(() -> work(queue, name)));
        }
        await(workers, answersBefore);
        assertThat(errors).hasValue(0);
        primary.kill();
        standby.promote();
        await(workers, answers.get() + 200);
        enough.set(true);
        for (Future<?> worker : workers) {
          worker.get();
        }
      } finally {
        enough.set(true);
        threads.shutdownNow();
      }
      assertThat(errors).as("calls that met the failover").hasPositiveValue();
      assertThat(standby.text("select pg_is_in_recovery()")).isEqualTo("f");
      areTrue(facts, pool);
    }
  }

  private static PostgresqlNode started() {
    try {
      return PostgresqlNode.start(Map.of());
    } catch (IOException | RuntimeException e) {
      throw Proof.cannotRun("PostgresqlFailoverTest", "no embedded PostgreSQL starts: " + e);
    }
  }

  private static HikariDataSource poolOf(PostgresqlNode primary, PostgresqlNode standby) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(
        PostgresqlNode.url(
            "localhost:" + primary.port() + ",localhost:" + standby.port(),
            "&targetServerType=primary&hostRecheckSeconds=1&connectTimeout=5&socketTimeout=30"));
    config.setMaximumPoolSize(WORKERS);
    config.setConnectionTimeout(2_000);
    return new HikariDataSource(config);
  }

  private void await(List<Future<?>> workers, int count) {
    PostgresqlTest.await(
        () -> {
          for (Future<?> worker : workers) {
            if (worker.isDone()) {
              worker.get(); // throws what ended it
            }
          }
          return answers.get() >= count;
        });
  }

  /** Works on its own jobs and whatever it claims, until told that it is enough. */
  private void work(JobQueue queue, String worker) {
    for (int i = 0; !enough.get(); i++) {
      String id = worker + "-" + i;
      submit(queue, id);
      Optional<Lease> lease = claim(queue, worker);
      if (lease.isPresent()) {
        finish(queue, lease.get(), i % 2 == 0 ? Outcome.ok() : Outcome.permanent("http-422"));
      }
    }
  }

  private void submit(JobQueue queue, String id) {
    Answer<Submission> answer = answer(() -> queue.submit(NewJob.of(id, "{}")));
    assertThat(answer.value().created() || answer.afterAnError())
        .as("%s was submitted by nobody else", id)
        .isTrue();
    fact("submitted", id, 0, "select 1 from jobs where id = ? and token >= ?");
  }

  /** Not repeated: what a lost answer has leased stays so. */
  private Optional<Lease> claim(JobQueue queue, String worker) {
    try {
      Optional<Lease> lease = queue.claim(worker, LONG);
      lease.ifPresent(
          held ->
              fact(
                  "claimed",
                  held.id(),
                  held.token(),
                  "select 1 from jobs where id = ? and token >= ?"));
      return lease;
    } catch (DataAccessException e) {
      errors.incrementAndGet();
      return Optional.empty();
    }
  }

  /** Nobody else can have the lease: false is only the answer to a finish that was stored. */
  private void finish(JobQueue queue, Lease lease, Outcome outcome) {
    Answer<Boolean> answer = answer(() -> queue.finish(lease, outcome));
    if (!answer.value()) {
      assertThat(answer.afterAnError()).as("%s was ours", lease).isTrue();
      assertThat(answer(() -> queue.find(lease.id())).value().orElseThrow().endedBy(lease))
          .as("%s was ended by it", lease)
          .isTrue();
    }
    if (outcome.equals(Outcome.ok())) {
      fact(
          "done",
          lease.id(),
          lease.token(),
          "select 1 from jobs where id = ? and token = ? and state = 'done'");
    } else {
      redrive(queue, lease);
    }
  }

  private void redrive(JobQueue queue, Lease failed) {
    Job dead = answer(() -> queue.find(failed.id())).value().orElseThrow();
    assertThat(dead.state()).isEqualTo(JobState.DEAD);
    assertThat(dead.token()).isEqualTo(failed.token());
    Answer<Boolean> answer = answer(() -> queue.redrive(dead, ORDER));
    assertThat(answer.value() || answer.afterAnError()).as("%s was dead", dead).isTrue();
    fact(
        "redriven",
        failed.id(),
        failed.token(),
        "select 1 from redrives where job_id = ? and previous_token = ?"
            + " and previous_reason = 'permanent' and note = 'OPS-17'");
  }

  private void fact(String said, String id, long token, String query) {
    facts.add(new Fact(said, id, token, query));
    answers.incrementAndGet();
  }

  private record Answer<T>(T value, boolean afterAnError) {}

  /** Asks until there is an answer. An error is an exception of the database's. */
  private <T> Answer<T> answer(Supplier<T> call) {
    for (boolean failed = false; ; failed = true) {
      try {
        return new Answer<>(call.get(), failed);
      } catch (DataAccessException e) {
        errors.incrementAndGet();
      }
    }
  }

  private static void areTrue(Queue<Fact> facts, HikariDataSource pool) throws SQLException {
    try (Connection connection = pool.getConnection()) {
      for (Fact fact : facts) {
        try (PreparedStatement statement = connection.prepareStatement(fact.query())) {
          statement.setString(1, fact.id());
          statement.setLong(2, fact.token());
          try (ResultSet found = statement.executeQuery()) {
            assertThat(found.next()).as("%s", fact).isTrue();
          }
        }
      }
    }
  }
}
