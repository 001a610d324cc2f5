package dev.redrive;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;

/** A way to a PostgreSQL server that breaks off around one COMMIT. */
final class CuttingProxy implements AutoCloseable {
  private static final String COMMIT = "COMMIT";

  /** Where the next COMMIT breaks the connection. */
  enum Cut {
    NOWHERE,
    /** The server never hears it, and rolls back. */
    BEFORE_IT_ARRIVES,
    /** The server has answered that it committed; the answer is lost. */
    BEFORE_ITS_ANSWER
  }

  private final String host;
  private final int port;
  private final ServerSocket door;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final AtomicReference<Cut> cut = new AtomicReference<>(Cut.NOWHERE);

  CuttingProxy() throws IOException {
    this(PostgresqlServer.host(), PostgresqlServer.port());
  }

  CuttingProxy(String host, int port) throws IOException {
    this.host = host;
    this.port = port;
    door = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    run(this::acceptAll);
  }

  /** The address of the same database through this proxy, which can read every COMMIT on it. */
  String url(String direct) {
    return PostgresqlServer.with(
        direct.replaceFirst("//[^/]+/", "//localhost:" + door.getLocalPort() + "/"),
        "sslmode=disable&gssEncMode=disable&prepareThreshold=0");
  }

  void cutNextCommit(Cut where) {
    cut.set(where);
  }

  @FunctionalInterface
  private interface Task {
    void run() throws IOException;
  }

  /** Sockets that are closed under a task are its end. */
  private void run(Task task) {
    threads.execute(
        () -> {
          try {
            task.run();
          } catch (IOException closed) {
            return;
          }
        });
  }

  private void acceptAll() throws IOException {
    for (; ; ) {
      Socket client = door.accept();
      Socket server;
      try {
        server = new Socket(host, port);
      } catch (IOException down) {
        client.close();
        continue;
      }
      AtomicReference<Cut> current = new AtomicReference<>(Cut.NOWHERE);
      run(() -> toServer(client, server, current));
      run(() -> toClient(client, server, current));
    }
  }

  private void toServer(Socket client, Socket server, AtomicReference<Cut> current)
      throws IOException {
    try (client;
        server) {
      InputStream in = client.getInputStream();
      OutputStream out = server.getOutputStream();
      byte[] buffer = new byte[1 << 16];
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        if (new String(buffer, 0, n, ISO_8859_1).contains(COMMIT)) {
          current.set(cut.getAndSet(Cut.NOWHERE));
        }
        if (current.get() == Cut.BEFORE_IT_ARRIVES) {
          return;
        }
        out.write(buffer, 0, n);
      }
    }
  }

  private void toClient(Socket client, Socket server, AtomicReference<Cut> current)
      throws IOException {
    try (client;
        server) {
      InputStream in = server.getInputStream();
      OutputStream out = client.getOutputStream();
      byte[] buffer = new byte[1 << 16];
      StringBuilder kept = new StringBuilder();
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        if (current.get() != Cut.BEFORE_ITS_ANSWER) {
          out.write(buffer, 0, n);
        } else if (kept.append(new String(buffer, 0, n, ISO_8859_1)).indexOf(COMMIT) >= 0) {
          return;
        }
      }
    }
  }

  @Override
  public void close() throws IOException {
    door.close();
    threads.shutdownNow();
  }
}
