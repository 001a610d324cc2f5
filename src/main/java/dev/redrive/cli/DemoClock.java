package dev.redrive.cli;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;

/** A clock that stands still until the story says that time has passed. */
final class DemoClock implements InstantSource {
  private volatile Instant now = Instant.now().truncatedTo(ChronoUnit.MILLIS);

  void pass(Duration time) {
    now = now.plus(time);
  }

  @Override
  public Instant instant() {
    return now;
  }
}
