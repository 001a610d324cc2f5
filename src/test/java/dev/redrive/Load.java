package dev.redrive;

import dev.redrive.quarantine.BulkProgress;
import dev.redrive.quarantine.BulkReport;
import dev.redrive.quarantine.DeadJob;
import dev.redrive.quarantine.Filter;
import dev.redrive.quarantine.Page;
import dev.redrive.quarantine.Quarantine;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jooq.DSLContext;

/**
 * A worker, an operator and a clean-up in one: makes all calls that change anything, on a queue of
 * its own, with a clock that it moves itself. The seed and the rows decide every call and every
 * answer, so that the same load on another database does the same, whatever other queues do beside.
 */
final class Load {
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final Duration DAY = Duration.ofHours(24);

  /** After so long, every claim buries what is spent. */
  private static final int STEP_MILLIS = 1_000;

  private static final Redrive ORDER =
      Redrive.note("OPS-17").approvedBy("kim").deadline(Duration.ofMinutes(5));

  /** What can be called, and how often it is. */
  enum Verb {
    SUBMIT(12),
    SUBMIT_ALL(9),
    CLAIM(12),
    CLAIM_MANY(9),
    RENEW(5),
    RELEASE(4),
    FINISH(15),
    FINISH_ALL(8),
    FINISH_AND_CLAIM(8),
    INVESTIGATE(4),
    REDRIVE(8),
    REDRIVE_BULK(4),
    PURGE(3),
    PURGE_BULK(2);

    private final int weight;

    Verb(int weight) {
      this.weight = weight;
    }

    private static Verb drawn(Random random) {
      int rest = random.nextInt(Stream.of(values()).mapToInt(verb -> verb.weight).sum());
      for (Verb verb : values()) {
        rest -= verb.weight;
        if (rest < 0) {
          return verb;
        }
      }
      throw new IllegalStateException();
    }
  }

  private final String name;
  private final JobQueue queue;
  private final JobQueue aDayLater;
  private final List<Lease> held = new ArrayList<>();
  private final List<Lease> ended = new ArrayList<>();
  private final List<Death> seen = new ArrayList<>();

  private long seed;
  private long now;
  private int turn;
  private Verb verb = Verb.SUBMIT;
  private Random random = new Random();
  private Runnable lesson = () -> {};

  Load(DSLContext dsl, String name) {
    this.name = name;
    this.queue = JobQueue.builder(dsl).name(name).clock(() -> Instant.ofEpochMilli(now)).build();
    this.aDayLater =
        JobQueue.builder(dsl)
            .name(name)
            .clock(() -> Instant.ofEpochMilli(now).plus(DAY).plusSeconds(60))
            .build();
  }

  /** Begins, as a process does that knows of no lease and no death. */
  void start(long newSeed, long newNow) {
    seed = newSeed;
    now = newNow;
    turn = 0;
    held.clear();
    ended.clear();
    seen.clear();
  }

  long now() {
    return now;
  }

  /** The number of the call that was chosen last. */
  int turn() {
    return turn;
  }

  /** Chooses the next call, and lets some time pass. */
  Verb next() {
    turn++;
    random =
        new Random(new SplittableRandom(seed + 1_000_003L * name.hashCode() + turn).nextLong());
    now += STEP_MILLIS + random.nextInt(3 * STEP_MILLIS);
    verb = Verb.drawn(random);
    boolean needsLease =
        switch (verb) {
          case RENEW, RELEASE, FINISH, FINISH_ALL, FINISH_AND_CLAIM -> true;
          default -> false;
        };
    if (needsLease && held.isEmpty()) {
      verb = Verb.CLAIM;
    }
    return verb;
  }

  /** Makes the call that was chosen, and tells what it answered. */
  String answer() {
    lesson = () -> {};
    return switch (verb) {
      case SUBMIT -> text(queue.submit(job()));
      case SUBMIT_ALL ->
          queue.submitAll(Stream.generate(this::job).limit(2 + random.nextInt(5)).toList()).stream()
              .map(Load::text)
              .collect(Collectors.joining(" "));
      case CLAIM -> took(queue.claim("w", LEASE).stream().toList());
      case CLAIM_MANY -> took(queue.claim("w", LEASE, 2 + random.nextInt(4)));
      case RENEW -> renew(lease());
      case RELEASE -> release(lease());
      case FINISH -> finish(lease());
      case FINISH_ALL -> finishAll();
      case FINISH_AND_CLAIM -> finishAndClaim();
      case INVESTIGATE -> investigate();
      case REDRIVE -> redrive();
      case REDRIVE_BULK -> redriveBulk();
      case PURGE -> "gone " + aDayLater.purgeDone(DAY, 3);
      case PURGE_BULK -> Quarantine.of(aDayLater).purgeDone(DAY).batch(2).run().toString();
    };
  }

  private NewJob job() {
    return NewJob.of("j" + random.nextInt(60), "payload " + random.nextInt(8) / 7)
        .maxAttempts(1 + random.nextInt(3))
        .deadline(Duration.ofSeconds(60 + random.nextInt(600)));
  }

  /** Mostly a lease that is held, at times one that is not any more. */
  private Lease lease() {
    boolean late = held.isEmpty() || (!ended.isEmpty() && random.nextInt(8) == 0);
    List<Lease> some = late ? ended : held;
    return some.get(random.nextInt(some.size()));
  }

  private Outcome failure() {
    return random.nextBoolean()
        ? Outcome.retry("http-503", Duration.ofMillis(random.nextInt(20_000)))
        : Outcome.permanent("http-422");
  }

  private Outcome outcome() {
    return random.nextInt(3) == 0 ? Outcome.ok() : failure();
  }

  private String took(List<Lease> leases) {
    lesson = () -> held.addAll(leases);
    return leases.isEmpty()
        ? "nothing"
        : leases.stream().map(Load::text).collect(Collectors.joining(" "));
  }

  private String renew(Lease lease) {
    return text(lease) + " renewed " + queue.renew(lease, LEASE);
  }

  private String release(Lease lease) {
    boolean released = queue.release(lease);
    lesson = () -> end(List.of(lease));
    return text(lease) + " released " + released;
  }

  private String finish(Lease lease) {
    boolean finished = queue.finish(lease, outcome());
    lesson = () -> end(List.of(lease));
    return text(lease) + " finished " + finished;
  }

  /** One of them done at most: a purge takes the oldest first, and these would be equally old. */
  private String finishAll() {
    List<Lease> some = new ArrayList<>(held);
    Collections.shuffle(some, random);
    List<Lease> leases = some.subList(0, Math.min(some.size(), 4));
    List<Finish> finishes = new ArrayList<>();
    for (Lease lease : leases) {
      finishes.add(new Finish(lease, finishes.isEmpty() ? Outcome.ok() : failure()));
    }
    List<Boolean> finished = queue.finishAll(finishes);
    lesson = () -> end(leases);
    return leases.stream().map(Load::text).toList() + " finished " + finished;
  }

  private String finishAndClaim() {
    Lease lease = lease();
    FinishedAndClaimed both = queue.finishAndClaim(lease, outcome(), "w", LEASE);
    lesson =
        () -> {
          end(List.of(lease));
          both.next().ifPresent(held::add);
        };
    return text(lease)
        + " finished "
        + both.finished()
        + both.next().map(next -> ", next " + text(next)).orElse("");
  }

  private void end(List<Lease> leases) {
    held.removeAll(leases);
    ended.addAll(leases);
  }

  /** Mostly a death that lasts, at times one that was over long ago; empty if nobody ever died. */
  private Optional<Death> death() {
    List<Death> dead =
        Quarantine.of(queue).list(Filter.all(), Page.of(10)).jobs().stream()
            .map(DeadJob::death)
            .toList();
    List<Death> some = dead.isEmpty() || random.nextInt(4) == 0 ? seen : dead;
    return some.isEmpty() ? Optional.empty() : Optional.of(some.get(random.nextInt(some.size())));
  }

  private String investigate() {
    Optional<Death> death = death();
    return death + " investigated " + death.map(one -> queue.investigate(one, "OPS-1", "lee"));
  }

  private String redrive() {
    Optional<Death> death = death();
    Optional<Boolean> redriven = death.map(one -> queue.redrive(one, ORDER));
    lesson = () -> death.ifPresent(seen::add);
    return death + " redriven " + redriven;
  }

  /** A run tells of a failure in its report and goes on; here it stops at the first. */
  private String redriveBulk() {
    AtomicBoolean failed = new AtomicBoolean();
    BulkReport report =
        Quarantine.of(queue)
            .redrive(Filter.all())
            .limit(2 + random.nextInt(4))
            .perSecond(1_000)
            .onProgress(progress -> failed.set(progress.step() == BulkProgress.Step.FAILED))
            .stopWhen(failed::get)
            .run(ORDER);
    report
        .lastError()
        .ifPresent(
            error -> {
              throw error;
            });
    return report + " " + report.redriven();
  }

  private static String text(Submission submission) {
    return submission.id() + " " + submission.result() + " " + submission.state();
  }

  private static String text(Lease lease) {
    return lease.id() + "#" + lease.token() + "/" + lease.attempt();
  }

  /** Learns from the answer; without it, the load goes on as a caller whose answer was lost. */
  void learn() {
    lesson.run();
  }
}
