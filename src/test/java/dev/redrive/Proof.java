package dev.redrive;

import org.opentest4j.TestAbortedException;

/** Tests that need something of the machine. */
final class Proof {
  private Proof() {}

  /** What ends a test that the machine has no means for: with {@code -Pproof}, a failure. */
  static TestAbortedException cannotRun(String test, String why) {
    String message = test + " CANNOT RUN HERE: " + why;
    System.err.println(message);
    if (Boolean.getBoolean("redrive.proof.required")) {
      throw new AssertionError(message);
    }
    return new TestAbortedException(message);
  }
}
