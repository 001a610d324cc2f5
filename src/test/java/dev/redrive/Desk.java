package dev.redrive;

import static dev.redrive.QueueTest.DEADLINE;
import static dev.redrive.QueueTest.LEASE;
import static dev.redrive.QueueTest.T0;
import static dev.redrive.QueueTest.job;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.jooq.DSLContext;

/**
 * A queue with work for every kind of call, under a clock that stands still: the same call on two
 * desks leads to the same rows.
 *
 * @param queue the queue that the calls are made on
 * @param clock its clock
 * @param held two live leases of owner A
 * @param dead one death
 */
record Desk(JobQueue queue, QueueTest.TestClock clock, List<Lease> held, Job dead) {

  /**
   * Besides: one pending job that is due, one that will be spent in a second, one done for long.
   */
  static Desk lay(DSLContext dsl, String name) {
    QueueTest.TestClock clock = new QueueTest.TestClock();
    JobQueue queue = JobQueue.builder(dsl).name(name).clock(clock).build();
    clock.at(T0 - Duration.ofDays(2).toMillis());
    assertThat(queue.submit(job("done")).created()).isTrue();
    assertThat(queue.finish(queue.claim("A", LEASE).orElseThrow(), Outcome.ok())).isTrue();
    clock.at(T0);
    assertThat(queue.submit(job("dead")).created()).isTrue();
    Lease failed = queue.claim("A", LEASE).orElseThrow();
    assertThat(queue.finish(failed, Outcome.permanent("http-422"))).isTrue();
    assertThat(queue.submitAll(List.of(job("held-1"), job("held-2")))).hasSize(2);
    List<Lease> held = queue.claim("A", DEADLINE, 2);
    assertThat(held).hasSize(2);
    assertThat(queue.submit(job("due")).created()).isTrue();
    assertThat(queue.submit(job("spent").deadline(Duration.ofMillis(500))).created()).isTrue();
    return new Desk(queue, clock, held, queue.find("dead").orElseThrow());
  }

  /** The same work through another way to the queue. */
  Desk through(JobQueue other) {
    return new Desk(other, clock, held, dead);
  }

  /** The same work in a copy of its rows. */
  Desk of(DSLContext copy, String name) {
    QueueTest.TestClock anew = new QueueTest.TestClock();
    JobQueue other = JobQueue.builder(copy).name(name).clock(anew).build();
    return new Desk(
        other,
        anew,
        held.stream().map(lease -> of(lease, name)).toList(),
        other.find(dead.id()).orElseThrow());
  }

  private static Lease of(Lease lease, String queue) {
    return new Lease(
        queue,
        lease.id(),
        lease.owner(),
        lease.token(),
        lease.attempt(),
        lease.maxAttempts(),
        lease.leaseUntil(),
        lease.deadline(),
        lease.payload());
  }
}
