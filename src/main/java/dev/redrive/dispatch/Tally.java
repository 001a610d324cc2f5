package dev.redrive.dispatch;

import dev.redrive.Arguments;

/**
 * How many jobs one {@link Dispatcher#runUntilIdle} handled, by what became of them. A job that was
 * retried and came up again counts each time. Jobs whose budget was spent when they came due were
 * quarantined by the claim, without a handler: those a {@link dev.redrive.JobListener} hears.
 *
 * @param done the handler said true
 * @param retried failed, and waits for the next run
 * @param dead failed, and is in quarantine
 * @param stale the lease was lost meanwhile, and nothing changed
 */
public record Tally(int done, int retried, int dead, int stale) {
  static final Tally NOTHING = new Tally(0, 0, 0, 0);

  /** Refuses negative counts. */
  public Tally {
    Arguments.range(done, "done", 0, Integer.MAX_VALUE);
    Arguments.range(retried, "retried", 0, Integer.MAX_VALUE);
    Arguments.range(dead, "dead", 0, Integer.MAX_VALUE);
    Arguments.range(stale, "stale", 0, Integer.MAX_VALUE);
  }

  /**
   * How many times the handler gave a verdict.
   *
   * @return the sum of all
   */
  public int total() {
    return done + retried + dead + stale;
  }

  Tally plus(Dispatched one) {
    return switch (one.result()) {
      case IDLE -> this;
      case DONE -> new Tally(done + 1, retried, dead, stale);
      case RETRIED -> new Tally(done, retried + 1, dead, stale);
      case DEAD -> new Tally(done, retried, dead + 1, stale);
      case STALE -> new Tally(done, retried, dead, stale + 1);
    };
  }
}
