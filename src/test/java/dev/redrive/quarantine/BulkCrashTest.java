package dev.redrive.quarantine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redrive.Backend;
import dev.redrive.ChildJvm;
import dev.redrive.JobQueue;
import dev.redrive.Outcome;
import dev.redrive.QueueTest;
import java.time.Instant;
import org.jooq.DSLContext;
import org.junit.jupiter.api.Test;

/** A process that ends in the middle of a bulk redrive. */
class BulkCrashTest extends QueueTest {
  /** The process: redrives seven of all dead jobs and halts. */
  static final class Halting {
    private Halting() {}

    public static void main(String[] arguments) {
      DSLContext dsl = Backend.valueOf(arguments[0]).connect(arguments[1]);
      JobQueue queue = JobQueue.builder(dsl).clock(() -> Instant.ofEpochMilli(T0 + 1)).build();
      BulkReport report =
          Quarantine.of(queue)
              .redrive(Filter.all())
              .perSecond(1_000)
              .onProgress(
                  progress -> {
                    if (progress.redriven() == 7) {
                      Runtime.getRuntime().halt(73);
                    }
                  })
              .run(ORDER);
      System.out.println(report);
    }
  }

  @Test
  void whatWasNotRedrivenIsStillDeadAndAnotherRunDoesTheRest() throws Exception {
    for (int i = 0; i < 20; i++) {
      assertThat(queue.submit(job("j" + i)).created()).isTrue();
    }
    queue
        .claim("A", LEASE, 100)
        .forEach(lease -> assertThat(queue.finish(lease, Outcome.permanent("x"))).isTrue());
    try (ChildJvm child = ChildJvm.start(Halting.class, backend.name(), store.url())) {
      assertThat(child.exitCode()).isEqualTo(73);
    }
    assertThat(auditRows()).isEqualTo(7);
    assertThat(rows("select id from jobs where state = 'pending'")).hasSize(7);
    BulkReport rest =
        Quarantine.of(queue).redrive(Filter.all()).pacedBy(new FakePacer()).run(ORDER);
    assertThat(rest.redriven()).hasSize(13);
    assertThat(auditRows()).isEqualTo(20);
  }
}
