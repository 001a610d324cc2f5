package dev.redrive.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.redrive.Backend;
import dev.redrive.ChildJvm;
import dev.redrive.JobQueue;
import dev.redrive.Lease;
import dev.redrive.NewJob;
import dev.redrive.Outcome;
import dev.redrive.QueueTest;
import dev.redrive.dispatch.Dispatcher;
import dev.redrive.dispatch.Handler;
import dev.redrive.dispatch.HttpHandler;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One job's way through two processes and a shop, and many jobs' way to two processes at once. */
class CrashStoryTest extends QueueTest {
  private static final int STOCK = 100;
  private static final int QUANTITY = 7;
  private static final int JOBS = 1_000;

  @TempDir Path folder;

  private SnackShop shop;
  private SnackServer server;

  @BeforeEach
  void openShop() throws Exception {
    shop = SnackShop.open(folder.resolve("shop.db"), Map.of("김밥", STOCK));
    server = SnackServer.open(shop);
  }

  @AfterEach
  void closeShop() throws SQLException {
    server.close();
    shop.close();
  }

  /** A worker in a process of its own. */
  static final class Worker {
    private static final BufferedReader WORDS =
        new BufferedReader(new InputStreamReader(System.in, UTF_8));

    private Worker() {}

    /**
     * Sends a job at each time it is told.
     *
     * @param arguments the engine, the URL, the shop's address, the owner and what comes after the
     *     shop's answer: {@code halts} or {@code waits}
     */
    public static void main(String[] arguments) throws Exception {
      Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("hook")));
      TestClock clock = new TestClock();
      JobQueue queue =
          JobQueue.builder(Backend.valueOf(arguments[0]).connect(arguments[1]))
              .clock(clock)
              .build();
      Handler shop = HttpHandler.to(URI.create(arguments[2]));
      Handler handler =
          lease -> {
            Boolean answer = shop.handle(lease);
            System.out.println("answer " + answer + " to token " + lease.token());
            if (arguments[4].equals("halts")) {
              Runtime.getRuntime().halt(73);
            }
            WORDS.readLine();
            return answer;
          };
      Dispatcher dispatcher = new Dispatcher(queue, arguments[3], LEASE, handler);
      for (String time = WORDS.readLine(); time != null; time = WORDS.readLine()) {
        clock.at(Long.parseLong(time));
        try {
          System.out.println(dispatcher.runOnce().result());
        } finally {
          System.out.println("finally");
        }
      }
    }
  }

  private ChildJvm worker(String owner, String afterTheAnswer) throws IOException {
    return ChildJvm.start(
        Worker.class, backend.name(), store.url(), server.uri().toString(), owner, afterTheAnswer);
  }

  @Test
  void aWorkerThatDiesBeforeItsFinishIsFollowedByOneThatDeliversTheSameOrderAgain()
      throws Exception {
    NewJob order = SnackOrder.job("김밥/1", "김밥", QUANTITY);
    assertThat(queue.submit(order).created()).isTrue();

    try (ChildJvm a = worker("A", "halts")) {
      a.say(String.valueOf(T0));
      a.expect("answer true to token 1");
      a.expect("null"); // neither the finally nor the hook
      assertThat(a.exitCode()).isEqualTo(73);
    }
    Map<String, @Nullable Object> abandoned = row("김밥/1");
    assertThat(abandoned).containsEntry("state", "leased").containsEntry("token", 1L);
    assertThat(shop.stock()).isEqualTo(STOCK - QUANTITY);

    try (ChildJvm b = worker("B", "waits")) {
      b.say(String.valueOf(T0 + 30_000 - 1));
      b.expect("IDLE");
      b.expect("finally");
      assertThat(row("김밥/1")).isEqualTo(abandoned);

      b.say(String.valueOf(T0 + 30_000));
      b.expect("answer true to token 2");
      clock.at(T0 + 30_000);
      isLate(abandoned);
      b.say("go on");
      b.expect("DONE");
    }
    assertThat(row("김밥/1"))
        .containsEntry("state", "done")
        .containsEntry("token", 2L)
        .containsEntry("attempts", 2L);
    isLate(abandoned);

    assertThat(server.requests()).isEqualTo(2);
    assertThat(shop.booked()).hasSize(1);
    assertThat(shop.stock()).isEqualTo(STOCK - QUANTITY);
  }

  /** What A would say if it came back: every finish is refused and changes nothing. */
  private void isLate(Map<String, @Nullable Object> claimed) {
    Lease lease =
        new Lease(
            "default",
            "김밥/1",
            "A",
            1,
            1,
            5,
            Instant.ofEpochMilli((Long) claimed.get("lease_until")),
            Instant.ofEpochMilli((Long) claimed.get("deadline_at")),
            (String) claimed.get("payload"));
    Map<String, @Nullable Object> before = row("김밥/1");
    for (Outcome outcome :
        List.of(Outcome.ok(), Outcome.retry("late"), Outcome.permanent("late"))) {
      assertThat(queue.finish(lease, outcome)).isFalse();
      assertThat(row("김밥/1")).isEqualTo(before);
    }
  }

  /** Claims one job when told, and what is left when told again. */
  static final class Claimer {
    private Claimer() {}

    public static void main(String[] arguments) throws IOException {
      BufferedReader words = new BufferedReader(new InputStreamReader(System.in, UTF_8));
      JobQueue queue =
          JobQueue.builder(Backend.valueOf(arguments[0]).connect(arguments[1]))
              .clock(new TestClock())
              .build();
      System.out.println("ready");
      words.readLine();
      List<Lease> leases = queue.claim(arguments[2], LEASE, 1);
      System.out.println("one");
      words.readLine();
      for (int limit = 1; !leases.isEmpty(); limit = limit % 5 + 1) {
        leases.forEach(
            lease -> System.out.println(lease.owner() + " " + lease.id() + " " + lease.token()));
        leases = queue.claim(arguments[2], LEASE, limit);
      }
    }
  }

  /** Each gets one by itself before any goes on, so that neither is left with nothing. */
  @Test
  void twoProcessesThatRaceForAThousandJobsClaimEachOnce() throws Exception {
    assertThat(queue.submitAll(IntStream.range(0, JOBS).mapToObj(i -> job("j" + i)).toList()))
        .hasSize(JOBS);
    try (ChildJvm a = claimer("A");
        ChildJvm b = claimer("B")) {
      inStep(a, b, "ready");
      inStep(a, b, "one");
      Map<String, String> owners = new TreeMap<>();
      for (ChildJvm child : List.of(a, b)) {
        child.lastWords().forEach(line -> claimedOnce(line, owners));
        assertThat(child.exitCode()).isZero();
      }
      assertThat(owners).hasSize(JOBS);
      assertThat(owners.values()).contains("A", "B");
      assertThat(rows("select id, owner from jobs where state = 'leased' and token = 1"))
          .hasSize(JOBS)
          .allMatch(row -> owners.get(row.get("id")).equals(row.get("owner")));
    }
  }

  private ChildJvm claimer(String owner) throws IOException {
    return ChildJvm.start(Claimer.class, backend.name(), store.url(), owner);
  }

  /** Waits for both and lets both go on. */
  private static void inStep(ChildJvm a, ChildJvm b, String word) throws IOException {
    a.expect(word);
    b.expect(word);
    a.say("go");
    b.say("go");
  }

  private static void claimedOnce(String line, Map<String, String> owners) {
    String[] words = line.split(" ", 3);
    assertThat(words[2]).as("the token of %s", words[1]).isEqualTo("1");
    assertThat(owners.put(words[1], words[0])).as("who else claimed %s", words[1]).isNull();
  }
}
