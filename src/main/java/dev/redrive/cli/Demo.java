package dev.redrive.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.redrive.Engine;
import dev.redrive.SqliteDatabase;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;

/**
 * The main job: sends snack orders from a queue to a shop over HTTP, with everything that goes
 * wrong on the way, and checks what both databases hold at the end.
 *
 * <p>The one argument is a file of orders, one JSON object a line: {@code {"id": "a-1", "snack":
 * "chips", "quantity": 2}}. Without it, the orders are those that come with the library.
 */
public final class Demo {
  /** Everything happened as told, and every line of the file was an order. */
  static final int OK = 0;

  /** A check failed, or the story broke off. */
  static final int FAILED = 1;

  /** The story went well, but not every line was an order; or there was no such file. */
  static final int BAD_INPUT = 2;

  private static final String SHIPPED = "orders.ndjson";

  private final PrintStream out;
  private final Path folder;

  private Demo(PrintStream out, Path folder) {
    this.out = out;
    this.folder = folder;
  }

  /**
   * Runs the demo in {@code target/demo} below the current folder, and leaves its databases there.
   * Ends the JVM with 1 if a check failed, and with 2 if a line of the file was no order.
   *
   * @param args none, or a file of orders
   */
  public static void main(String[] args) {
    // ids are in many scripts, and not every terminal's encoding is known to Java
    PrintStream out = new PrintStream(System.out, true, UTF_8);
    int exit = run(out, Path.of("target", "demo"), args);
    if (exit != OK) {
      System.exit(exit);
    }
  }

  /** Tells the story; answers the exit code. */
  static int run(PrintStream out, Path folder, String... args) {
    try {
      return new Demo(out, folder).run(args);
    } catch (Exception e) {
      out.println("The story broke off:");
      e.printStackTrace(out);
      return FAILED;
    }
  }

  private int run(String[] args) throws Exception {
    if (args.length > 1) {
      out.println("Give one file of orders, or none.");
      return BAD_INPUT;
    }
    Orders orders;
    try {
      orders = args.length == 0 ? shipped() : given(Path.of(args[0]));
    } catch (IOException e) {
      out.println("Cannot read the file of orders: " + e);
      return BAD_INPUT;
    }
    Path queue = fresh("queue.db");
    Path shop = fresh("shop.db");
    boolean told = tell(orders, queue, shop);
    orders.complaints().forEach(out::println);
    if (told) {
      return orders.complaints().isEmpty() ? OK : BAD_INPUT;
    }
    return FAILED;
  }

  private boolean tell(Orders orders, Path queueFile, Path shopFile) throws Exception {
    DemoClock clock = new DemoClock();
    try (SqliteDatabase database = Engine.sqlite(queueFile).open();
        SnackShop shop = SnackShop.open(shopFile, Story.stockFor(orders));
        SnackServer server = SnackServer.open(shop)) {
      out.printf(
          "Snack orders go from a queue, %s, over HTTP to a shop, %s.%n", queueFile, shopFile);
      Checks checks = new Story(out, orders, database, clock, shop, server).tell();
      checks.print(out);
      out.println(checks.allHold() ? "Every check held. Look for yourself:" : "A CHECK FAILED.");
      lookAt(queueFile, "select id, state, reason, fault, token from jobs where state = 'dead'");
      lookAt(
          queueFile,
          "select job_id, previous_reason, previous_fault, note, approved_by from redrives");
      lookAt(shopFile, "select * from stock");
      return checks.allHold();
    }
  }

  private void lookAt(Path file, String query) {
    out.printf("  sqlite3 -box %s \"%s\"%n", file, query);
  }

  private static Orders shipped() throws IOException {
    try (InputStream in = Demo.class.getResourceAsStream(SHIPPED)) {
      if (in == null) {
        throw new NoSuchFileException(SHIPPED);
      }
      return Orders.read(SHIPPED, in.readAllBytes());
    }
  }

  private static Orders given(Path file) throws IOException {
    return Orders.read(String.valueOf(file.getFileName()), Files.readAllBytes(file));
  }

  /** Deletes what an earlier run left, and what SQLite may have left beside it. */
  private Path fresh(String name) throws IOException {
    Files.createDirectories(folder);
    for (String left : List.of(name, name + "-journal", name + "-wal", name + "-shm")) {
      Files.deleteIfExists(folder.resolve(left));
    }
    return folder.resolve(name);
  }
}
