package dev.redrive;

import static dev.redrive.BuildMaven.property;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringReader;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarFile;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.dom.DOMSource;
import javax.xml.transform.stream.StreamResult;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.w3c.dom.Document;
import org.w3c.dom.Node;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

/**
 * A Maven project of somebody else's, {@code src/it/host-service}, takes the installed jar out of a
 * local repository that was empty before.
 */
class HostServiceIT {
  private static final Path REPOSITORY = Path.of("target", "host-repository").toAbsolutePath();
  private static final Path SETTINGS = Path.of("target", "host-settings.xml").toAbsolutePath();
  private static final Path SOURCES = Path.of("src", "it", "host-service");

  private static final BuildMaven MAVEN = new BuildMaven(REPOSITORY, SETTINGS);

  @TempDir Path folder;

  /** The JDK of the build, and the newest that the README speaks of. */
  static IntStream javaVersions() {
    return IntStream.of(Runtime.version().feature(), 25).distinct();
  }

  @BeforeAll
  static void installIntoAnEmptyRepository() throws Exception {
    delete(REPOSITORY);
    writeSettings();
    MAVEN.run(
        Path.of(System.getProperty("java.home")),
        Path.of("").toAbsolutePath(),
        List.of(
            "install:install-file",
            "-Prepository-of-the-build",
            "-DpomFile=pom.xml",
            "-Dfile=" + BuildMaven.jar(".jar"),
            "-Dsources=" + BuildMaven.jar("-sources.jar"),
            "-Djavadoc=" + BuildMaven.jar("-javadoc.jar")));
  }

  @ParameterizedTest
  @MethodSource("javaVersions")
  void aHostCompilesAndDoesItsWork(int java) throws Exception {
    Path jdk =
        jdk(java).orElseThrow(() -> Proof.cannotRun("a host on Java " + java, missing(java)));
    BuildMaven.copy(SOURCES, folder);
    String version = "-Dredrive.version=" + property("version");
    MAVEN.run(jdk, folder, List.of("package", "-Prepository-of-the-build", version));

    Path jar = folder.resolve("target").resolve("shop-1.jar");
    assertThat(run(jdk, jar))
        .isEqualTo(
            """
            order-1 CREATED
            order-2 CREATED
            delivered 7 pretzel
            Tally[done=1, retried=0, dead=1, stale=0]
            order-1 7 pretzel done
            order-2 1 unobtainium dead
            """);
    assertThat(dependencies(jar))
        .containsExactlyInAnyOrder(
            "redrive",
            "jooq",
            "reactive-streams",
            "r2dbc-spi",
            "flyway-core",
            "jspecify",
            // the host's own
            "sqlite-jdbc",
            "HikariCP",
            "slf4j-api");
  }

  /** The artifacts that the host runs with, as Maven resolved them. */
  private static List<String> dependencies(Path jar) throws IOException {
    try (JarFile host = new JarFile(jar.toFile())) {
      String classPath = host.getManifest().getMainAttributes().getValue("Class-Path");
      return Stream.of(classPath.split(" "))
          .map(entry -> String.valueOf(Path.of(entry).getParent().getParent().getFileName()))
          .toList();
    }
  }

  /** From the build's neighbours, or where the environment says. */
  private static Optional<Path> jdk(int version) throws IOException {
    Path own = Path.of(System.getProperty("java.home"));
    String named = System.getenv("JAVA_HOME_" + version);
    try (Stream<Path> neighbours = Files.list(own.resolveSibling("."))) {
      return Stream.concat(
              Stream.concat(Stream.of(own), Stream.ofNullable(named).map(Path::of)),
              neighbours.sorted())
          .filter(home -> isJdk(home, version))
          .findFirst();
    }
  }

  private static String missing(int version) {
    return "no such JDK beside the build's own, nor at JAVA_HOME_" + version;
  }

  private static boolean isJdk(Path home, int version) {
    try {
      return Files.isExecutable(home.resolve("bin").resolve("javac"))
          && Files.readString(home.resolve("release"))
              .matches("(?s).*JAVA_VERSION=\"" + version + "[.\"].*");
    } catch (IOException e) {
      return false;
    }
  }

  /** What the host prints, which has to end well. */
  private String run(Path jdk, Path jar) throws Exception {
    Path output = folder.resolve("output");
    Process host =
        new ProcessBuilder(jdk.resolve("bin").resolve("java").toString(), "-jar", jar.toString())
            .directory(folder.toFile())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .redirectOutput(output.toFile())
            .start();
    assertThat(host.waitFor(1, TimeUnit.MINUTES)).as("the host ends").isTrue();
    assertThat(host.exitValue()).as(Files.readString(output)).isZero();
    return Files.readString(output);
  }

  /** The global settings of the build, and its repository beside those that they name. */
  private static void writeSettings() throws Exception {
    DocumentBuilder reader = DocumentBuilderFactory.newInstance().newDocumentBuilder();
    Path global = BuildMaven.settingsOfTheBuild();
    Document settings =
        Files.exists(global) ? reader.parse(global.toFile()) : document(reader, "<settings/>");
    NodeList profiles = settings.getElementsByTagName("profiles");
    Node list =
        profiles.getLength() > 0
            ? profiles.item(0)
            : settings.getDocumentElement().appendChild(settings.createElement("profiles"));
    URI repository = Path.of(property("repository")).toUri();
    Document profile = document(reader, profile(repository));
    list.appendChild(settings.importNode(profile.getDocumentElement(), true));
    TransformerFactory.newInstance()
        .newTransformer()
        .transform(new DOMSource(settings), new StreamResult(SETTINGS.toFile()));
  }

  /** What the build has downloaded, so that the host need not download it again. */
  private static String profile(URI repository) {
    return """
        <profile>
          <id>repository-of-the-build</id>
          <repositories>
            <repository>
              <id>repository-of-the-build</id>
              <url>%1$s</url>
              <releases><checksumPolicy>ignore</checksumPolicy></releases>
              <snapshots><enabled>false</enabled></snapshots>
            </repository>
          </repositories>
          <pluginRepositories>
            <pluginRepository>
              <id>repository-of-the-build</id>
              <url>%1$s</url>
              <releases><checksumPolicy>ignore</checksumPolicy></releases>
              <snapshots><enabled>false</enabled></snapshots>
            </pluginRepository>
          </pluginRepositories>
        </profile>
        """
        .formatted(repository);
  }

  private static Document document(DocumentBuilder reader, String text) throws Exception {
    return reader.parse(new InputSource(new StringReader(text)));
  }

  private static void delete(Path folder) throws IOException {
    if (Files.exists(folder)) {
      try (Stream<Path> files = Files.walk(folder)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
  }
}
