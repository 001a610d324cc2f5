package dev.redrive.cli;

import static dev.redrive.schema.Tables.JOBS;
import static dev.redrive.schema.Tables.REDRIVES;

import dev.redrive.Job;
import dev.redrive.JobQueue;
import dev.redrive.JobState;
import dev.redrive.Lease;
import dev.redrive.NewJob;
import dev.redrive.Outcome;
import dev.redrive.Redrive;
import dev.redrive.RetryPolicy;
import dev.redrive.SqliteDatabase;
import dev.redrive.Submission;
import dev.redrive.dispatch.BadAckException;
import dev.redrive.dispatch.Dispatched;
import dev.redrive.dispatch.Dispatcher;
import dev.redrive.dispatch.HttpHandler;
import dev.redrive.dispatch.Tally;
import java.io.PrintStream;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jooq.DSLContext;

/** What happens to the orders, step by step. Time passes only where it says so. */
final class Story {
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final Duration BACKOFF = Duration.ofSeconds(10);

  private static final String SNACK = "김밥";
  private static final String NEW_SNACK = "두바이 쫀득 쿠키";
  private static final int SPARE = 10;

  private final PrintStream out;
  private final Orders orders;
  private final DSLContext dsl;
  private final DemoClock clock;
  private final SnackShop shop;
  private final SnackServer server;
  private final JobQueue queue;
  private final HttpHandler http;
  private final Checks checks = new Checks();

  private int submitted;
  private int deliveries;

  Story(
      PrintStream out,
      Orders orders,
      SqliteDatabase database,
      DemoClock clock,
      SnackShop shop,
      SnackServer server) {
    this.out = out;
    this.orders = orders;
    this.dsl = database.dsl();
    this.clock = clock;
    this.shop = shop;
    this.server = server;
    this.queue =
        JobQueue.builder(dsl)
            .name("orders")
            .clock(clock)
            .retry(RetryPolicy.exponential(BACKOFF, Duration.ofMinutes(5)))
            .build();
    this.http = HttpHandler.to(server.uri());
  }

  /** A menu on which every order of the file can be had, but not the snack that is new. */
  static Map<String, Integer> stockFor(Orders orders) {
    Map<String, Integer> stock = new TreeMap<>(Map.of(SNACK, SPARE));
    for (Orders.Line line : orders.lines()) {
      SnackOrder.parse(line.job().payload())
          .ifPresent(order -> stock.merge(order.snack(), order.quantity() + SPARE, Integer::sum));
    }
    stock.remove(NEW_SNACK);
    return stock;
  }

  Checks tell() throws Exception {
    int stock = shop.stock();
    submit();
    Lease slow = queue.claim("slow-worker", LEASE).orElseThrow();
    outage(slow);
    badAck();
    takeover(slow);
    quarantine();
    redrive();
    close(stock);
    return checks;
  }

  private void say(String format, Object... values) {
    out.println(String.format(Locale.ROOT, format, values));
  }

  private List<NewJob> ownOrders() {
    return List.of(
        SnackOrder.job("story/slow", SNACK, 1).availableAt(clock.instant().minusSeconds(1)),
        SnackOrder.job("story/plain", SNACK, 1),
        SnackOrder.job("story/one-try", SNACK, 1).maxAttempts(1),
        SnackOrder.job("story/urgent", SNACK, 1).deadline(BACKOFF.dividedBy(2)),
        SnackOrder.job("story/off-menu", NEW_SNACK, 2));
  }

  private void submit() {
    List<NewJob> jobs = new ArrayList<>(ownOrders());
    orders.lines().forEach(line -> jobs.add(line.job()));
    List<Submission> first = queue.submitAll(jobs);
    List<Submission> again = queue.submitAll(jobs);
    Submission changed = queue.submit(SnackOrder.job("story/plain", SNACK, 99));
    complainOfConflicts(first);

    submitted = count(first, Submission.Result.CREATED);
    say(
        "1 Submit %d orders of %s and %d of this story: %d created.",
        orders.lines().size(), orders.file(), ownOrders().size(), submitted);
    say("  Among them: %s", samples());
    say(
        "  Once more: %d duplicates, nothing changed. One with another quantity: %s.",
        count(again, Submission.Result.DUPLICATE), changed.result());
    checks.that(
        "an order submitted again is a DUPLICATE and stored once",
        count(again, Submission.Result.CREATED) == 0 && dsl.fetchCount(JOBS) == submitted);
    checks.that(
        "an order changed under the same id is a CONFLICT and stays as it was",
        changed.result() == Submission.Result.CONFLICT
            && find("story/plain").payload().equals(jobs.get(1).payload()));
  }

  private String samples() {
    int step = Math.max(1, orders.lines().size() / 5);
    return IntStream.iterate(0, i -> i < orders.lines().size(), i -> i + step)
        .limit(5)
        .mapToObj(i -> orders.lines().get(i).job().id())
        .collect(Collectors.joining("  "));
  }

  private void complainOfConflicts(List<Submission> submissions) {
    List<Submission> ofFile = submissions.subList(ownOrders().size(), submissions.size());
    for (int i = 0; i < ofFile.size(); i++) {
      if (ofFile.get(i).result() == Submission.Result.CONFLICT) {
        orders.complain(orders.lines().get(i).line(), "its id belongs to another order");
      }
    }
  }

  private static int count(List<Submission> submissions, Submission.Result result) {
    return (int) submissions.stream().filter(one -> one.result() == result).count();
  }

  private void outage(Lease slow) throws Exception {
    server.close();
    Tally tally = worker("worker-1").runUntilIdle();
    say("2 slow-worker claims %s and hangs. The shop is down.", slow.id());
    say(
        "  worker-1 can deliver nothing: %d orders wait for another try, %d are quarantined.",
        tally.retried(), tally.dead());
    checks.that(
        "a shop that is down loses no order",
        tally.done() == 0 && tally.retried() + tally.dead() == submitted - 1);
    checks.that(
        "the order with one attempt is dead/exhausted, the one with 5 s is dead/deadline",
        diedOf("story/one-try", "exhausted", "ConnectException")
            && diedOf("story/urgent", "deadline", "ConnectException"));
  }

  private void badAck() throws Exception {
    clock.pass(BACKOFF);
    server.reopen();
    server.mumbleOnce();
    deliveries = 0;
    Dispatcher worker = worker("worker-1");
    boolean refused = getsBadAck(worker);
    List<String> unclear = leasedBy("worker-1");
    say(
        "3 10 s later the shop is open. It books %s, but answers {\"accepted\":1}:",
        String.join(", ", unclear));
    say("  no ack, so worker-1 gets a BadAckException, and the order stays leased.");
    Tally tally = worker.runUntilIdle();
    say("  worker-1 goes on: %d done, %d refused for good.", tally.done(), tally.dead());
    checks.that("an answer of 1 is no ack: the order stays leased", refused && unclear.size() == 1);
    checks.that(
        "an order that is wrong is dead/permanent at once",
        diedOf("story/off-menu", "permanent", "http-404"));
  }

  private boolean getsBadAck(Dispatcher worker) throws Exception {
    try {
      say("  No bad ack came: %s", worker.runUntilIdle());
      return false;
    } catch (BadAckException e) {
      return true;
    }
  }

  private void takeover(Lease slow) throws Exception {
    clock.pass(LEASE);
    Tally tally = worker("worker-2").runUntilIdle();
    Job before = find(slow.id());
    boolean accepted = deliver(slow);
    boolean late = queue.finish(slow, Outcome.ok());
    say("4 30 s later both leases are over. worker-2 takes the two orders: %d done.", tally.done());
    say(
        "  slow-worker wakes up, delivers (accepted: %s, known) and finishes with token %d: %s.",
        accepted, slow.token(), late);
    checks.that(
        "a lease that is over is taken by the next worker, with a higher token",
        tally.total() == 2 && before.token() == slow.token() + 1);
    checks.that(
        "a late completion answers false and changes nothing",
        !late && find(slow.id()).equals(before));
  }

  private void quarantine() {
    say("5 The quarantine: reason, fault, attempts, order");
    dsl.selectFrom(JOBS)
        .where(JOBS.STATE.eq("dead"))
        .orderBy(JOBS.REASON.desc(), JOBS.ID)
        .limit(10)
        .forEach(
            dead ->
                say(
                    "  %-10s %-17s %d of %d  %s",
                    dead.getReason(),
                    dead.getFault(),
                    dead.getAttempts(),
                    dead.getMaxAttempts(),
                    dead.getId()));
  }

  private void redrive() throws Exception {
    Job dead = find("story/off-menu");
    boolean investigated = queue.investigate(dead, "OPS-17", "kim");
    shop.putOnMenu(NEW_SNACK, SPARE);
    Redrive order = Redrive.note("OPS-17").approvedBy("lee").deadline(Duration.ofHours(1));
    boolean redriven = queue.redrive(dead, order);
    boolean twice = queue.redrive(dead, order);
    Dispatched result = worker("worker-2").runOnce();

    say("6 kim investigates (OPS-17): the menu lacks %s. The shop adds %d.", NEW_SNACK, SPARE);
    say("  Redrive, approved by lee: %s; the same death once more: %s.", redriven, twice);
    dsl.selectFrom(REDRIVES)
        .forEach(
            audit ->
                say(
                    "  Audit: %s, token %d, was %s %s after %d attempts, looked at by %s; %s, %s.",
                    audit.getJobId(),
                    audit.getPreviousToken(),
                    audit.getPreviousReason(),
                    audit.getPreviousFault(),
                    audit.getPreviousAttempts(),
                    audit.getPreviousInvestigatedBy(),
                    audit.getNote(),
                    audit.getApprovedBy()));
    say("  worker-2 delivers it: %s.", result.result());
    checks.that(
        "a death is redriven once, with an audit row of who allowed it and who looked at it",
        investigated
            && redriven
            && !twice
            && dsl.fetchCount(REDRIVES) == 1
            && dsl.fetchExists(
                REDRIVES,
                REDRIVES
                    .APPROVED_BY
                    .eq(order.approvedBy())
                    .and(REDRIVES.NOTE.eq(order.note()))
                    .and(REDRIVES.PREVIOUS_TOKEN.eq(dead.token()))
                    .and(REDRIVES.PREVIOUS_INVESTIGATED_BY.eq("kim"))));
    checks.that(
        "what was redriven is done",
        result.result() == Dispatched.Result.DONE && find(dead.id()).state() == JobState.DONE);
  }

  private void close(int stockBefore) throws SQLException {
    Accounts accounts = Accounts.of(dsl, shop);
    say("7 The books of both sides:");
    accounts.print(out, submitted, server.requests(), stockBefore + "+" + SPARE);
    accounts.check(checks, submitted, stockBefore + SPARE);
    checks.that("the shop got one HTTP request for each delivery", server.requests() == deliveries);
  }

  private Dispatcher worker(String name) {
    return new Dispatcher(queue, name, LEASE, this::deliver);
  }

  private boolean deliver(Lease lease) throws InterruptedException {
    deliveries++;
    return http.handle(lease);
  }

  private Job find(String id) {
    return queue.find(id).orElseThrow();
  }

  private boolean diedOf(String id, String reason, String fault) {
    return dsl.fetchExists(
        JOBS,
        JOBS.ID
            .eq(id)
            .and(JOBS.STATE.eq("dead"))
            .and(JOBS.REASON.eq(reason))
            .and(JOBS.FAULT.eq(fault)));
  }

  private List<String> leasedBy(String owner) {
    return dsl.select(JOBS.ID).from(JOBS).where(JOBS.OWNER.eq(owner)).fetchInto(String.class);
  }
}
