package dev.redrive;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.jooq.SQLDialect;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The README's programs compile and do what it says; its links lead somewhere. */
class ReadmeTest {
  private static final Path README = Path.of("README.md");

  @TempDir Path folder;

  private static List<String> blocks(String language) throws IOException {
    return Pattern.compile("```" + language + "\n(.*?)```", Pattern.DOTALL)
        .matcher(Files.readString(README))
        .results()
        .map(block -> block.group(1))
        .toList();
  }

  /** The programs by class name, compiled into the folder. */
  private Map<String, String> compiled() throws IOException {
    Map<String, String> programs = new TreeMap<>();
    for (String program : blocks("java")) {
      MatchResult name =
          Pattern.compile("public class (\\w+)")
              .matcher(program)
              .results()
              .findFirst()
              .orElseThrow();
      programs.put(name.group(1), program);
      Path source = Files.writeString(folder.resolve(name.group(1) + ".java"), program);
      assertThat(compile(source)).as("errors in %s of the README", name.group(1)).isZero();
    }
    return programs;
  }

  private static int compile(Path source) {
    return ToolProvider.getSystemJavaCompiler()
        .run(
            null,
            System.err,
            System.err,
            "-proc:none",
            "-cp",
            System.getProperty("java.class.path"),
            source.toString());
  }

  private String outputOf(String program) throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                folder
                    + System.getProperty("path.separator")
                    + System.getProperty("java.class.path"),
                program)
            .directory(folder.toFile())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertThat(process.waitFor()).as("exit code of %s", program).isZero();
    return output;
  }

  @Test
  void theProgramsCompile() throws IOException {
    assertThat(compiled()).containsKeys("Hello", "Together", "Orders", "Send", "Operate");
  }

  @Test
  void theFirstProgramPrintsWhatTheReadmeSays() throws Exception {
    assertThat(compiled()).containsKey("Hello");
    assertThat(outputOf("Hello")).isEqualTo(blocks("text").get(0));
  }

  @Test
  void theTransactionOfTheReadmeStoresAllOfIt() throws Exception {
    assertThat(compiled()).containsKey("Together");
    assertThat(outputOf("Together")).isEqualTo("CREATED\nCREATED\ndone\n");
    try (SqliteDatabase shop = Engine.sqlite(folder.resolve("shop.db")).open()) {
      assertThat(JobQueue.on(shop.dsl()).find("mail-1")).isPresent();
      assertThat(shop.dsl().fetchCount(DSL.table(DSL.name("shipped")))).isEqualTo(1);
    }
  }

  /** The port of the README may be taken on this machine; one that was just closed is not. */
  @Test
  void theDispatcherOfTheReadmeSaysWhatBecameOfTheJob() throws Exception {
    int closed;
    try (ServerSocket socket = new ServerSocket(0)) {
      closed = socket.getLocalPort();
    }
    Path source =
        Files.writeString(
            folder.resolve("Send.java"),
            compiled().get("Send").replace("localhost:8080", "localhost:" + closed));
    assertThat(compile(source)).isZero();
    assertThat(outputOf("Send")).isEqualTo("CREATED\nTally[done=0, retried=1, dead=0, stale=0]\n");
  }

  @Test
  void theOperatorsProgramOfTheReadmeRuns() throws Exception {
    assertThat(compiled()).containsKey("Operate");
    assertThat(outputOf("Operate")).contains("queue default at").contains("dead                0");
  }

  @Test
  void everyLinkLeadsToAFile() throws IOException {
    List<String> links =
        Pattern.compile("\\]\\(([^)#:]+)\\)")
            .matcher(Files.readString(README))
            .results()
            .map(link -> link.group(1))
            .toList();
    assertThat(links).isNotEmpty().allMatch(link -> Files.exists(Path.of(link)));
  }

  @Test
  void everyReviewedStatementIsLinked() throws IOException {
    String readme = Files.readString(README);
    for (String name : ReviewedSql.files(Engine.of(SQLDialect.SQLITE)).keySet()) {
      assertThat(readme)
          .contains("(db/transitions/sqlite/" + name + ".sql)")
          .contains("(db/transitions/postgresql/" + name + ".sql)");
    }
  }
}
