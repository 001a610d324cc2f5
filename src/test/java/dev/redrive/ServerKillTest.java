package dev.redrive;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.redrive.LoadChild.Said;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
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
  private static final int ROUNDS = Integer.getInteger("redrive.proof.rounds", 20) / 2;
  private static final List<String> QUEUES = List.of("orders", "mails", "bills", "ads");
  private static final int PROGRESS = 5;

  @TempDir Path folder;

  private final long seed = Long.getLong("redrive.seed", new Random().nextLong());
  private final Random random = new Random(seed);
  private final Map<Shadow.Fate, Integer> fates = new EnumMap<>(Shadow.Fate.class);
  private final Map<String, Integer> progress = new HashMap<>();
  private SqliteDatabase undisturbed;
  private Map<String, Shadow> shadows = Map.of();
  private CrashingPostgresql server;
  private HikariDataSource pool;
  private DSLContext dsl;
  private String context = "seed " + seed;
  private int answers;

  @BeforeEach
  void open() throws Exception {
    System.out.printf("ServerKillTest with -Dredrive.seed=%d%n", seed);
    server = CrashingPostgresql.start(folder);
    pool = PostgresqlServer.pool(server.url(), 1);
    dsl = PostgresqlStore.dsl(pool);
    assertThat(JobQueue.on(dsl).find("none")).isEmpty();
    undisturbed = Shadow.database(folder);
    shadows = Shadow.of(QUEUES, undisturbed, seed, QueueTest.T0);
  }

  @AfterEach
  void close() throws IOException {
    pool.close();
    server.close();
    undisturbed.close();
  }

  @Test
  void everyAnswerOutlivesItsServerAndALostOneIsAnException() throws Exception {
    try (ChildJvm child =
        LoadChild.start(Backend.POSTGRESQL, server.url(), seed, QueueTest.T0, QUEUES)) {
      for (int round = 1; round <= ROUNDS; round++) {
        context = "seed " + seed + ", round " + round;
        for (int lines = random.nextInt(100); lines > 0; lines--) {
          hear(child);
        }
        server.crash();
        server.restart();
        awaitProgress(child);
      }
      child.say("stop");
      for (int running = QUEUES.size(); running > 0; ) {
        running -= hear(child) == Said.STOPPED ? 1 : 0;
      }
      shadows.forEach((name, shadow) -> shadow.isAlike(Snapshot.of(dsl, name), context));
      Invariants.check(pool, SQLDialect.POSTGRES);
    }
    assertThat(fates).as("calls without an answer").isNotEmpty();
    System.out.printf(
        "A server crashed %d times under %d answers; the calls without one were %s%n",
        ROUNDS, answers, fates);
  }

  /** Work goes on in every thread: after what it said while the server was away. */
  private void awaitProgress(ChildJvm child) throws IOException {
    child.say("echo");
    while (hear(child) != Said.ECHO) {}
    progress.clear();
    while (progress.size() < QUEUES.size() || Collections.min(progress.values()) < PROGRESS) {
      hear(child);
    }
  }

  private char hear(ChildJvm child) throws IOException {
    String line = child.hear();
    assertThat(line).as("%s: the process goes on", context).matches(Said::isWhole);
    Said said = Said.parse(line);
    switch (said.what()) {
      case Said.ANSWERED -> {
        shadows.get(said.queue()).follow(said);
        progress.merge(said.queue(), 1, Integer::sum);
        answers++;
      }
      case Said.FAILED -> {
        Snapshot rows = Snapshot.of(dsl, said.queue());
        fates.merge(shadows.get(said.queue()).goOnFrom(rows, context), 1, Integer::sum);
        child.say(said.queue());
      }
      default -> {}
    }
    return said.what();
  }
}
