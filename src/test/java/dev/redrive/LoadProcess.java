package dev.redrive;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redrive.LoadChild.Said;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** A {@link LoadChild} as its parent sees it, which compares every answer with its shadow's. */
final class LoadProcess implements AutoCloseable {
  private static final int PROGRESS = 5;

  private final ChildJvm child;
  private final Map<String, Shadow> shadows;
  private int answers;

  private LoadProcess(ChildJvm child, Map<String, Shadow> shadows) {
    this.child = child;
    this.shadows = shadows;
  }

  /** Starts it, and the shadows with it. */
  static LoadProcess start(
      Backend backend, String url, Map<String, Shadow> shadows, long seed, long now)
      throws IOException {
    shadows.values().forEach(shadow -> shadow.start(seed, now));
    List<String> arguments = new ArrayList<>();
    arguments.addAll(List.of(backend.name(), url, Long.toString(seed), Long.toString(now)));
    arguments.addAll(shadows.keySet());
    return new LoadProcess(
        ChildJvm.start(LoadChild.class, arguments.toArray(String[]::new)), shadows);
  }

  /** How many of its answers were compared. */
  int answers() {
    return answers;
  }

  /** The next line, of a process that is expected to go on. */
  Said hear() throws IOException {
    String line = child.hear();
    assertThat(line).matches(Said::isWhole, "is a line of a process that goes on");
    Said said = Said.parse(line);
    compare(said);
    return said;
  }

  private void compare(Said said) {
    if (said.what() == Said.ANSWERED) {
      shadows.get(said.queue()).follow(said);
      answers++;
    }
  }

  /** Kills it, and answers what it had said by then and nobody had heard. */
  List<Said> kill() throws IOException, InterruptedException {
    child.kill();
    List<Said> last = child.lastWords().stream().filter(Said::isWhole).map(Said::parse).toList();
    last.forEach(this::compare);
    return last;
  }

  void goOn(String queue) {
    child.say(queue);
  }

  /** Hears every thread answer, and answer again, from now on. */
  void awaitProgress(Consumer<Said> other) throws IOException {
    child.say("echo");
    for (Said said = hear(); said.what() != Said.ECHO; said = hear()) {
      other.accept(said);
    }
    Map<String, Integer> progress = new HashMap<>();
    while (progress.size() < shadows.size() || Collections.min(progress.values()) < PROGRESS) {
      Said said = hear();
      other.accept(said);
      if (said.what() == Said.ANSWERED) {
        progress.merge(said.queue(), 1, Integer::sum);
      }
    }
  }

  /** Lets every thread end its last call. */
  void stop(Consumer<Said> other) throws IOException, InterruptedException {
    child.say("stop");
    for (int running = shadows.size(); running > 0; ) {
      Said said = hear();
      other.accept(said);
      running -= said.what() == Said.STOPPED ? 1 : 0;
    }
  }

  @Override
  public void close() {
    child.close();
  }
}
