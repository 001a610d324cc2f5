package dev.redrive;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.redrive.LoadChild.Said;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jooq.DSLContext;
import org.jooq.SQLDialect;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A PostgreSQL server that stops at once, under a process that makes every call there is in several
 * threads, and comes back, again and again. The process stays, with its queues and its pool. How
 * often is the system property {@code redrive.proof.rounds}; {@code redrive.seed} repeats what was
 * drawn.
 */
class ServerKillTest {
  private static final int ROUNDS = Integer.getInteger("redrive.proof.rounds", 20);

  @TempDir Path folder;

  private final long seed = Long.getLong("redrive.seed", new Random().nextLong());
  private final Random random = new Random(seed);
  private final Map<Shadow.Fate, Integer> fates = new EnumMap<>(Shadow.Fate.class);
  private SqliteDatabase undisturbed;
  private Map<String, Shadow> shadows = Map.of();
  private CrashingPostgresql server;
  private HikariDataSource pool;
  private DSLContext dsl;
  private String context = "seed " + seed;

  @BeforeEach
  void open() throws Exception {
    System.out.printf("ServerKillTest with -Dredrive.seed=%d%n", seed);
    server = CrashingPostgresql.start(folder);
    pool = PostgresqlServer.pool(server.url(), 1);
    dsl = PostgresqlStore.dsl(pool);
    assertThat(JobQueue.on(dsl).find("none")).isEmpty();
    undisturbed = Shadow.database(folder);
    shadows = Shadow.of(List.of("orders", "mails", "bills", "ads"), undisturbed);
  }

  @AfterEach
  void close() throws Exception {
    pool.close();
    server.close();
    undisturbed.close();
  }

  @Test
  void everyAnswerOutlivesItsServerAndALostOneIsAnException() throws Exception {
    try (LoadProcess process =
        LoadProcess.start(Backend.POSTGRESQL, server.url(), shadows, seed, QueueTest.T0)) {
      for (int round = 1; round <= ROUNDS; round++) {
        context = "seed " + seed + ", round " + round;
        for (int lines = random.nextInt(100); lines > 0; lines--) {
          lookAgain(process, process.hear());
        }
        server.crash();
        server.restart();
        pool.getHikariPoolMXBean().softEvictConnections();
        process.awaitProgress(said -> lookAgain(process, said));
      }
      process.stop(said -> lookAgain(process, said));
      System.out.printf(
          "A server crashed %d times under %d answers; the calls without one were %s%n",
          ROUNDS, process.answers(), fates);
    }
    shadows.forEach((name, shadow) -> shadow.isAlike(Snapshot.of(dsl, name), context));
    Invariants.check(pool, SQLDialect.POSTGRES);
    assertThat(fates).as("calls without an answer").isNotEmpty();
  }

  /** After a call that failed: what became of it, before that thread goes on. */
  private void lookAgain(LoadProcess process, Said said) {
    if (said.what() == Said.FAILED) {
      Snapshot rows = Snapshot.of(dsl, said.queue());
      fates.merge(shadows.get(said.queue()).goOnFrom(rows, context), 1, Integer::sum);
      process.goOn(said.queue());
    }
  }
}
