package dev.redrive.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.sql.SQLException;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** The shop's front: an HTTP server that can be closed and opened again at the same address. */
final class SnackServer implements AutoCloseable {
  private static final String ACCEPTED = "{\"accepted\":true}";

  private final SnackShop shop;
  private final AtomicInteger requests = new AtomicInteger();
  private final AtomicBoolean mumbles = new AtomicBoolean();
  private HttpServer server;

  private SnackServer(SnackShop shop, HttpServer server) {
    this.shop = shop;
    this.server = server;
  }

  static SnackServer open(SnackShop shop) throws IOException {
    SnackServer opened = new SnackServer(shop, listening(0));
    opened.serve();
    return opened;
  }

  private static HttpServer listening(int port) throws IOException {
    return HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
  }

  private void serve() {
    server.createContext("/orders", this::answer);
    server.start();
  }

  URI uri() {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/orders");
  }

  /** Opens again after {@link #close}. */
  void reopen() throws IOException {
    server = listening(server.getAddress().getPort());
    serve();
  }

  /** Lets the next order be booked, but answered with a 1 that is no ack. */
  void mumbleOnce() {
    mumbles.set(true);
  }

  int requests() {
    return requests.get();
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      requests.incrementAndGet();
      String key = exchange.getRequestHeaders().getFirst("Idempotency-Key");
      String body = new String(exchange.getRequestBody().readAllBytes(), UTF_8);
      Optional<SnackOrder> order = SnackOrder.parse(body);
      if (key == null) {
        reply(exchange, 400, "{\"error\":\"no Idempotency-Key\"}");
      } else if (order.isEmpty()) {
        reply(exchange, 422, "{\"error\":\"no snack in a quantity of 1 to 1000\"}");
      } else {
        book(exchange, key, order.get());
      }
    }
  }

  private void book(HttpExchange exchange, String key, SnackOrder order) throws IOException {
    try {
      switch (shop.book(key, order)) {
        case ACCEPTED ->
            reply(exchange, 200, mumbles.getAndSet(false) ? "{\"accepted\":1}" : ACCEPTED);
        case UNKNOWN_SNACK -> reply(exchange, 404, "{\"error\":\"not on the menu\"}");
        case SOLD_OUT -> reply(exchange, 409, "{\"error\":\"sold out\"}");
      }
    } catch (SQLException e) {
      reply(exchange, 503, "{\"error\":\"the shop's database\"}");
    }
  }

  private static void reply(HttpExchange exchange, int status, String text) throws IOException {
    byte[] body = text.getBytes(UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    // this server sends head and body apart, and on a kept connection the second waits for 40 ms
    exchange.getResponseHeaders().set("Connection", "close");
    exchange.sendResponseHeaders(status, body.length);
    exchange.getResponseBody().write(body);
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
