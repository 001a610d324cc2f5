package dev.redrive.dispatch;

import static dev.redrive.dispatch.RawServer.HANG;
import static dev.redrive.dispatch.RawServer.response;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redrive.Lease;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every kind of answer, from servers that mean it and servers that break it. */
@Timeout(60)
class HttpHandlerTest {
  private static final String ACK = "{\"accepted\":true}";
  private static final Instant NOW = Instant.ofEpochMilli(1_800_000_000_000L);
  private static final Duration SHORT = Duration.ofMillis(250);

  private static Lease lease(String id) {
    return new Lease("orders", id, "A", 7, 2, 5, NOW, NOW, "{\"김치\":\"🍜\"}");
  }

  private static HttpHandler.Builder handler(RawServer server) {
    return HttpHandler.builder(server.uri()).clock(InstantSource.fixed(NOW));
  }

  /** What comes out of one delivery that the server answers like this. */
  private static Throwable refusal(String answer) {
    try (RawServer server = RawServer.answering(answer)) {
      return refusal(handler(server).build());
    }
  }

  /** Each ¶ is the end of a line, each ' a quotation mark. */
  private static String http(String text) {
    return text.replace("¶", "\r\n").replace('\'', '"');
  }

  private static Throwable refusal(HttpHandler handler) {
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    assertThatThrownBy(() -> assertThat(handler.handle(lease("j1"))).isNull())
        .satisfies(thrown::set);
    return thrown.get();
  }

  private static void assertRetryable(Throwable verdict, String fault) {
    assertThat(verdict)
        .isInstanceOfSatisfying(
            Retryable.class, retryable -> assertThat(retryable.fault()).isEqualTo(fault));
  }

  @ParameterizedTest
  @ValueSource(ints = {200, 201, 202, 206, 299})
  void anAckWithAnySuccessIsTrue(int status) throws Exception {
    try (RawServer server = RawServer.answering(response(status, ACK))) {
      assertThat(handler(server).build().handle(lease("j1"))).isTrue();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        " { \"accepted\" : true } \r\n",
        "{\"id\":\"j1\",\"accepted\":true,\"stock\":[1,2,{\"accepted\":false}]}",
        "{\"\\u0061ccepted\":true}",
      })
  void anAckMayBeWrittenAnyWayThatJsonAllows(String body) throws Exception {
    try (RawServer server = RawServer.answering(response(200, body))) {
      assertThat(handler(server).build().handle(lease("j1"))).isTrue();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "true",
        "\"accepted\"",
        "[]",
        "[{\"accepted\":true}]",
        "{}",
        "{\"accepted\":1}",
        "{\"accepted\":1.0}",
        "{\"accepted\":\"ok\"}",
        "{\"accepted\":\"true\"}",
        "{\"accepted\":null}",
        "{\"accepted\":false}",
        "{\"accepted\":[true]}",
        "{\"accepted\":{\"accepted\":true}}",
        "{\"result\":{\"accepted\":true}}",
        "{\"Accepted\":true}",
        "{\"accepted\":True}",
        "{\"accepted\":true,\"accepted\":true}",
        "{\"accepted\":false,\"accepted\":true}",
        "{\"accepted\":true,\"\\u0061ccepted\":false}",
        "{\"accepted\":true,\"more\":{\"a\":1,\"a\":2}}",
        "{\"accepted\":true}x",
        "{\"accepted\":true}{}",
        "{\"accepted\":true}\u0000",
        "{\"accepted\":true,}",
        "{\"accepted\":true",
        "{'accepted':true}",
        "{\"accepted\":true/* yes */}",
        "accepted=true",
        "<html><body>OK</body></html>",
      })
  void anySuccessWithoutTheAckIsNoVerdict(String body) {
    assertThat(refusal(response(200, body)))
        .isInstanceOf(BadAckException.class)
        .hasMessageStartingWith("the receiver answered 200 with a body wh")
        .hasMessageContaining("orders/j1");
  }

  @Test
  void deeplyNestedAnswersAreNoVerdict() {
    assertThat(refusal(response(200, "{\"accepted\":".repeat(5_000))))
        .isInstanceOf(BadAckException.class);
  }

  @Test
  void aBadAckNeverQuotesTheAnswer() {
    assertThat(refusal(response(200, "{\"accepted\":\"s3cret\",\"s3cret\":s3cret")).getMessage())
        .doesNotContain("s3cret");
  }

  @Test
  void noContentIsNoVerdict() {
    assertThat(refusal(response(204, ""))).isInstanceOf(BadAckException.class);
  }

  @Test
  void aCompressedAnswerIsNoVerdict() {
    assertThat(refusal(response(200, "\u001f\u008b\b", "Content-Encoding: gzip")))
        .isInstanceOf(BadAckException.class);
  }

  @ParameterizedTest
  @ValueSource(ints = {408, 425, 429, 500, 501, 502, 503, 504, 507, 599, 600, 999})
  void whatMayPassIsRetryable(int status) {
    Throwable verdict = refusal(response(status, ACK));
    assertRetryable(verdict, "http-" + status);
    assertThat(((Retryable) verdict).delay()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      ints = {
        300, 301, 302, 303, 304, 305, 307, 308, 399, 400, 401, 402, 403, 404, 405, 406, 407, 409,
        410, 411, 412, 413, 414, 415, 416, 417, 418, 421, 422, 423, 424, 426, 428, 431, 451, 499
      })
  void whatStaysWrongIsPermanent(int status) {
    assertThat(refusal(response(status, ACK)))
        .isInstanceOfSatisfying(
            Permanent.class,
            permanent -> assertThat(permanent.fault()).isEqualTo("http-" + status));
  }

  @ParameterizedTest
  @ValueSource(ints = {401, 407})
  void aChallengeIsPermanentToo(int status) {
    assertThat(
            refusal(
                response(
                    status, "", "WWW-Authenticate: Basic realm=x", "Proxy-Authenticate: Basic")))
        .isInstanceOf(Permanent.class);
  }

  @Test
  void redirectsAreNotFollowed() {
    try (RawServer elsewhere = RawServer.answering(response(200, ACK))) {
      for (int status : new int[] {301, 302, 303, 307, 308}) {
        assertThat(refusal(response(status, "", "Location: " + elsewhere.uri())))
            .isInstanceOf(Permanent.class);
      }
      assertThat(elsewhere.requests()).isEmpty();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "7, 7000",
    "0, ",
    "3599, 3599000",
    "3600, 3600000",
    "3601, 3600000",
    "99999999999999999999, 3600000",
    "soon, ",
    "-5, ",
    "'Fri, 15 Jan 2027 08:00:10 GMT', 10000",
    "'Fri, 15 Jan 2027 07:59:59 GMT', ",
    "'Sat, 16 Jan 2027 08:00:00 GMT', 3600000",
  })
  void retryAfterIsHonouredUpToTheCap(String header, Long millis) {
    for (int status : new int[] {429, 503}) {
      Retryable verdict = (Retryable) refusal(response(status, "", "Retry-After: " + header));
      assertThat(verdict.delay().map(Duration::toMillis).orElse(null)).isEqualTo(millis);
      assertThat(verdict.fault()).isEqualTo("http-" + status);
    }
  }

  @Test
  void theCapOfRetryAfterIsASetting() {
    try (RawServer server = RawServer.answering(response(503, "", "Retry-After: 60"))) {
      HttpHandler.Builder settings = handler(server);
      assertThat(
              ((Retryable) refusal(settings.maxRetryAfter(Duration.ofSeconds(9)).build())).delay())
          .contains(Duration.ofSeconds(9));
      assertThat(((Retryable) refusal(settings.maxRetryAfter(Duration.ZERO).build())).delay())
          .isEmpty();
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "Content-Length: 500¶¶{'accepted':true} | EOFException",
        "Content-Length: 17¶¶{'accepted':tr | EOFException",
        "Content-Length: abc¶¶{'accepted':true} | NumberFormatException",
        "Transfer-Encoding: chunked¶¶11¶{'accepted':true} | EOFException",
        "Transfer-Encoding: chunked¶¶11¶{'accepted':true}¶ | EOFException",
        "Transfer-Encoding: chunked¶¶zz¶{'accepted':true}¶ | IOException",
      },
      quoteCharacter = '"')
  void aSuccessThatBreaksOffIsRetryable(String rest, String fault) {
    assertRetryable(refusal(http("HTTP/1.1 200 OK¶" + rest)), fault);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'' | EOFException",
        "HTTP/1.1 200 OK | EOFException",
        "HTTP/1.1 200 OK¶Content-Le | EOFException",
        "220 mail.example ESMTP¶¶ | ProtocolException",
        "HTTP/1.1 101 Switching Protocols¶¶ | ProtocolException",
      })
  void anAnswerThatIsNoHttpIsRetryable(String answer, String fault) {
    assertRetryable(refusal(http(answer)), fault);
  }

  @Test
  void theDeclaredLengthIsTheAnswer() throws Exception {
    String longer = "HTTP/1.1 200 OK\r\nContent-Length: 17\r\n\r\n" + ACK + "{}{}{}";
    try (RawServer server = RawServer.answering(longer)) {
      assertThat(handler(server).build().handle(lease("j1"))).isTrue();
    }
    assertThat(refusal("HTTP/1.1 200 OK\r\nContent-Length: 16\r\n\r\n" + ACK))
        .isInstanceOf(BadAckException.class);
  }

  @Test
  void withoutALengthTheEndOfTheConnectionIsTheEndOfTheAnswer() throws Exception {
    try (RawServer server = RawServer.answering("HTTP/1.1 200 OK\r\n\r\n" + ACK)) {
      assertThat(handler(server).build().handle(lease("j1"))).isTrue();
    }
    assertThat(refusal("HTTP/1.1 200 OK\r\n\r\n{\"accepted\":tr"))
        .isInstanceOf(BadAckException.class);
  }

  @Test
  void chunksMakeAWholeAnswer() throws Exception {
    String chunked = http("HTTP/1.1 200 OK¶Transfer-Encoding: chunked¶¶5¶{'acc¶c¶epted':true}¶0¶¶");
    try (RawServer server = RawServer.answering(chunked)) {
      assertThat(handler(server).build().handle(lease("j1"))).isTrue();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "HTTP/1.1 200 OK\r\nContent-",
        "HTTP/1.1 200 OK\r\nContent-Length: 17\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 17\r\n\r\n{\"acc",
      })
  void aServerThatHangsIsGivenUp(String answer) throws Exception {
    try (RawServer server = RawServer.answering(answer, HANG)) {
      assertRetryable(refusal(handler(server).timeout(SHORT).build()), "HttpTimeoutException");
      assertThat(server.clientLeaves()).isTrue();
    }
  }

  @Test
  void aBodyThatDripsForEverIsGivenUp() throws Exception {
    String head = "HTTP/1.1 200 OK\r\n\r\n";
    try (RawServer server = RawServer.answering(head, client -> endless(client, 1))) {
      HttpHandler handler = handler(server).timeout(SHORT).maxAnswerBytes(16 << 20).build();
      assertRetryable(refusal(handler), "HttpTimeoutException");
      assertThat(server.clientLeaves()).isTrue();
    }
  }

  @Test
  void aBodyWithoutEndIsNotReadPastTheLimit() throws Exception {
    String head = "HTTP/1.1 200 OK\r\n\r\n";
    try (RawServer server = RawServer.answering(head, client -> endless(client, 8_192))) {
      assertThat(refusal(handler(server).build()))
          .isInstanceOf(BadAckException.class)
          .hasMessageContaining("longer than 65536 bytes");
      assertThat(server.clientLeaves()).isTrue();
    }
  }

  @Test
  void theBodyOfARefusalIsNotWaitedFor() throws Exception {
    String head = "HTTP/1.1 503 Busy\r\nRetry-After: 3\r\nContent-Length: 9999999999\r\n\r\n";
    try (RawServer server = RawServer.answering(head, client -> endless(client, 8_192))) {
      assertRetryable(refusal(handler(server).build()), "http-503");
      assertThat(server.clientLeaves()).isTrue();
    }
    try (RawServer server = RawServer.answering(head, HANG)) {
      assertRetryable(refusal(handler(server).build()), "http-503");
      assertThat(server.clientLeaves()).isTrue();
    }
  }

  private static void endless(Socket client, int bytes) throws IOException {
    OutputStream out = client.getOutputStream();
    byte[] spaces = " ".repeat(bytes).getBytes(UTF_8);
    for (; ; ) {
      out.write(spaces);
    }
  }

  @Test
  void theLimitIsTheLongestAnswerThatIsRead() throws Exception {
    try (RawServer server = RawServer.answering(response(200, ACK))) {
      assertThat(handler(server).maxAnswerBytes(17).build().handle(lease("j1"))).isTrue();
      assertThat(refusal(handler(server).maxAnswerBytes(16).build()))
          .isInstanceOf(BadAckException.class);
    }
  }

  @Test
  void aRefusedConnectionIsRetryable() throws Exception {
    int port;
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    HttpHandler handler = HttpHandler.to(URI.create("http://127.0.0.1:" + port + "/"));
    assertRetryable(refusal(handler), "ConnectException");
  }

  @Test
  void anInterruptEndsTheDeliveryWithoutAVerdict() throws Exception {
    try (RawServer server = RawServer.answering("", HANG)) {
      CompletableFuture<Throwable> outcome = new CompletableFuture<>();
      HttpHandler handler = handler(server).build();
      Thread worker = new Thread(() -> outcome.complete(refusal(handler)), "interrupted-worker");
      worker.start();
      assertThat(server.wasAsked()).isTrue();
      worker.interrupt();
      assertThat(outcome.get()).isInstanceOf(InterruptedException.class);
      assertThat(server.clientLeaves()).isTrue();
    }
  }

  @Test
  void theRequestSaysWhichJobItIs() throws Exception {
    try (RawServer server = RawServer.answering(response(200, ACK))) {
      assertThat(handler(server).build().handle(lease("주문/50%"))).isTrue();
      assertThat(server.requests().get(0).lines())
          .startsWith("POST /orders HTTP/1.1")
          .contains(
              "Idempotency-Key: orders/%EC%A3%BC%EB%AC%B8%2F50%25",
              "Redrive-Token: 7",
              "Redrive-Attempt: 2",
              "Content-Type: application/json",
              "Accept: application/json",
              "Content-Length: 17")
          .endsWith("", "{\"김치\":\"🍜\"}")
          .noneMatch(line -> line.startsWith("Upgrade") || line.startsWith("Expect"));
    }
  }

  @Test
  void headersAreAddedOrReplaced() throws Exception {
    try (RawServer server = RawServer.answering(response(200, ACK))) {
      HttpHandler handler =
          handler(server)
              .header("Authorization", "Bearer t0ken")
              .header("content-type", "text/plain; charset=utf-8")
              .build();
      assertThat(handler.handle(lease("j1"))).isTrue();
      assertThat(server.requests().get(0).lines())
          .contains("Authorization: Bearer t0ken", "Content-Type: text/plain; charset=utf-8")
          .doesNotContain("Content-Type: application/json");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/orders",
        "shop.example/orders",
        "ftp://shop.example/",
        "file:///orders",
        "mailto:shop@example.com",
        "http:///orders",
        "http://shop.example:0/",
        "http://shop.example:65536/",
        "http://kim:s3cret@shop.example/",
        "http://shop.example/#s3cret",
      })
  void anAddressThatCannotBePostedToIsRefused(String address) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> HttpHandler.to(URI.create(address)))
        .withMessageStartingWith("receiver must")
        .withMessageNotContaining("s3cret");
  }

  @Test
  void brokenSettingsAreRefusedByName() {
    HttpHandler.Builder settings = HttpHandler.builder(URI.create("http://shop.example/"));
    assertRefused(() -> HttpHandler.builder(null), "receiver must not be null");
    assertRefused(() -> settings.timeout(null), "timeout must not be null");
    assertRefused(() -> settings.timeout(Duration.ZERO), "timeout must be 1 ms to 3650 days");
    assertRefused(() -> settings.connectTimeout(null), "connectTimeout must not be null");
    assertRefused(
        () -> settings.connectTimeout(Duration.ofNanos(1)), "connectTimeout must be 1 ms to");
    assertRefused(() -> settings.maxRetryAfter(null), "maxRetryAfter must not be null");
    assertRefused(
        () -> settings.maxRetryAfter(Duration.ofMillis(-1)), "maxRetryAfter must be 0 ms to");
    assertRefused(() -> settings.maxAnswerBytes(0), "bytes must be 1 to 16777216");
    assertRefused(() -> settings.clock(null), "clock must not be null");
    assertRefused(() -> settings.header(null, "x"), "name must not be null");
    assertRefused(() -> settings.header("X", null), "value must not be null");
    assertRefused(() -> settings.header("idempotency-KEY", "x"), "name must not be one of");
    assertRefused(() -> settings.header("Host", "x"), "name and value must make a header");
    assertRefused(() -> settings.header("X", "s3cret\r\nY: z"), "name and value must make");
  }

  @Test
  void noJobIsRefused() {
    HttpHandler handler = HttpHandler.to(URI.create("http://shop.example/"));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> handler.handle(null))
        .withMessage("lease must not be null");
  }

  private static void assertRefused(Supplier<HttpHandler.Builder> call, String message) {
    assertThatIllegalArgumentException()
        .isThrownBy(call::get)
        .withMessageStartingWith(message)
        .withMessageNotContaining("s3cret")
        .withNoCause();
  }
}
