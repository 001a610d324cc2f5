package dev.redrive.quarantine;

import dev.redrive.Arguments;
import java.time.Instant;
import java.util.Optional;

/**
 * Which part of a list: {@code Page.of(50)} is its beginning, the next one comes with each answer.
 *
 * @param limit the most jobs to answer, 1 to 1,000
 * @param payloads whether the jobs come with their payloads
 * @param after the last job of the page before; empty for the first page
 */
public record Page(int limit, boolean payloads, Optional<Position> after) {
  private static final int MAX_LIMIT = 1_000;

  /** Refuses bad input, naming argument and rule. */
  public Page {
    Arguments.range(limit, "limit", 1, MAX_LIMIT);
    Arguments.notNull(after, "after");
  }

  /**
   * A place in the order of a list.
   *
   * @param diedAt when the job there died
   * @param id its business ID
   */
  public record Position(Instant diedAt, String id) {
    /** Refuses bad input, naming argument and rule. */
    public Position {
      Arguments.time(diedAt, "diedAt");
      Arguments.id(id);
    }

    static Position of(DeadJob job) {
      return new Position(job.diedAt(), job.death().id());
    }
  }

  /**
   * The beginning of a list, without payloads.
   *
   * @param limit the most jobs to answer, 1 to 1,000
   * @return the page
   * @throws IllegalArgumentException if out of range
   */
  public static Page of(int limit) {
    return new Page(limit, false, Optional.empty());
  }

  /**
   * The same part, with payloads.
   *
   * @return the page
   */
  public Page withPayloads() {
    return new Page(limit, true, after);
  }

  /**
   * As many jobs after another one.
   *
   * @param position the place after which it begins; the job there need not be dead any more
   * @return the page
   * @throws IllegalArgumentException if null
   */
  public Page after(Position position) {
    return new Page(limit, payloads, Optional.of(Arguments.notNull(position, "position")));
  }
}
