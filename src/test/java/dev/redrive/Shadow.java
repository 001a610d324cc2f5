package dev.redrive;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.jooq.DSLContext;
import org.jooq.TransactionContext;
import org.jooq.TransactionListener;
import org.jooq.TransactionListenerProvider;

/**
 * The same load on a database that nothing interrupts. What it answers is what the interrupted one
 * has to have answered, and what it holds is what has to be found there.
 */
final class Shadow {
  private final DSLContext dsl;
  private final String name;
  private final Commits commits = new Commits();
  private final Load load;
  private Snapshot found;

  private Shadow(DSLContext dsl, String name) {
    TransactionListenerProvider watching = () -> commits;
    this.dsl = dsl;
    this.name = name;
    this.load = new Load(dsl.configuration().derive(watching).dsl(), name);
    this.found = rows();
  }

  /** All on one database, which from now on waits for no disk, since nothing happens to it. */
  static Map<String, Shadow> of(List<String> names, SqliteDatabase database) throws SQLException {
    Map<String, Shadow> shadows = new TreeMap<>();
    for (String name : names) {
      shadows.put(name, new Shadow(database.dsl(), name));
    }
    database.dsl().transaction(looksAtTheConnection -> {});
    try (Connection only = database.dataSource().getConnection();
        Statement statement = only.createStatement()) {
      statement.execute("pragma synchronous = off");
    }
    return shadows;
  }

  static SqliteDatabase database(Path folder) {
    return Engine.sqlite(folder.resolve("shadow.db")).journal(Journal.WAL).connections(1).open();
  }

  /** As a process begins that follows one that was killed. */
  void start(long seed, long now) {
    load.start(seed, now);
  }

  long now() {
    return load.now();
  }

  private Snapshot rows() {
    return Snapshot.of(dsl, name);
  }

  /** Compares the answer to a call, and goes one call further. */
  void follow(LoadChild.Said said) {
    Load.Verb verb = load.next();
    assertThat(load.turn()).isEqualTo(said.turn());
    assertThat(said.text())
        .as("%s, call %d, a %s", name, said.turn(), verb)
        .isEqualTo(load.answer());
    load.learn();
  }

  /** Compares the rows that are found after all calls were answered. */
  void isAlike(Snapshot rows, String context) {
    assertThat(rows.equals(rows()))
        .as("%s: %s is as if nothing had happened: %s", context, name, rows.differenceTo(rows()))
        .isTrue();
  }

  /** What became of a call whose answer nobody heard. */
  enum Fate {
    NOT_STORED,
    PARTLY_STORED,
    STORED
  }

  /**
   * Compares the rows that are found after a call without an answer, and goes on from there. They
   * have to be those of before the call, of after it, or, where a call is several transactions, of
   * between.
   */
  Fate goOnFrom(Snapshot rows, String context) {
    Snapshot before = rows();
    Load.Verb verb = load.next();
    Fate fate = Fate.NOT_STORED;
    if (!rows.equals(before)) {
      fate = endsAt(rows, before, verb) ? Fate.PARTLY_STORED : Fate.STORED;
    }
    assertThat(rows.equals(rows()))
        .as(
            "%s: call %d on %s, a %s, is stored whole or not at all: %s",
            context, load.turn(), name, verb, rows.differenceTo(rows()))
        .isTrue();
    assertThat(found.wornBy(rows)).as("%s: tokens that went down", context).isEmpty();
    found = rows;
    return fate;
  }

  /** Makes the call, but not beyond these rows; whether it ended there, and not by itself. */
  private boolean endsAt(Snapshot rows, Snapshot before, Load.Verb verb) {
    commits.end = point -> point.equals(rows) && before.mayStopAt(verb, point);
    try {
      assertThat(load.answer()).isNotEmpty();
      return false;
    } catch (RuntimeException ended) {
      assertThat(commits.ended).as("%s", ended).isTrue();
      return true;
    } finally {
      commits.end = point -> false;
      commits.ended = false;
    }
  }

  /** Ends a call after one of its commits, as a crash would. */
  private final class Commits implements TransactionListener {
    private Predicate<Snapshot> end = point -> false;
    private boolean ended;

    @Override
    public void commitEnd(TransactionContext context) {
      if (end.test(rows())) {
        ended = true;
        throw new IllegalStateException("ended here");
      }
    }
  }
}
