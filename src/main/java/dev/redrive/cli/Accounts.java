package dev.redrive.cli;

import static dev.redrive.schema.Tables.JOBS;
import static dev.redrive.schema.Tables.REDRIVES;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.toSet;

import java.io.PrintStream;
import java.net.URLDecoder;
import java.sql.SQLException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jooq.DSLContext;
import org.jooq.impl.DSL;

/**
 * The books of both sides at the end of the story.
 *
 * @param done the orders that are done, by id, and what each asked for
 * @param dead how many orders are in quarantine, by reason
 * @param unfinished how many orders are neither
 * @param redriven how many audit rows there are
 * @param booked the ids of the orders that the shop booked
 * @param stock how many snacks the shop has left
 */
record Accounts(
    Map<String, String> done,
    Map<String, Integer> dead,
    int unfinished,
    int redriven,
    List<String> booked,
    int stock) {

  static Accounts of(DSLContext dsl, SnackShop shop) throws SQLException {
    return new Accounts(
        dsl.select(JOBS.ID, JOBS.PAYLOAD)
            .from(JOBS)
            .where(JOBS.STATE.eq("done"))
            .fetchMap(JOBS.ID, JOBS.PAYLOAD),
        dsl.select(JOBS.REASON, DSL.count())
            .from(JOBS)
            .where(JOBS.STATE.eq("dead"))
            .groupBy(JOBS.REASON)
            .fetchMap(JOBS.REASON, DSL.count()),
        dsl.fetchCount(JOBS, JOBS.STATE.notIn("done", "dead")),
        dsl.fetchCount(REDRIVES),
        shop.booked().stream().map(Accounts::id).toList(),
        shop.stock());
  }

  /** The id in an idempotency key, {@code <queue>/<id>}, each percent-encoded. */
  private static String id(String key) {
    return URLDecoder.decode(key.substring(key.indexOf('/') + 1), UTF_8);
  }

  private int deadBy(String reason) {
    return dead.getOrDefault(reason, 0);
  }

  private int sold() {
    return done.values().stream()
        .flatMap(payload -> SnackOrder.parse(payload).stream())
        .mapToInt(SnackOrder::quantity)
        .sum();
  }

  /** One line of names and one of numbers; the stock before is what came first and what later. */
  void print(PrintStream out, int submitted, int requests, String stockBefore) {
    line(
        out,
        "submitted",
        "done",
        "dead: permanent",
        "exhausted",
        "deadline",
        "redriven",
        "HTTP requests",
        "stock before",
        "after");
    line(
        out,
        submitted,
        done.size(),
        deadBy("permanent"),
        deadBy("exhausted"),
        deadBy("deadline"),
        redriven,
        requests,
        stockBefore,
        stock);
  }

  private static void line(PrintStream out, Object... cells) {
    out.println(
        String.format(Locale.ROOT, "  %9s  %4s  %15s  %9s  %8s  %8s  %13s  %12s  %5s", cells));
  }

  void check(Checks checks, int submitted, int stockBefore) {
    int allDead = dead.values().stream().mapToInt(Integer::intValue).sum();
    Set<String> bookedOnce = booked.stream().collect(toSet());
    checks.that(
        "every order is done or dead: none is lost, none is left",
        done.size() + allDead == submitted && unfinished == 0);
    checks.that(
        "the shop booked every order that is done, each once, and no other",
        bookedOnce.equals(done.keySet()) && bookedOnce.size() == booked.size());
    checks.that(
        "the stock fell by exactly what those orders asked for", stockBefore - sold() == stock);
  }
}
