package dev.redrive;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jooq.SQLDialect;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.AfterEach;

/** The base of what is tested on PostgreSQL alone, and the words for what only it has. */
abstract class PostgresqlTest extends QueueTest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final ExecutorService threads = Executors.newCachedThreadPool();

  protected static Stream<Backend> backends() {
    return Stream.of(Backend.POSTGRESQL);
  }

  @AfterEach
  void noThreadIsLeft() throws InterruptedException {
    threads.shutdownNow();
    assertThat(threads.awaitTermination(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
  }

  static void submitMany(JobQueue jobs, int count) {
    assertThat(jobs.submitAll(IntStream.range(0, count).mapToObj(i -> job("j" + i)).toList()))
        .allMatch(Submission::created);
  }

  /** A call under way in a thread of its own. */
  <T> Future<T> start(Callable<T> call) {
    return threads.submit(call);
  }

  /** What a call answered; what it threw is thrown here. */
  static <T> T answer(Future<T> call) throws Exception {
    try {
      return call.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw e.getCause() instanceof Exception cause ? cause : e;
    }
  }

  static <T> List<T> answers(List<Future<T>> calls) throws Exception {
    List<T> answers = new ArrayList<>();
    for (Future<T> call : calls) {
      answers.add(answer(call));
    }
    return answers;
  }

  /** A connection with auto-commit off: whoever holds it is a host in a transaction. */
  Connection hostConnection() throws SQLException {
    Connection connection = store.dataSource().getConnection();
    connection.setAutoCommit(false);
    return connection;
  }

  /** The queue as part of the transaction that is open on a host's connection. */
  JobQueue within(Connection host) {
    return JobQueue.builder(DSL.using(host, SQLDialect.POSTGRES)).clock(clock).build();
  }

  /** Waits until so many sessions of this test's pool wait for a lock. */
  void awaitLockWaits(int sessions) {
    await(
        () ->
            number(
                    "select count(*) from pg_stat_activity"
                        + " where application_name = current_schema() and wait_event_type = 'Lock'")
                >= sessions);
  }

  static void await(Callable<Boolean> condition) {
    long end = System.nanoTime() + PATIENCE.toNanos();
    try {
      while (!condition.call()) {
        assertThat(System.nanoTime()).as("waited in vain").isLessThan(end);
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(2));
      }
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  long number(String query) {
    return (Long) rows(query).get(0).values().iterator().next();
  }

  /** Makes so many updates of a job fail; a sequence counts, because no rollback takes it back. */
  void failUpdates(String sqlState, int times) {
    plant("create sequence tries");
    plant(
        "create function fail() returns trigger language plpgsql as $$ begin"
            + " if nextval('tries') <= "
            + times
            + " then raise exception 'undone' using errcode = '"
            + sqlState
            + "'; end if; return new; end $$");
    plant("create trigger failing before update on jobs for each row execute function fail()");
  }

  /** How many updates were tried since. */
  long tries() {
    return number("select last_value from tries");
  }
}
