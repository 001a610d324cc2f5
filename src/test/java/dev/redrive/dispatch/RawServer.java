package dev.redrive.dispatch;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A server that answers every request with the same bytes, however wrong, and then does as told.
 */
final class RawServer implements AutoCloseable {

  /** What follows the answer. */
  @FunctionalInterface
  interface Then {
    void run(Socket client) throws IOException;
  }

  /** The end of the connection. */
  static final Then CLOSE = client -> {};

  /** Nothing, until the client leaves. */
  static final Then HANG =
      client -> {
        while (client.getInputStream().read() >= 0) {
          // whatever it says
        }
      };

  private final ServerSocket socket;
  private final byte[] answer;
  private final Then then;
  private final List<String> requests = new CopyOnWriteArrayList<>();
  private final CountDownLatch asked = new CountDownLatch(1);
  private final CountDownLatch clientLeft = new CountDownLatch(1);

  private RawServer(String answer, Then then) throws IOException {
    this.socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    this.answer = answer.getBytes(UTF_8);
    this.then = then;
    Thread thread = new Thread(this::serve, "raw-server");
    thread.setDaemon(true);
    thread.start();
  }

  static RawServer answering(String answer) {
    return answering(answer, CLOSE);
  }

  static RawServer answering(String answer, Then then) {
    try {
      return new RawServer(answer, then);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A well-formed answer. */
  static String response(int status, String body, String... headers) {
    StringBuilder text = new StringBuilder("HTTP/1.1 " + status + " Words\r\n");
    for (String header : headers) {
      text.append(header).append("\r\n");
    }
    if (status != 204) {
      text.append("Content-Length: ").append(body.getBytes(UTF_8).length).append("\r\n");
    }
    return text.append("\r\n").append(body).toString();
  }

  URI uri() {
    return URI.create("http://127.0.0.1:" + socket.getLocalPort() + "/orders");
  }

  /** Each request as it came: its head, whose bytes are one character each, and its body. */
  List<String> requests() {
    return requests;
  }

  boolean wasAsked() throws InterruptedException {
    return asked.await(30, TimeUnit.SECONDS);
  }

  /** Whether the client closes the connection, rather than leave it to the server for ever. */
  boolean clientLeaves() throws InterruptedException {
    return clientLeft.await(30, TimeUnit.SECONDS);
  }

  private void serve() {
    while (!socket.isClosed()) {
      try (Socket client = socket.accept()) {
        requests.add(read(client.getInputStream()));
        asked.countDown();
        OutputStream out = client.getOutputStream();
        out.write(answer);
        out.flush();
        then.run(client);
        clientLeft.countDown();
      } catch (IOException e) {
        clientLeft.countDown(); // or the server was closed
      }
    }
  }

  private static String read(InputStream in) throws IOException {
    ByteArrayOutputStream head = new ByteArrayOutputStream();
    while (!head.toString(ISO_8859_1).endsWith("\r\n\r\n")) {
      int b = in.read();
      if (b < 0) {
        throw new IOException("half a request");
      }
      head.write(b);
    }
    String text = head.toString(ISO_8859_1);
    return text + new String(in.readNBytes(contentLength(text)), UTF_8);
  }

  private static int contentLength(String head) {
    return head.lines()
        .filter(line -> line.startsWith("Content-Length: "))
        .mapToInt(line -> Integer.parseInt(line.substring("Content-Length: ".length())))
        .sum();
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
