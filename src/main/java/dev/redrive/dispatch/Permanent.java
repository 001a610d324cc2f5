package dev.redrive.dispatch;

import dev.redrive.Outcome;
import org.jspecify.annotations.Nullable;

/**
 * A {@link Handler}'s verdict: it failed in a way that no repetition can help, so the job goes into
 * quarantine. The fault is a short code such as {@code http-422}; {@link Outcome} says what becomes
 * of text that is none.
 */
public class Permanent extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** A short code. */
  private final String fault;

  /**
   * Don't try again.
   *
   * @param fault what went wrong
   */
  public Permanent(String fault) {
    this(fault, null);
  }

  /**
   * Don't try again.
   *
   * @param fault what went wrong
   * @param cause for the log; it is not stored; null if there is none
   */
  public Permanent(String fault, @Nullable Throwable cause) {
    super(fault, cause);
    this.fault = new Outcome.Permanent(fault).fault();
  }

  /**
   * What went wrong.
   *
   * @return the code, an identifier
   */
  public String fault() {
    return fault;
  }

  Outcome outcome() {
    return Outcome.permanent(fault);
  }
}
