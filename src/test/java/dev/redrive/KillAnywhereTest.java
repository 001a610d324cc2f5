package dev.redrive;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redrive.LoadChild.Said;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jooq.SQLDialect;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A process that makes every call there is, in several threads on a SQLite file, and is killed at
 * any moment, again and again. The moment is drawn: after so many lines that it has said, when a
 * call of one kind begins, or some lines later. How often is the system property {@code
 * redrive.proof.rounds}; {@code redrive.seed} repeats what was drawn.
 */
@ParameterizedClass(name = "{0}")
@EnumSource(Journal.class)
class KillAnywhereTest {
  private static final int ROUNDS = Integer.getInteger("redrive.proof.rounds", 20);
  private static final String SURVIVOR = "ads";

  @Parameter Journal journal;
  @TempDir Path folder;

  private final long seed = Long.getLong("redrive.seed", new Random().nextLong());
  private final Random random = new Random(seed);
  private final Map<Shadow.Fate, Integer> fates = new EnumMap<>(Shadow.Fate.class);
  private SqliteDatabase undisturbed;
  private Map<String, Shadow> victims = Map.of();
  private Map<String, Shadow> survivor = Map.of();
  private int answers;
  private Path file;
  private long now = QueueTest.T0;

  @BeforeEach
  void open() throws SQLException {
    System.out.printf("KillAnywhereTest on %s with -Dredrive.seed=%d%n", journal, seed);
    file = folder.resolve("queue.db");
    undisturbed = Shadow.database(folder);
    victims = Shadow.of(List.of("orders", "mails", "bills", SURVIVOR), undisturbed);
    survivor = Map.of(SURVIVOR, victims.remove(SURVIVOR));
  }

  @AfterEach
  void close() {
    undisturbed.close();
  }

  @Test
  void everyAnswerOutlivesItsProcessAndNothingIsHalfDone() throws Exception {
    for (int round = 1; round <= ROUNDS; round++) {
      startAndKill(random.nextLong());
      compare(victims, "seed " + seed + ", round " + round);
    }
    System.out.printf(
        "%d processes were killed after %d answers; the calls under way were %s%n",
        ROUNDS, answers, fates);
  }

  /** It finds what the others leave, and is neither locked out nor fails. */
  @Test
  void aProcessThatLivesGoesOnWhileOthersAreKilled() throws Exception {
    try (LoadProcess living = start(survivor, random.nextLong())) {
      for (int round = 1; round <= Math.max(1, ROUNDS / 10); round++) {
        startAndKill(random.nextLong());
        living.awaitProgress(KillAnywhereTest::hasNotFailed);
        compare(victims, "seed " + seed + ", round " + round);
      }
      living.stop(KillAnywhereTest::hasNotFailed);
    }
    try (SqliteDatabase database = opened()) {
      survivor.forEach(
          (name, shadow) -> shadow.isAlike(Snapshot.of(database.dsl(), name), "seed " + seed));
    }
  }

  private LoadProcess start(Map<String, Shadow> shadows, long ofThisRound) throws IOException {
    shadows.values().forEach(shadow -> now = Math.max(now, shadow.now()));
    Backend backend = journal == Journal.WAL ? Backend.SQLITE_WAL : Backend.SQLITE;
    return LoadProcess.start(backend, "jdbc:sqlite:" + file, shadows, ofThisRound, now);
  }

  private void startAndKill(long ofThisRound) throws Exception {
    Moment moment = Moment.drawn(random);
    try (LoadProcess process = start(victims, ofThisRound)) {
      List<Said> heard = new ArrayList<>();
      while (!moment.isNow(heard)) {
        heard.add(process.hear());
        hasNotFailed(heard.get(heard.size() - 1));
      }
      process.kill().forEach(KillAnywhereTest::hasNotFailed);
      answers += process.answers();
    }
  }

  private static void hasNotFailed(Said said) {
    assertThat(said.what()).as("%s", said).isNotEqualTo(Said.FAILED);
  }

  /** When to kill: so many lines, then the next call of this kind, then some lines more. */
  private record Moment(int before, Load.Verb verb, int after) {
    /** Those that send several statements: only they can be half done. */
    private static final List<Load.Verb> VERBS =
        List.of(
            Load.Verb.SUBMIT_ALL,
            Load.Verb.CLAIM,
            Load.Verb.FINISH_ALL,
            Load.Verb.FINISH_AND_CLAIM,
            Load.Verb.REDRIVE,
            Load.Verb.REDRIVE_BULK,
            Load.Verb.PURGE_BULK);

    static Moment drawn(Random random) {
      return new Moment(
          random.nextInt(60), VERBS.get(random.nextInt(VERBS.size())), random.nextInt(6));
    }

    boolean isNow(List<Said> lines) {
      int at = lines.size() - 1 - after;
      return at >= before && lines.get(at).isCall(verb);
    }
  }

  private SqliteDatabase opened() {
    return Engine.sqlite(file).journal(journal).open();
  }

  /** Opens the file as the next process would. */
  private void compare(Map<String, Shadow> shadows, String context) throws SQLException {
    try (SqliteDatabase database = opened()) {
      Invariants.check(database.dataSource(), SQLDialect.SQLITE);
      shadows.forEach(
          (name, shadow) ->
              fates.merge(
                  shadow.goOnFrom(Snapshot.of(database.dsl(), name), context), 1, Integer::sum));
    }
  }
}
