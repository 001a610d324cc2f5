package dev.redrive;

import static org.assertj.core.api.Assertions.fail;

import org.junit.jupiter.api.Assumptions;

/** Tests that need something of the machine. */
final class Proof {
  private Proof() {}

  /** Ends a test that the machine has no means for: with {@code -Pproof} it fails. */
  static <T> T cannotRun(String test, String why) {
    String message = test + " CANNOT RUN HERE: " + why;
    System.err.println(message);
    if (Boolean.getBoolean("redrive.proof.required")) {
      fail(message);
    }
    return Assumptions.abort(message);
  }
}
