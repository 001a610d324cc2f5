package dev.redrive;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is in the jars that a host gets. */
class JarIT {
  private static final String LIBRARY = ".jar";
  private static final String SOURCES = "-sources.jar";
  private static final String JAVADOC = "-javadoc.jar";

  private static List<String> names(String kind) throws IOException {
    try (ZipFile jar = new ZipFile(BuildMaven.jar(kind).toFile())) {
      return jar.stream().filter(entry -> !entry.isDirectory()).map(ZipEntry::getName).toList();
    }
  }

  /** The files by name, each byte a character. */
  private static Map<String, String> contents(String kind) throws IOException {
    Map<String, String> contents = new TreeMap<>();
    try (ZipFile jar = new ZipFile(BuildMaven.jar(kind).toFile())) {
      for (ZipEntry entry : jar.stream().toList()) {
        contents.put(entry.getName(), new String(jar.getInputStream(entry).readAllBytes(), UTF_8));
      }
    }
    return contents;
  }

  @Test
  void theLibraryHoldsItsPackagesAndNothingElse() throws IOException {
    assertThat(names(LIBRARY))
        .allMatch(name -> name.startsWith("META-INF/") || name.startsWith("dev/redrive/"))
        .noneMatch(name -> name.contains("Test") || name.endsWith(".java"))
        .contains(
            "dev/redrive/JobQueue.class",
            "dev/redrive/schema/tables/Jobs.class",
            "dev/redrive/migration/sqlite/V1__jobs.sql",
            "dev/redrive/migration/postgresql/V1__jobs.sql",
            "META-INF/maven/dev.redrive/redrive/pom.xml");
  }

  @Test
  void sourcesAndJavadocAreOfTheGeneratedSchemaToo() throws IOException {
    assertThat(names(SOURCES))
        .contains("dev/redrive/JobQueue.java", "dev/redrive/schema/tables/Jobs.java");
    assertThat(names(JAVADOC))
        .contains("index.html", "dev/redrive/JobQueue.html", "dev/redrive/schema/tables/Jobs.html");
  }

  @Test
  void theModuleIsNamed() throws IOException {
    try (JarFile jar = new JarFile(BuildMaven.jar(LIBRARY).toFile())) {
      assertThat(jar.getManifest().getMainAttributes().getValue("Automatic-Module-Name"))
          .isEqualTo("dev.redrive");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {LIBRARY, SOURCES, JAVADOC})
  void everyFileHasTheSameTime(String kind) throws IOException {
    try (ZipFile jar = new ZipFile(BuildMaven.jar(kind).toFile())) {
      assertThat(jar.stream().map(ZipEntry::getTimeLocal).distinct())
          .containsExactly(LocalDateTime.of(2026, 1, 1, 0, 0));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {LIBRARY, SOURCES, JAVADOC})
  void noFileNamesTheFolderItWasBuiltIn(String kind) throws IOException {
    String folder = Path.of("").toAbsolutePath().toString();
    assertThat(contents(kind))
        .isNotEmpty()
        .noneSatisfy((name, text) -> assertThat(text).contains(folder));
  }

  /** With {@code -Pproof}, because two builds take their time. */
  @Test
  @EnabledIfSystemProperty(named = "redrive.proof.rebuild", matches = "true")
  void twoBuildsInTwoFoldersAreTheSameByteByByte(@TempDir Path first, @TempDir Path second)
      throws Exception {
    List<Path> one = built(first);
    List<Path> other = built(second.resolve("deeper"));
    assertThat(one).hasSize(3);
    for (int i = 0; i < one.size(); i++) {
      assertThat(one.get(i)).hasSameBinaryContentAs(other.get(i));
    }
  }

  private static List<Path> built(Path folder) throws Exception {
    for (String part : List.of(".mvn", "codegen", "db", "src", "pom.xml")) {
      BuildMaven.copy(Path.of(part), folder.resolve(part));
    }
    BuildMaven.again()
        .run(
            Path.of(System.getProperty("java.home")),
            folder,
            List.of("package", "-Dmaven.test.skip", "-Dspotless.check.skip"));
    try (Stream<Path> files = Files.list(folder.resolve("target"))) {
      return files.filter(file -> file.toString().endsWith(".jar")).sorted().toList();
    }
  }
}
