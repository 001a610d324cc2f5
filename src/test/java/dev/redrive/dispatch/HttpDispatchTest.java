package dev.redrive.dispatch;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.redrive.JobQueue;
import dev.redrive.NewJob;
import dev.redrive.QueueTest;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLDecoder;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** From the database over a real server and back. */
class HttpDispatchTest extends QueueTest {
  private final Map<String, String> received = new ConcurrentHashMap<>();
  private volatile int status = 200;
  private HttpServer server;

  @BeforeEach
  void startServer() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", this::answer);
    server.start();
  }

  @AfterEach
  void stopServer() {
    server.stop(0);
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      String key = exchange.getRequestHeaders().getFirst("Idempotency-Key");
      received.put(key, new String(exchange.getRequestBody().readAllBytes(), UTF_8));
      byte[] ack = "{\"accepted\":true}".getBytes(UTF_8);
      exchange.getResponseHeaders().set("Retry-After", "12");
      exchange.sendResponseHeaders(status, ack.length);
      exchange.getResponseBody().write(ack);
    }
  }

  private Dispatcher dispatcher(JobQueue from) {
    URI uri = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/");
    return new Dispatcher(from, "A", LEASE, HttpHandler.to(uri));
  }

  @Test
  void idsOfEveryScriptArriveDistinctAndWhole() throws Exception {
    List<String> ids =
        List.of(
            "떡볶이-1",
            "떡볶이-1", // the same word in decomposed letters
            "café",
            "cafe\u0301",
            "ラーメン 2",
            "كنافة/٣",
            "пирожок#4",
            "🍜🧋",
            "👩‍🍳",
            "a/b",
            "a%2Fb",
            "a%2fb",
            "a b",
            "a+b",
            "a%20b",
            "100%",
            "..",
            "orders/a",
            "\"quoted\", 'too' \\ ?&=;");
    List<NewJob> jobs =
        ids.stream().distinct().map(id -> NewJob.of(id, "{\"id\":\"" + id + "\"}")).toList();
    JobQueue orders = queue("snacks/2#a").build();
    assertThat(orders.submitAll(jobs)).allMatch(submission -> submission.created());

    assertThat(dispatcher(orders).runUntilIdle()).isEqualTo(new Tally(jobs.size(), 0, 0, 0));

    Map<String, String> decoded =
        received.entrySet().stream()
            .collect(
                Collectors.toMap(
                    entry -> decodedId(entry.getKey(), "snacks%2F2%23a/"), Map.Entry::getValue));
    assertThat(decoded)
        .isEqualTo(jobs.stream().collect(Collectors.toMap(NewJob::id, NewJob::payload)));
  }

  private static String decodedId(String key, String queuePart) {
    assertThat(key).startsWith(queuePart).matches("[A-Za-z0-9._~%/-]+");
    String id = key.substring(queuePart.length());
    assertThat(id).doesNotContain("/");
    return URLDecoder.decode(id, UTF_8);
  }

  @Test
  void aReceiverThatIsBusySaysWhenToComeBack() throws Exception {
    submit("j1");
    status = 503;
    assertThat(dispatcher(queue).runUntilIdle()).isEqualTo(new Tally(0, 1, 0, 0));
    assertThat(row("j1"))
        .containsEntry("state", "pending")
        .containsEntry("fault", "http-503")
        .containsEntry("available_at", T0 + 12_000);

    status = 200;
    clock.at(T0 + 12_000);
    assertThat(dispatcher(queue).runUntilIdle()).isEqualTo(new Tally(1, 0, 0, 0));
    assertThat(received.keySet()).containsExactly("default/j1");
  }

  @Test
  void aReceiverThatRefusesEndsTheJob() throws Exception {
    submit("j1");
    status = 422;
    assertThat(dispatcher(queue).runUntilIdle()).isEqualTo(new Tally(0, 0, 1, 0));
    assertThat(row("j1")).containsEntry("reason", "permanent").containsEntry("fault", "http-422");
  }

  @Test
  void aReceiverThatIsDownIsTriedAgain() throws Exception {
    submit("j1");
    server.stop(0);
    assertThat(dispatcher(queue).runUntilIdle()).isEqualTo(new Tally(0, 1, 0, 0));
    assertThat(row("j1"))
        .containsEntry("state", "pending")
        .containsEntry("fault", "ConnectException");
  }
}
