package dev.redrive.quarantine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redrive.ChildJvm;
import dev.redrive.Engine;
import dev.redrive.JobQueue;
import dev.redrive.Outcome;
import dev.redrive.QueueTest;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Instant;
import org.jooq.DSLContext;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.Test;

/** A process that ends in the middle of a bulk redrive. */
class BulkCrashTest extends QueueTest {
  private static final String SQLITE = "jdbc:sqlite:";

  /** The process: redrives seven of all dead jobs and halts. */
  static final class Halting {
    private Halting() {}

    public static void main(String[] arguments) {
      JobQueue queue =
          JobQueue.builder(dsl(arguments[0])).clock(() -> Instant.ofEpochMilli(T0 + 1)).build();
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

    private static DSLContext dsl(String url) {
      return url.startsWith(SQLITE)
          ? Engine.sqlite(Path.of(url.substring(SQLITE.length()))).open().dsl()
          : DSL.using(url);
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
    String url;
    try (Connection connection = store.dataSource().getConnection()) {
      url = connection.getMetaData().getURL();
    }
    try (ChildJvm child = ChildJvm.start(Halting.class, url)) {
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
