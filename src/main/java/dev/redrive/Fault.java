package dev.redrive;

import org.jspecify.annotations.Nullable;

/** Makes a fault code of whatever a worker says went wrong: a failure must always be recordable. */
final class Fault {
  /** The fault of a lease that ran out before its owner finished. */
  static final String LEASE_EXPIRED = "lease-expired";

  private static final String UNNAMED = "unnamed";

  private Fault() {}

  /** The text as an identifier: every run of other characters is one {@code -}, the rest is cut. */
  static String code(@Nullable String text) {
    if (text == null) {
      return UNNAMED;
    }
    StringBuilder code = new StringBuilder();
    boolean gap = false;
    for (int i = 0; i < text.length() && code.length() < Arguments.MAX_IDENTIFIER_LENGTH; i++) {
      char c = text.charAt(i);
      if (code.isEmpty() ? Arguments.startsIdentifier(c) : Arguments.continuesIdentifier(c)) {
        if (gap && code.length() + 2 > Arguments.MAX_IDENTIFIER_LENGTH) {
          break; // no room for the gap: without it, two words would read as one
        }
        if (gap) {
          code.append('-');
        }
        code.append(c);
        gap = false;
      } else {
        gap = !code.isEmpty();
      }
    }
    return code.isEmpty() ? UNNAMED : code.toString();
  }
}
