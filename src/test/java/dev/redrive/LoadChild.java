package dev.redrive;

import static dev.redrive.schema.Tables.JOBS;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import org.jooq.DSLContext;
import org.jooq.exception.DataAccessException;

/**
 * A process that calls and calls, until it is told to stop or killed: a thread and a queue for each
 * name. It tells of every call before it is made, and of every answer after; when the database
 * failed, it tells so once it can be read again, and waits to be told to go on.
 */
final class LoadChild {
  private static final PrintStream OUT = new PrintStream(System.out, true, UTF_8);

  private final DSLContext dsl;
  private final Map<String, Semaphore> goOn = new ConcurrentHashMap<>();
  private volatile boolean stopped;

  private LoadChild(DSLContext dsl) {
    this.dsl = dsl;
  }

  /** What a line says of a call. The last character tells a whole line from one cut off. */
  record Said(String queue, int turn, char what, String text) {
    static final char CALLS = '>';
    static final char ANSWERED = '=';
    static final char FAILED = '!';
    static final char STOPPED = '.';
    static final char ECHO = '~';
    private static final String END = " ;";

    static boolean isWhole(String line) {
      return line.endsWith(END);
    }

    static Said parse(String line) {
      String[] words = line.substring(0, line.length() - END.length()).split(" ", 4);
      return new Said(words[0], Integer.parseInt(words[1]), words[2].charAt(0), words[3]);
    }

    boolean isCall(Load.Verb verb) {
      return what == CALLS && text.equals(verb.name());
    }

    private String line() {
      return queue + " " + turn + " " + what + " " + text + END;
    }
  }

  /**
   * Calls until it is told to stop.
   *
   * @param arguments the engine, the URL, the seed, the time to start with, and the names
   */
  public static void main(String[] arguments) throws Exception {
    BufferedReader words = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    LoadChild child = new LoadChild(Backend.valueOf(arguments[0]).connect(arguments[1]));
    Thread.setDefaultUncaughtExceptionHandler(LoadChild::end);
    long seed = Long.parseLong(arguments[2]);
    long start = Long.parseLong(arguments[3]);
    for (String name : List.of(arguments).subList(4, arguments.length)) {
      child.goOn.put(name, new Semaphore(0));
      Load load = new Load(child.dsl, name);
      load.start(seed, start);
      new Thread(() -> child.run(load, name), name).start();
    }
    for (String word = words.readLine(); word != null; word = words.readLine()) {
      switch (word) {
        case "stop" -> child.stopped = true;
        case "echo" -> say(new Said("main", 0, Said.ECHO, word));
        default -> child.goOn.get(word).release();
      }
    }
    child.stopped = true;
  }

  private static void end(Thread thread, Throwable unexpected) {
    unexpected.printStackTrace();
    Runtime.getRuntime().halt(1);
  }

  private void run(Load load, String name) {
    while (!stopped) {
      Load.Verb verb = load.next();
      say(new Said(name, load.turn(), Said.CALLS, verb.name()));
      try {
        String answer = load.answer();
        load.learn();
        say(new Said(name, load.turn(), Said.ANSWERED, answer));
      } catch (DataAccessException e) {
        awaitDatabase();
        say(new Said(name, load.turn(), Said.FAILED, e.toString().replaceAll("\\s+", " ")));
        goOn.get(name).acquireUninterruptibly();
      }
    }
    say(new Said(name, load.turn(), Said.STOPPED, "stopped"));
  }

  private static void say(Said said) {
    OUT.println(said.line());
  }

  /** Tries until it answers; the pool's own waiting paces it. */
  private void awaitDatabase() {
    while (true) {
      try {
        dsl.fetchExists(JOBS);
        return;
      } catch (DataAccessException stillDown) {
        // that is what is waited for
      }
    }
  }
}
