package dev.redrive;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jooq.Configuration;
import org.jooq.DSLContext;
import org.jooq.Record3;
import org.jooq.exception.DataAccessException;
import org.jspecify.annotations.Nullable;

/**
 * A leased job queue in a database. Work is submitted, claimed under a lease, and finished by
 * whoever holds it; work that cannot succeed is quarantined with its reason, and starts again only
 * by {@link #redrive}.
 *
 * <p>A boolean answer means one thing: this call changed the row. {@code false} is the answer to a
 * lost race, never to a fault: what is wrong with an argument is an {@link
 * IllegalArgumentException}, thrown before any SQL; trouble with the database is an exception,
 * jOOQ's {@link DataAccessException} or what the host's listeners make of it.
 *
 * <p>When an answer is lost, because a connection broke around a commit or a transaction listener
 * of the host's threw after it, the outcome is unknown: the call throws and is not repeated. {@link
 * #find} and {@link Job#endedBy} tell what happened.
 *
 * <p>Every call is one transaction, or part of the host's where one is open on the connection that
 * the {@link DSLContext} provides (inside jOOQ's {@code transaction}, on a plain {@link Connection}
 * with auto-commit off, with a thread-local provider): then nothing is stored before the host
 * commits, and a failed call takes back what it did itself.
 *
 * <p>A queue is safe for use by many threads, and cheap: many may share a database.
 */
public final class JobQueue {
  private static final int MAX_CLAIM = 1_000;
  private static final int MAX_PURGE = 10_000;
  private static final int MAX_BURIES = 20;
  private static final int SUBMIT_TRIES = 10;
  private static final Duration MIN_PURGE_AGE = Duration.ofHours(24);
  private static final long BURY_INTERVAL_MILLIS = 1_000;

  private final Transactions transactions;
  private final Engine engine;
  private final String name;
  private final @Nullable InstantSource clock;
  private final RetryPolicy retry;
  private final int maxPayloadBytes;
  private final Listeners listeners;

  private volatile boolean claimCameBackShort = true;
  private volatile long lastBury;

  private JobQueue(
      Transactions transactions,
      Engine engine,
      String name,
      @Nullable InstantSource clock,
      RetryPolicy retry,
      int maxPayloadBytes,
      Listeners listeners) {
    this.transactions = transactions;
    this.engine = engine;
    this.name = name;
    this.clock = clock;
    this.retry = retry;
    this.maxPayloadBytes = maxPayloadBytes;
    this.listeners = listeners;
  }

  /**
   * The queue named {@code default}, with the engine's clock and default settings. Creates or
   * upgrades redrive's tables where they are missing and the context has a data source.
   *
   * @param dsl the host's jOOQ context
   * @return the queue
   * @throws IllegalArgumentException if the dialect is not supported, there is no connection, or
   *     its settings break what redrive promises; the text says what to change
   * @throws IllegalStateException if the tables are missing and cannot be created here
   */
  public static JobQueue on(DSLContext dsl) {
    return builder(dsl).build();
  }

  /**
   * Starts a queue with settings of its own.
   *
   * @param dsl the host's jOOQ context
   * @return the builder
   * @throws IllegalArgumentException if null
   */
  public static Builder builder(DSLContext dsl) {
    return new Builder(Arguments.notNull(dsl, "dsl"));
  }

  /**
   * The queue's name.
   *
   * @return the name, an identifier
   */
  public String name() {
    return name;
  }

  /**
   * This queue with one more listener. The same jobs and settings; the listeners of this one hear
   * what the new one does, not the other way round.
   *
   * @param listener hears what calls of the new queue did
   * @return the new queue
   * @throws IllegalArgumentException if null
   */
  public JobQueue listening(JobListener listener) {
    Listeners more = listeners.and(Arguments.notNull(listener, "listener"));
    return new JobQueue(transactions, engine, name, clock, retry, maxPayloadBytes, more);
  }

  /**
   * This queue on the connection of an open transaction, with the same name, clock, retry policy
   * and listeners: {@code dsl.transaction(tx -> queue.within(tx.dsl()).submit(job))}. The host
   * decides whether what the new queue does is stored. Costs no statement, so that each transaction
   * can have its own.
   *
   * @param transaction the context that the transaction's work runs on
   * @return the new queue, to be used as long as the transaction
   * @throws IllegalArgumentException if null, of another engine, or without an open transaction
   */
  public JobQueue within(DSLContext transaction) {
    Configuration inner = Arguments.notNull(transaction, "transaction").configuration();
    if (inner.family() != engine.dialect()) {
      throw new IllegalArgumentException(
          "transaction must be on " + engine.dialect() + ", it is on " + inner.dialect());
    }
    Transactions joining = transactions.within(inner);
    return new JobQueue(joining, engine, name, clock, retry, maxPayloadBytes, listeners);
  }

  /**
   * Whether a call made now, in this thread, would be part of a transaction of the host's. Ask
   * before an effect outside the database, which has to wait for the commit. A data source that
   * hands out the host's open transaction is seen through only with {@link Builder#joins}.
   *
   * @return false if the call would be a transaction of its own, stored when it answers
   * @throws DataAccessException if there is no connection to look at
   */
  public boolean joinsHostTransaction() {
    return transactions.wouldJoin();
  }

  /**
   * Stores a job, unless one of its id is there.
   *
   * @param job the job
   * @return whether it was created, was there already, or is there with another payload, and where
   *     the job of that id stands
   * @throws IllegalArgumentException if the payload is larger than this queue allows
   */
  public Submission submit(NewJob job) {
    refuseLargePayload(Arguments.notNull(job, "job"));
    return told(transactions.write(dsl -> submit(transitions(dsl), job)));
  }

  /**
   * Stores several jobs in one transaction: all of them, or after an exception none.
   *
   * @param jobs the jobs; a second one of the same id finds the first
   * @return an answer per job, in their order
   * @throws IllegalArgumentException if a payload is larger than this queue allows
   */
  public List<Submission> submitAll(Collection<NewJob> jobs) {
    List<NewJob> all = copy(jobs, "jobs");
    all.forEach(this::refuseLargePayload);
    if (all.isEmpty()) {
      return List.of();
    }
    List<JobEvent> events =
        transactions.write(
            dsl -> {
              Transitions transitions = transitions(dsl);
              return inIdOrder(all, NewJob::id, job -> submit(transitions, job));
            });
    return events.stream().map(this::told).toList();
  }

  private Submission told(JobEvent submitted) {
    listeners.tell(List.of(submitted));
    return Submission.of(submitted);
  }

  private JobEvent submit(Transitions transitions, NewJob job) {
    for (int tries = 0; tries < SUBMIT_TRIES; tries++) {
      if (transitions.submit(job).execute() == 1) {
        return new JobEvent.Submitted(name, job.id());
      }
      Record3<String, Boolean, Long> found = transitions.submitted(job).fetchOne();
      if (found != null) {
        Submission.Result result =
            found.value2() ? Submission.Result.DUPLICATE : Submission.Result.CONFLICT;
        return new JobEvent.Refused(
            name, job.id(), found.value3(), result, JobState.of(found.value1()));
      }
      // purged between the two: the id is free again
    }
    throw new DataAccessException(
        "The job could not be submitted: one of its id appeared and vanished "
            + SUBMIT_TRIES
            + " times");
  }

  /**
   * Leases the oldest job that is due.
   *
   * <p>Inside a host's transaction the lease is real only once the host commits: start no work that
   * has an effect outside the database before that, or a rollback gives the job to somebody else
   * while the effect stays.
   *
   * @param owner who claims, an identifier; unique per worker, so that logs tell who held what
   * @param lease how long, 1 ms to 3,650 days: longer than the work takes, or {@link #renew} it
   * @return the lease; empty if nothing is due
   * @throws IllegalArgumentException if an argument breaks its rule
   */
  public Optional<Lease> claim(String owner, Duration lease) {
    return claim(owner, lease, 1).stream().findFirst();
  }

  /**
   * Leases the oldest jobs that are due: pending ones whose time has come, and leased ones whose
   * lease is over. Quarantines those whose attempts or time are used up instead of leasing them.
   * What {@link #claim(String, Duration)} says of a host's transaction holds here too.
   *
   * @param owner who claims, an identifier
   * @param lease how long, 1 ms to 3,650 days
   * @param limit the most leases to answer, 1 to 1,000
   * @return the leases, by availability and id; empty if nothing is due
   * @throws IllegalArgumentException if an argument breaks its rule
   */
  public List<Lease> claim(String owner, Duration lease, int limit) {
    Arguments.identifier(owner, "owner");
    Arguments.positive(lease, "lease");
    Arguments.range(limit, "limit", 1, MAX_CLAIM);
    List<Lease> leases =
        transactions.call(
            session -> {
              buryWhatIsSpent(session);
              return session.write(dsl -> claim(transitions(dsl), owner, lease, limit));
            });
    listeners.tell(leases.stream().map(JobQueue::claimed).toList());
    return leases;
  }

  private static JobEvent claimed(Lease lease) {
    return new JobEvent.Claimed(
        lease.queue(), lease.id(), lease.token(), lease.owner(), lease.attempt());
  }

  private List<Lease> claim(Transitions transitions, String owner, Duration lease, int limit) {
    List<Lease> leases =
        transitions.claim(owner, lease, limit).fetch().stream()
            .sorted(Rows.OLDEST_FIRST)
            .map(Rows::lease)
            .toList();
    claimCameBackShort = leases.size() < limit;
    return leases;
  }

  /** Before a claim and committed by itself: a bury that fails must not lose leases. */
  private void buryWhatIsSpent(Transactions.Session session) {
    if (buryIsDue()) {
      try {
        bury(session);
      } catch (Throwable e) {
        claimCameBackShort = true; // as good as: it is still to be done
        throw e;
      }
    }
  }

  private void bury(Transactions.Session session) {
    int buried = Transitions.BURY_BATCH;
    for (int i = 0; i < MAX_BURIES && buried == Transitions.BURY_BATCH; i++) {
      List<JobEvent.Died> deaths = session.write(dsl -> transitions(dsl).bury().fetch(Rows::died));
      session.afterwards(() -> listeners.tell(deaths));
      buried = deaths.size();
    }
  }

  private boolean buryIsDue() {
    long time = millis();
    long sinceLast = time - lastBury;
    boolean due = claimCameBackShort || sinceLast >= BURY_INTERVAL_MILLIS || sinceLast < 0;
    if (due) {
      lastBury = time;
    }
    return due;
  }

  /**
   * Makes a lease longer, counted from now; a renewal never shortens it.
   *
   * @param held the lease, as claimed
   * @param lease how long from now, 1 ms to 3,650 days
   * @return false if the lease is over or was taken: stop the work, it is somebody else's
   * @throws IllegalArgumentException if an argument breaks its rule, or of another queue
   */
  public boolean renew(Lease held, Duration lease) {
    refuseOtherQueue(held);
    Arguments.positive(lease, "lease");
    boolean renewed = transactions.write(dsl -> transitions(dsl).renew(held, lease).execute() == 1);
    return listeners.told(
        renewed
            ? new JobEvent.Renewed(name, held.id(), held.token())
            : stale(held, JobEvent.Verb.RENEW));
  }

  /**
   * Gives a job back whose work was never started: it is available at once and the attempt does not
   * count.
   *
   * @param held the lease
   * @return false if the lease was stale, and nothing changed
   * @throws IllegalArgumentException if null or of another queue
   */
  public boolean release(Lease held) {
    refuseOtherQueue(held);
    boolean released = transactions.write(dsl -> transitions(dsl).release(held).execute() == 1);
    return listeners.told(
        released
            ? new JobEvent.Released(name, held.id(), held.token())
            : stale(held, JobEvent.Verb.RELEASE));
  }

  private JobEvent stale(Lease held, JobEvent.Verb verb) {
    return new JobEvent.Stale(name, held.id(), held.token(), verb);
  }

  /**
   * Ends a claim. The owner may do so after the lease is over, until somebody takes the job.
   *
   * @param held the lease
   * @param outcome what came of the work
   * @return false if the lease was stale, and nothing changed: the job is somebody else's, or over
   * @throws IllegalArgumentException if null or of another queue
   * @throws IllegalStateException if the queue's retry policy answers no valid delay
   */
  public boolean finish(Lease held, Outcome outcome) {
    refuseOtherQueue(held);
    return finishAll(List.of(new Finish(held, outcome))).get(0);
  }

  /**
   * Ends several claims in one transaction: all that are not stale, or after an exception none.
   *
   * @param finishes what to finish
   * @return an answer per finish, in their order; false if that lease was stale
   * @throws IllegalArgumentException if null or of another queue
   * @throws IllegalStateException if the queue's retry policy answers no valid delay
   */
  public List<Boolean> finishAll(List<Finish> finishes) {
    List<Finish> wanted = copy(finishes, "finishes");
    List<FinishQuery> all = new ArrayList<>();
    for (int i = 0; i < wanted.size(); i++) {
      refuseOtherQueue("finishes[" + i + "].lease", wanted.get(i).lease().queue());
      all.add(FinishQuery.of(wanted.get(i), retry));
    }
    if (all.isEmpty()) {
      return List.of();
    }
    List<JobEvent> events =
        transactions.write(
            dsl -> {
              Transitions transitions = transitions(dsl);
              return inIdOrder(all, FinishQuery::id, query -> query.run(transitions));
            });
    listeners.tell(events);
    return events.stream().map(Listeners::isChange).toList();
  }

  /**
   * Ends a claim and takes the next job in one transaction, which on SQLite costs one wait for the
   * disk instead of two. Claims also when the finish was stale.
   *
   * @param held the lease to finish
   * @param outcome what came of the work
   * @param owner who claims, an identifier
   * @param lease how long, 1 ms to 3,650 days
   * @return whether the finish changed the row, and the next lease
   * @throws IllegalArgumentException if an argument breaks its rule, or of another queue
   * @throws IllegalStateException if the queue's retry policy answers no valid delay
   */
  public FinishedAndClaimed finishAndClaim(
      Lease held, Outcome outcome, String owner, Duration lease) {
    refuseOtherQueue(held);
    FinishQuery finish = FinishQuery.of(new Finish(held, outcome), retry);
    Arguments.identifier(owner, "owner");
    Arguments.positive(lease, "lease");
    FinishBuryClaim all = finishBuryClaim(finish, owner, lease);
    if (all.deaths().size() == Transitions.BURY_BATCH) {
      claimCameBackShort = true; // as good as: there may be more to bury
    }
    boolean finished = listeners.told(all.finished());
    listeners.tell(all.deaths());
    listeners.tell(all.next().stream().map(JobQueue::claimed).toList());
    return new FinishedAndClaimed(finished, all.next().stream().findFirst());
  }

  private FinishBuryClaim finishBuryClaim(FinishQuery finish, String owner, Duration lease) {
    boolean buryIsDue = buryIsDue();
    try {
      return transactions.write(
          dsl -> {
            Transitions transitions = transitions(dsl);
            // the finish first: a bury would take a spent job whose lease is just over
            return new FinishBuryClaim(
                finish.run(transitions),
                buryIsDue ? transitions.bury().fetch(Rows::died) : List.of(),
                claim(transitions, owner, lease, 1));
          });
    } catch (Throwable e) {
      claimCameBackShort = true; // as good as: the bury is still to be done
      throw e;
    }
  }

  private record FinishBuryClaim(JobEvent finished, List<JobEvent.Died> deaths, List<Lease> next) {}

  /**
   * Looks at a job.
   *
   * @param id the business ID
   * @return the job as it is; empty if there is none, never submitted or purged
   * @throws IllegalArgumentException if no valid ID
   */
  public Optional<Job> find(String id) {
    Arguments.id(id);
    return transactions.read(dsl -> transitions(dsl).find(id).fetchOptional().map(Rows::job));
  }

  /**
   * Records that somebody looked at a death. The last look stands, earlier ones are replaced.
   *
   * @param dead the job as it was looked at
   * @param ticket where it is written down, an identifier
   * @param by who, an identifier
   * @return false if it was not dead when looked at, or is not this death any more; nothing changed
   * @throws IllegalArgumentException if an argument breaks its rule, or of another queue
   */
  public boolean investigate(Job dead, String ticket, String by) {
    Arguments.notNull(dead, "dead");
    return investigate(Death.of(dead), dead.state() == JobState.DEAD, ticket, by);
  }

  /**
   * Records that somebody looked at a death. The last look stands, earlier ones are replaced.
   *
   * @param dead the death that was looked at
   * @param ticket where it is written down, an identifier
   * @param by who, an identifier
   * @return false if it is not this death any more, and nothing changed
   * @throws IllegalArgumentException if an argument breaks its rule, or of another queue
   */
  public boolean investigate(Death dead, String ticket, String by) {
    return investigate(dead, true, ticket, by);
  }

  private boolean investigate(Death dead, boolean wasDead, String ticket, String by) {
    refuseOtherQueue(dead);
    Arguments.identifier(ticket, "ticket");
    Arguments.identifier(by, "by");
    boolean recorded =
        wasDead
            && transactions.write(
                dsl -> transitions(dsl).investigate(dead, ticket, by).execute() == 1);
    return listeners.told(
        recorded
            ? new JobEvent.Investigated(name, dead.id(), dead.token(), ticket, by)
            : stale(dead, JobEvent.Verb.INVESTIGATE));
  }

  /**
   * Starts a dead job again, available at once, with a fresh budget of attempts and a new deadline,
   * and writes the audit row in the same transaction. The token stays: leases of earlier lives
   * remain stale.
   *
   * @param dead the job as it was looked at
   * @param order why, who allowed it, and the new deadline
   * @return false if it was not dead when looked at, or is not this death any more; nothing changed
   * @throws IllegalArgumentException if null or of another queue
   */
  public boolean redrive(Job dead, Redrive order) {
    Arguments.notNull(dead, "dead");
    return redrive(Death.of(dead), dead.state() == JobState.DEAD, order);
  }

  /**
   * Starts a dead job again, as {@link #redrive(Job, Redrive)} does, by the name of its death.
   *
   * @param dead the death
   * @param order why, who allowed it, and the new deadline
   * @return false if it is not this death any more, and nothing changed
   * @throws IllegalArgumentException if null or of another queue
   */
  public boolean redrive(Death dead, Redrive order) {
    return redrive(dead, true, order);
  }

  private boolean redrive(Death dead, boolean wasDead, Redrive order) {
    refuseOtherQueue(dead);
    Arguments.notNull(order, "order");
    return listeners.told(
        wasDead && redriven(dead, order)
            ? new JobEvent.Redriven(name, dead.id(), dead.token(), order)
            : stale(dead, JobEvent.Verb.REDRIVE));
  }

  private boolean redriven(Death dead, Redrive order) {
    try {
      return transactions.write(
          dsl -> {
            Transitions transitions = transitions(dsl);
            if (transitions.redriveAudit(dead, order).execute() != 1) {
              return false;
            }
            if (transitions.redrive(dead).execute() != 1) {
              throw new AuditWithoutRedrive();
            }
            return true;
          });
    } catch (AuditWithoutRedrive rolledBack) {
      return false;
    }
  }

  private JobEvent stale(Death dead, JobEvent.Verb verb) {
    return new JobEvent.Stale(name, dead.id(), dead.token(), verb);
  }

  /** Takes an audit row back whose job turned out to have moved on. */
  private static final class AuditWithoutRedrive extends RuntimeException {
    private static final long serialVersionUID = 1L;

    AuditWithoutRedrive() {
      super("the job moved on between its audit and its redrive", null, false, false);
    }
  }

  /**
   * Forgets done jobs, and with them their ids and tokens: a later submit of such an id is new
   * work. Never touches a job that is not done, or one that has ever been redriven.
   *
   * @param olderThan the age since they became done, 24 hours to 3,650 days
   * @param limit the most jobs to forget, 1 to 10,000
   * @return how many were forgotten; fewer than the limit means that no more are old enough, or
   *     that another call is forgetting them
   * @throws IllegalArgumentException if an argument breaks its rule
   */
  public int purgeDone(Duration olderThan, int limit) {
    Arguments.duration(olderThan, "olderThan", MIN_PURGE_AGE);
    Arguments.range(limit, "limit", 1, MAX_PURGE);
    List<JobEvent.Purged> purged =
        transactions.write(dsl -> transitions(dsl).purge(olderThan, limit).fetch(Rows::purged));
    listeners.tell(purged);
    return purged.size();
  }

  @Override
  public String toString() {
    return "JobQueue[" + name + " on " + engine + "]";
  }

  QueueReader reader() {
    return new QueueReader(transactions, engine, name, () -> Transitions.number("now", time()));
  }

  /** Reads the clock here, inside the transaction: waiting for it must not make the time old. */
  private Transitions transitions(DSLContext dsl) {
    return new Transitions(dsl, engine, name, time());
  }

  /** Epoch milliseconds; null is the database's clock, where the engine has one. */
  private @Nullable Long time() {
    return clock == null ? null : read(clock);
  }

  private long millis() {
    return clock == null ? TimeUnit.NANOSECONDS.toMillis(System.nanoTime()) : read(clock);
  }

  private static long read(InstantSource clock) {
    try {
      return Arguments.time(clock.instant(), "its time").toEpochMilli();
    } catch (IllegalArgumentException e) {
      throw new IllegalStateException("the clock is broken: " + e.getMessage(), e);
    }
  }

  private void refuseLargePayload(NewJob job) {
    // no character takes more than three bytes: most payloads need not be encoded to be measured
    if (job.payload().length() > maxPayloadBytes / 3) {
      int bytes = job.payload().getBytes(StandardCharsets.UTF_8).length;
      if (bytes > maxPayloadBytes) {
        throw new IllegalArgumentException(
            "payload must have at most "
                + maxPayloadBytes
                + " bytes in UTF-8, it has "
                + bytes
                + "; keep large content elsewhere and submit where it is");
      }
    }
  }

  private void refuseOtherQueue(Lease held) {
    refuseOtherQueue("held", Arguments.notNull(held, "held").queue());
  }

  private void refuseOtherQueue(Death dead) {
    refuseOtherQueue("dead", Arguments.notNull(dead, "dead").queue());
  }

  private void refuseOtherQueue(String argument, String queue) {
    if (!queue.equals(name)) {
      throw new IllegalArgumentException(
          argument + " must be of queue " + name + ", it is of queue " + queue);
    }
  }

  private static <T> List<T> copy(@Nullable Collection<T> values, String name) {
    List<T> copy = new ArrayList<>(Arguments.notNull(values, name));
    for (int i = 0; i < copy.size(); i++) {
      Arguments.notNull(copy.get(i), name + "[" + i + "]");
    }
    return copy;
  }

  /** Changes rows in the order of their ids, so that no two calls wait for each other. */
  private static <T, A> List<A> inIdOrder(
      List<T> all, Function<T, String> id, Function<T, A> change) {
    Map<Integer, A> answers = new TreeMap<>();
    IntStream.range(0, all.size())
        .boxed()
        .sorted(Comparator.comparing(i -> id.apply(all.get(i)), Rows::compareIds))
        .forEach(i -> answers.put(i, change.apply(all.get(i))));
    return List.copyOf(answers.values());
  }

  /** Settings of a queue. */
  public static final class Builder {
    private static final int DEFAULT_MAX_PAYLOAD_BYTES = 1 << 20;
    private static final int LARGEST_MAX_PAYLOAD_BYTES = 256 << 20;

    private final DSLContext dsl;
    private String name = "default";
    private @Nullable InstantSource clock;
    private RetryPolicy retry = RetryPolicy.standard();
    private int maxPayloadBytes = DEFAULT_MAX_PAYLOAD_BYTES;
    private final List<JobListener> listeners = new ArrayList<>();
    private @Nullable String schema;
    private boolean joins;
    private @Nullable BooleanSupplier hostsIsOpen;
    private boolean migrates = true;

    private Builder(DSLContext dsl) {
      this.dsl = dsl;
    }

    /**
     * The queue's name; jobs of other queues in the same tables are out of reach.
     *
     * @param name an identifier
     * @return this
     * @throws IllegalArgumentException if it is none
     */
    public Builder name(String name) {
      this.name = Arguments.identifier(name, "name");
      return this;
    }

    /**
     * Where the time comes from. The default is the database's clock, on SQLite the system's. With
     * a fixed source everything is deterministic.
     *
     * @param clock in the years 1970 to 9999
     * @return this
     * @throws IllegalArgumentException if null
     */
    public Builder clock(InstantSource clock) {
      this.clock = Arguments.notNull(clock, "clock");
      return this;
    }

    /**
     * How long failed jobs wait when the worker names no delay. The default is {@link
     * RetryPolicy#standard()}.
     *
     * @param retry the policy
     * @return this
     * @throws IllegalArgumentException if null
     */
    public Builder retry(RetryPolicy retry) {
      this.retry = Arguments.notNull(retry, "retry");
      return this;
    }

    /**
     * The largest payload that a submit takes. The default is 1 MiB.
     *
     * @param bytes in UTF-8, 1 to 268,435,456
     * @return this
     * @throws IllegalArgumentException if out of range
     */
    public Builder maxPayloadBytes(int bytes) {
      this.maxPayloadBytes = Arguments.range(bytes, "bytes", 1, LARGEST_MAX_PAYLOAD_BYTES);
      return this;
    }

    /**
     * Adds somebody who hears what transitions did.
     *
     * @param listener called in the order of adding
     * @return this
     * @throws IllegalArgumentException if null
     */
    public Builder listener(JobListener listener) {
      this.listeners.add(Arguments.notNull(listener, "listener"));
      return this;
    }

    /**
     * Where redrive's tables are, on PostgreSQL: every statement then names the schema, and the
     * connection's search path does not matter. The default is the connection's current schema.
     *
     * @param schema the name of a schema that needs no quotes; it is created with the tables
     * @return this
     * @throws IllegalArgumentException if null, on SQLite, or not such a name
     */
    public Builder schema(String schema) {
      this.schema = Engine.of(dsl.dialect()).schema(schema);
      return this;
    }

    /**
     * Says that the data source may hand out a connection with the host's open transaction on it,
     * as a transaction-aware one does: auto-commit off then means that the transaction is the
     * host's. Where the pool behind it switches auto-commit off as well, a second connection is
     * taken for a moment to tell the two apart; {@link #joins(BooleanSupplier)} needs none. It is
     * also the one to take where such a pool is used in a scope that keeps a connection without a
     * transaction, as Spring's {@code SUPPORTS} and {@code NOT_SUPPORTED} do: what is done there
     * looks like part of one, and is lost with the host's own work when the scope ends.
     *
     * @return this
     */
    public Builder joins() {
      this.joins = true;
      this.hostsIsOpen = null;
      return this;
    }

    /**
     * Says that the data source hands out a connection with the host's open transaction on it, and
     * how to tell that there is one. With Spring that is {@code () ->
     * TransactionSynchronizationManager.isActualTransactionActive()}. Where there is none, a call
     * commits by itself, and with it whatever the host has left uncommitted on the connection that
     * the data source hands out. Where it says that there is one and there is none any more, as
     * Spring's word does in callbacks after a commit, what is done with auto-commit off is lost.
     *
     * @param hostsIsOpen whether a transaction of this data source is open in the calling thread;
     *     asked where a connection has auto-commit off
     * @return this
     * @throws IllegalArgumentException if null
     */
    public Builder joins(BooleanSupplier hostsIsOpen) {
      this.hostsIsOpen = Arguments.notNull(hostsIsOpen, "hostsIsOpen");
      this.joins = true;
      return this;
    }

    /**
     * Leaves the tables to somebody else: the queue only checks that they are there.
     *
     * @return this
     */
    public Builder verifyOnly() {
      this.migrates = false;
      return this;
    }

    /**
     * Checks the database and makes the queue.
     *
     * @return the queue
     * @throws IllegalArgumentException if the dialect is not supported, there is no connection, or
     *     its settings break what redrive promises; the text says what to change
     * @throws IllegalStateException if the tables are missing and cannot be created here, or a
     *     library for that is not on the class path
     */
    public JobQueue build() {
      Configuration host = dsl.configuration();
      Engine engine = Engine.of(host.dialect());
      Transactions transactions = new Transactions(host, engine, schema, joins, hostsIsOpen);
      new DatabaseCheck(engine, transactions, host.connectionProvider(), schema).pass(migrates);
      return new JobQueue(
          transactions,
          engine,
          name,
          clock != null ? clock : engine.clock(),
          retry,
          maxPayloadBytes,
          new Listeners(listeners));
    }
  }
}
