package dev.redrive;

import static dev.redrive.QueueTest.DEADLINE;
import static dev.redrive.QueueTest.LEASE;
import static dev.redrive.QueueTest.ORDER;
import static dev.redrive.QueueTest.T0;
import static dev.redrive.QueueTest.job;

import dev.redrive.quarantine.BulkReport;
import dev.redrive.quarantine.Filter;
import dev.redrive.quarantine.Quarantine;
import java.time.Duration;
import java.util.List;

/** Every kind of call, made on the work of a {@link Desk}. */
enum Call {
  SUBMIT {
    @Override
    boolean works(Desk desk) {
      return desk.queue().submit(job("new")).created();
    }
  },
  SUBMIT_ALL {
    @Override
    boolean works(Desk desk) {
      return desk.queue().submitAll(List.of(job("new-2"), job("new-1"), job("new-3"))).stream()
          .allMatch(Submission::created);
    }
  },
  CLAIM {
    @Override
    boolean works(Desk desk) {
      return desk.queue().claim("B", LEASE).isPresent();
    }
  },
  /** A claim that has to bury first. */
  BURY_AND_CLAIM {
    @Override
    boolean works(Desk desk) {
      desk.clock().at(T0 + 1_000);
      return desk.queue().claim("B", LEASE).isPresent();
    }
  },
  RENEW {
    @Override
    boolean works(Desk desk) {
      return desk.queue().renew(desk.held().get(0), DEADLINE.multipliedBy(2));
    }
  },
  RELEASE {
    @Override
    boolean works(Desk desk) {
      return desk.queue().release(desk.held().get(0));
    }
  },
  FINISH {
    @Override
    boolean works(Desk desk) {
      return desk.queue().finish(desk.held().get(0), Outcome.ok());
    }
  },
  FINISH_ALL {
    @Override
    boolean works(Desk desk) {
      return desk
          .queue()
          .finishAll(
              List.of(
                  new Finish(desk.held().get(1), Outcome.permanent("http-422")),
                  new Finish(desk.held().get(0), Outcome.ok())))
          .stream()
          .allMatch(finished -> finished);
    }
  },
  FINISH_AND_CLAIM {
    @Override
    boolean works(Desk desk) {
      FinishedAndClaimed both =
          desk.queue().finishAndClaim(desk.held().get(0), Outcome.ok(), "B", LEASE);
      return both.finished() && both.next().isPresent();
    }
  },
  FINISH_BURY_AND_CLAIM {
    @Override
    boolean works(Desk desk) {
      desk.clock().at(T0 + 1_000);
      return FINISH_AND_CLAIM.works(desk);
    }
  },
  INVESTIGATE {
    @Override
    boolean works(Desk desk) {
      return desk.queue().investigate(desk.dead(), "OPS-1", "lee");
    }
  },
  REDRIVE {
    @Override
    boolean works(Desk desk) {
      return desk.queue().redrive(desk.dead(), ORDER);
    }
  },
  /** Tells of single deaths that failed in its report, which has to say why. */
  BULK_REDRIVE {
    @Override
    boolean works(Desk desk) {
      BulkReport report =
          Quarantine.of(desk.queue()).redrive(Filter.all()).perSecond(1_000).run(ORDER);
      if (!report.failed().isEmpty()) {
        throw report.lastError().orElseThrow();
      }
      return report.end() == BulkReport.End.COMPLETE && report.redriven().size() == 1;
    }
  },
  PURGE {
    @Override
    boolean works(Desk desk) {
      return desk.queue().purgeDone(Duration.ofHours(24), 10) == 1;
    }
  },
  REPORT {
    @Override
    boolean works(Desk desk) {
      return Quarantine.of(desk.queue()).report().dead().count() == 1;
    }
  },
  FIND {
    @Override
    boolean works(Desk desk) {
      return desk.queue().find("due").isPresent();
    }
  };

  /** Makes the call: whether it answered that all it was to do is done. */
  abstract boolean works(Desk desk);

  boolean reads() {
    return this == FIND || this == REPORT;
  }
}
