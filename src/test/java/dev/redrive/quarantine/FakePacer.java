package dev.redrive.quarantine;

import java.util.ArrayList;
import java.util.List;

/** Time that moves when somebody waits, and by nothing else unless told. */
final class FakePacer implements Pacer {
  final List<Long> pauses = new ArrayList<>();
  private long nanos = -5_000_000_000L;
  private Runnable whileWaiting = () -> {};

  void whileWaiting(Runnable action) {
    this.whileWaiting = action;
  }

  void passes(long more) {
    nanos += more;
  }

  @Override
  public long nanos() {
    return nanos;
  }

  @Override
  public void pause(long wait) throws InterruptedException {
    pauses.add(wait);
    nanos += wait;
    whileWaiting.run();
    if (Thread.interrupted()) {
      throw new InterruptedException("while waiting");
    }
  }
}
