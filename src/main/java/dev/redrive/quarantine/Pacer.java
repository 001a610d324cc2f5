package dev.redrive.quarantine;

import java.util.concurrent.TimeUnit;

/** Time that only goes forward, and waiting for it: a wall clock that jumps moves neither. */
interface Pacer {
  Pacer SYSTEM =
      new Pacer() {
        @Override
        public long nanos() {
          return System.nanoTime();
        }

        @Override
        public void pause(long nanos) throws InterruptedException {
          TimeUnit.NANOSECONDS.sleep(nanos);
        }
      };

  /** Nanoseconds since some moment; only differences mean anything. */
  long nanos();

  void pause(long nanos) throws InterruptedException;
}
