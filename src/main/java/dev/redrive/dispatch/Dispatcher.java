package dev.redrive.dispatch;

import dev.redrive.Arguments;
import dev.redrive.FinishedAndClaimed;
import dev.redrive.JobEvent;
import dev.redrive.JobQueue;
import dev.redrive.Lease;
import dev.redrive.Outcome;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Claims jobs of a queue, hands them to a {@link Handler}, and stores its verdict: {@code true} is
 * done, {@link Retryable} is retried, {@link Permanent} is quarantined.
 *
 * <p>Anything else that comes out of the handler is no verdict: {@code false} and null reach the
 * caller as a {@link BadAckException}, any other exception or error as it is. Then nothing is
 * stored, because nobody knows whether the work happened. The job stays leased until a claim finds
 * its lease over; the attempt counts, so that a job that always breaks its worker ends in
 * quarantine.
 *
 * <p>The handler's effect lies outside the queue's database, so it has to come after the claim is
 * committed and before the verdict is. A dispatcher therefore refuses to run inside a transaction
 * of the host's, and to store a verdict in one that the handler left open.
 *
 * <p>A dispatcher may be used by several threads at once, though a lease tells more when each
 * thread has its own, with an owner of its own.
 */
public final class Dispatcher {
  private static final System.Logger LOG = System.getLogger(Dispatcher.class.getName());

  private final JobQueue queue;
  private final String owner;
  private final Duration lease;
  private final Handler handler;

  /** The finishes under way, and what each has led to as soon as the queue tells. */
  private final Map<Fence, Dispatched> endings = new ConcurrentHashMap<>();

  /**
   * A dispatcher that has not run yet.
   *
   * @param queue where the work is; its listeners hear what this dispatcher does
   * @param owner who claims, an identifier, unique per worker
   * @param lease how long a job may take, 1 ms to 3,650 days: longer than the handler ever needs,
   *     its timeouts included, or the job is handed to somebody else meanwhile
   * @param handler does the work
   * @throws IllegalArgumentException if an argument breaks its rule
   */
  public Dispatcher(JobQueue queue, String owner, Duration lease, Handler handler) {
    this.queue = Arguments.notNull(queue, "queue").listening(this::heard);
    this.owner = Arguments.identifier(owner, "owner");
    this.lease = Arguments.positive(lease, "lease");
    this.handler = Arguments.notNull(handler, "handler");
  }

  /**
   * Handles one job, if one is due.
   *
   * @return what became of it, as it is stored
   * @throws IllegalStateException inside a host's transaction; nothing was claimed, or if the
   *     handler left one open, the job stays leased
   * @throws BadAckException if the handler answered false or null; the job stays leased
   * @throws Exception what else the handler threw, with the job still leased, or trouble with the
   *     database. After trouble while storing a verdict, the job's row tells whether it was stored
   */
  public Dispatched runOnce() throws Exception {
    refuseHostTransaction();
    Optional<Lease> held = queue.claim(owner, lease);
    return held.isEmpty() ? Dispatched.IDLE : handle(held.get(), this::finishOnly).ending();
  }

  /**
   * Handles jobs one after the other until none is due. Each verdict is stored in one transaction
   * with the next claim, which on SQLite costs one wait for the disk instead of two.
   *
   * <p>Jobs that come due meanwhile are handled as well, so with a steady stream of work this does
   * not end by itself. Interrupting the thread ends it after the job at hand, if the handler lets
   * that come to a verdict; the thread is still interrupted then.
   *
   * <p>An exception ends the run at the job whose handling threw it. Every job before that one is
   * stored as the queue's listeners heard, no job after it was claimed, and the next call goes on.
   *
   * @return how many jobs became what
   * @throws IllegalStateException inside a host's transaction; nothing was claimed, or if the
   *     handler left one open, that job stays leased
   * @throws BadAckException if the handler answered false or null; that job stays leased
   * @throws Exception what else the handler threw, with that job still leased, or trouble with the
   *     database. After trouble while storing a verdict, the job's row tells whether it was stored
   */
  public Tally runUntilIdle() throws Exception {
    refuseHostTransaction();
    Tally tally = Tally.NOTHING;
    Optional<Lease> held = queue.claim(owner, lease);
    while (held.isPresent()) {
      Handled handled = handle(held.get(), this::finishAndGoOn);
      tally = tally.plus(handled.ending());
      held = handled.next();
    }
    return tally;
  }

  /** How a verdict is stored. */
  @FunctionalInterface
  private interface Store {
    FinishedAndClaimed finish(Lease held, Outcome outcome);
  }

  private FinishedAndClaimed finishOnly(Lease held, Outcome outcome) {
    return new FinishedAndClaimed(queue.finish(held, outcome), Optional.empty());
  }

  private FinishedAndClaimed finishAndGoOn(Lease held, Outcome outcome) {
    return queue.finishAndClaim(held, outcome, owner, lease);
  }

  private record Handled(Dispatched ending, Optional<Lease> next) {}

  /** What tells one claim from all others of the queue. */
  private record Fence(String id, long token) {}

  private Handled handle(Lease held, Store store) throws Exception {
    Outcome outcome = verdict(held);
    Fence fence = new Fence(held.id(), held.token());
    // an interrupt is for what comes next: it must not keep a verdict out of the database
    boolean interrupted = Thread.interrupted();
    Store last = interrupted ? this::finishOnly : store;
    try {
      refuseHostTransaction();
      endings.put(fence, Dispatched.IDLE);
      Optional<Lease> next = last.finish(held, outcome).next();
      return new Handled(endings.getOrDefault(fence, Dispatched.IDLE), next);
    } finally {
      endings.remove(fence);
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Told of what this dispatcher's calls did, by the call itself; some is not of its own lease. */
  private void heard(JobEvent event) {
    endings.computeIfPresent(
        new Fence(event.id(), event.token()),
        (fence, before) -> Dispatched.of(event).orElse(before));
  }

  private Outcome verdict(Lease held) throws Exception {
    try {
      Boolean answer = handler.handle(held);
      if (answer == null || !answer) {
        throw new BadAckException(held, "the handler answered " + answer);
      }
      return Outcome.ok();
    } catch (Retryable failed) {
      LOG.log(System.Logger.Level.DEBUG, () -> "to be retried: " + held, failed);
      return failed.outcome();
    } catch (Permanent failed) {
      LOG.log(System.Logger.Level.DEBUG, () -> "to be quarantined: " + held, failed);
      return failed.outcome();
    }
  }

  private void refuseHostTransaction() {
    if (queue.joinsHostTransaction()) {
      throw new IllegalStateException(
          "a Dispatcher must not run inside a transaction of the host's, whose rollback would give"
              + " the job to somebody else while the handler's effect stays;"
              + " commit first, or give it a JobQueue on the data source");
    }
  }
}
