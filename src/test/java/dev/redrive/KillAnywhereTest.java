package dev.redrive;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redrive.LoadChild.Said;
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
  private static final List<String> QUEUES = List.of("orders", "mails", "bills");

  @Parameter Journal journal;
  @TempDir Path folder;

  private final long seed = Long.getLong("redrive.seed", new Random().nextLong());
  private final Random random = new Random(seed);
  private final Map<Shadow.Fate, Integer> fates = new EnumMap<>(Shadow.Fate.class);
  private SqliteDatabase undisturbed;
  private Map<String, Shadow> shadows = Map.of();
  private Path file;
  private long now = QueueTest.T0;

  @BeforeEach
  void open() throws SQLException {
    System.out.printf("KillAnywhereTest on %s with -Dredrive.seed=%d%n", journal, seed);
    file = folder.resolve("queue.db");
    undisturbed = Shadow.database(folder);
    shadows = Shadow.of(QUEUES, undisturbed, seed, now);
  }

  @AfterEach
  void close() {
    undisturbed.close();
  }

  @Test
  void everyAnswerOutlivesItsProcessAndNothingIsHalfDone() throws Exception {
    int answers = 0;
    for (int round = 1; round <= ROUNDS; round++) {
      List<Said> said = sayUntilKilled(random.nextLong());
      answers += followed(said);
      compare("seed " + seed + ", round " + round);
    }
    System.out.printf(
        "%d processes were killed after %d answers; the calls under way were %s%n",
        ROUNDS, answers, fates);
  }

  private List<Said> sayUntilKilled(long ofThisRound) throws Exception {
    shadows.values().forEach(shadow -> now = Math.max(now, shadow.now()));
    shadows.values().forEach(shadow -> shadow.startAgain(ofThisRound, now));
    Backend backend = journal == Journal.WAL ? Backend.SQLITE_WAL : Backend.SQLITE;
    List<String> lines = new ArrayList<>();
    Moment moment = Moment.drawn(random);
    try (ChildJvm child = LoadChild.start(backend, "jdbc:sqlite:" + file, ofThisRound, now, QUEUES)) {
      while (!moment.isNow(lines)) {
        lines.add(child.hear());
        assertThat(lines).doesNotContain("null");
      }
      child.kill();
      lines.addAll(child.lastWords());
    }
    return lines.stream().filter(Said::isWhole).map(Said::parse).toList();
  }

  /** When to kill: so many lines, then the next call of this kind, then some lines more. */
  private record Moment(int before, Load.Verb verb, int after) {
    static Moment drawn(Random random) {
      Load.Verb[] verbs = Load.Verb.values();
      return new Moment(
          random.nextInt(60), verbs[random.nextInt(verbs.length)], random.nextInt(4));
    }

    boolean isNow(List<String> lines) {
      int last = lines.size() - 1 - after;
      return last >= before && lines.get(last).contains(" > " + verb + " ");
    }
  }

  private int followed(List<Said> all) {
    int answers = 0;
    for (Said said : all) {
      assertThat(said.what()).as("%s", said).isNotEqualTo(Said.FAILED);
      if (said.what() == Said.ANSWERED) {
        shadows.get(said.queue()).follow(said);
        answers++;
      }
    }
    return answers;
  }

  /** Opens the file as the next process would, after it was found whole. */
  private void compare(String context) throws SQLException {
    try (SqliteDatabase database = Engine.sqlite(file).journal(journal).open()) {
      Invariants.check(database.dataSource(), SQLDialect.SQLITE);
      shadows.forEach(
          (name, shadow) ->
              fates.merge(
                  shadow.goOnFrom(Snapshot.of(database.dsl(), name), context), 1, Integer::sum));
    }
  }
}
