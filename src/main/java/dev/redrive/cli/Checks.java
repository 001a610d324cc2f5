package dev.redrive.cli;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;

/** What has to be true for the story to have gone as told. */
final class Checks {
  private record Check(String claim, boolean holds) {}

  private final List<Check> checks = new ArrayList<>();

  void that(String claim, boolean holds) {
    checks.add(new Check(claim, holds));
  }

  boolean allHold() {
    return checks.stream().allMatch(Check::holds);
  }

  void print(PrintStream out) {
    for (Check check : checks) {
      out.printf("  %-6s %s%n", check.holds() ? "ok" : "FAILED", check.claim());
    }
  }
}
