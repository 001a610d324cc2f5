package dev.redrive;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Another Java process with the tests' class path, led by lines on its standard input. */
public final class ChildJvm implements AutoCloseable {
  private static final int KILLED = 128 + 9;

  private final Process process;
  private final BufferedReader output;
  private final PrintStream input;

  private ChildJvm(Process process) {
    this.process = process;
    this.output = new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8));
    this.input = new PrintStream(process.getOutputStream(), true, UTF_8);
  }

  public static ChildJvm start(Class<?> main, String... arguments) throws IOException {
    return under(List.of(), main, arguments);
  }

  /** Run by another command, which decides what the process sees and may do. */
  static ChildJvm under(List<String> command, Class<?> main, String... arguments)
      throws IOException {
    return start(command, System.getProperty("java.class.path"), main, arguments);
  }

  /** With a class path that lacks the jars of an artifact. */
  static ChildJvm without(String artifact, Class<?> main, String... arguments) throws IOException {
    return without(List.of(artifact), main, arguments);
  }

  static ChildJvm without(List<String> artifacts, Class<?> main, String... arguments)
      throws IOException {
    return start(
        List.of(),
        Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
            .filter(entry -> artifacts.stream().noneMatch(name -> isOf(name, entry)))
            .collect(Collectors.joining(File.pathSeparator)),
        main,
        arguments);
  }

  private static boolean isOf(String artifact, String jar) {
    return jar.contains(File.separator + artifact + "-");
  }

  private static ChildJvm start(
      List<String> prefix, String classPath, Class<?> main, String... arguments)
      throws IOException {
    List<String> command = new ArrayList<>(prefix);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    command.add("-cp");
    command.add(classPath);
    command.add(main.getName());
    command.addAll(List.of(arguments));
    return new ChildJvm(
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
  }

  public void say(String line) {
    input.println(line);
  }

  /** The next line of its output. */
  public String hear() throws IOException {
    return String.valueOf(output.readLine());
  }

  public void expect(String line) throws IOException {
    assertThat(hear()).isEqualTo(line);
  }

  public int exitCode() throws InterruptedException {
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).as("the child ends").isTrue();
    return process.exitValue();
  }

  /**
   * SIGKILL, without closing the pipe: {@link Process#destroyForcibly} would, and with it forget
   * what the process has said and nobody has read yet.
   */
  void kill() throws InterruptedException {
    assertThat(process.toHandle().destroyForcibly()).isTrue();
    assertThat(exitCode()).isEqualTo(KILLED);
  }

  /** The rest of its output, up to its end; the last line may be a part of one. */
  public List<String> lastWords() throws IOException {
    List<String> lines = new ArrayList<>();
    for (String line = output.readLine(); line != null; line = output.readLine()) {
      lines.add(line);
    }
    return lines;
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
