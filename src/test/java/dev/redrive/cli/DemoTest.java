package dev.redrive.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DemoTest {
  @TempDir Path folder;

  private final ByteArrayOutputStream printed = new ByteArrayOutputStream();

  private int run(String... args) {
    printed.reset();
    return Demo.run(new PrintStream(printed, true, UTF_8), folder.resolve("demo"), args);
  }

  private List<String> output() {
    return printed.toString(UTF_8).lines().toList();
  }

  private String file(String... lines) throws IOException {
    return Files.writeString(folder.resolve("mine.ndjson"), String.join("\n", lines)).toString();
  }

  @Test
  void goesAsToldTwiceInARowAndFitsOnAScreen() {
    assertThat(run()).as("%s", output()).isEqualTo(Demo.OK);
    List<String> first = output();
    assertThat(run()).as("%s", output()).isEqualTo(Demo.OK);
    assertThat(output()).isEqualTo(first).hasSizeLessThan(60);
    assertThat(first)
        .noneMatch(line -> line.contains("FAILED") || line.contains("null"))
        .anyMatch(line -> line.startsWith("Every check held"));
    assertThat(folder.resolve("demo/queue.db")).exists();
    assertThat(folder.resolve("demo/shop.db")).exists();
  }

  @Test
  void anotherFileIsToldToo() throws IOException {
    assertThat(run(file("{\"id\":\"a\",\"snack\":\"x\",\"quantity\":2}"))).isEqualTo(Demo.OK);
    assertThat(output()).anyMatch(line -> line.contains("1 orders of mine.ndjson"));
  }

  @Test
  void anEmptyFileIsNoTrouble() throws IOException {
    assertThat(run(file())).as("%s", output()).isEqualTo(Demo.OK);
  }

  @Test
  void malformedLinesAreNamedAndTheOthersGoOn() throws IOException {
    int exit =
        run(
            file(
                "{\"id\":\"good-1\",\"snack\":\"x\",\"quantity\":2}",
                "{\"id\":\"half",
                "",
                "{\"id\":\"good-2\",\"snack\":\"x\",\"quantity\":2}",
                "{\"id\":\"good-1\",\"snack\":\"x\",\"quantity\":3}",
                "{\"id\":7}",
                "{\"id\":\"good-3\",\"snack\":\"x\",\"quantity\":\"many\"}"));
    assertThat(exit).isEqualTo(Demo.BAD_INPUT);
    assertThat(output())
        .contains(
            "mine.ndjson line 2 was skipped: it is broken JSON, repeats a key, or goes on after its end",
            "mine.ndjson line 5 was skipped: its id belongs to another order",
            "mine.ndjson line 6 was skipped: it is not a JSON object whose id is a text")
        .anyMatch(line -> line.matches("  permanent +http-422 .* good-3"))
        .anyMatch(line -> line.startsWith("Every check held"))
        .noneMatch(line -> line.contains("FAILED"));
  }

  @Test
  void aFileThatCannotBeReadIsOneSentence() {
    assertThat(run(folder.resolve("none.ndjson").toString())).isEqualTo(Demo.BAD_INPUT);
    assertThat(output())
        .singleElement()
        .asString()
        .startsWith("Cannot read the file of orders")
        .contains("none.ndjson");
    assertThat(run(folder.toString())).isEqualTo(Demo.BAD_INPUT);
    assertThat(run("a", "b")).isEqualTo(Demo.BAD_INPUT);
  }
}
