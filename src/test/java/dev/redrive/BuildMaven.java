package dev.redrive;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** The Maven that runs this build, started once more; failsafe's settings in pom.xml tell where. */
record BuildMaven(Path repository, Path globalSettings) {

  /** With the local repository and the settings that this build was given. */
  static BuildMaven again() {
    return new BuildMaven(Path.of(property("repository")), settings(0));
  }

  /** The global settings of this build, perhaps no file. */
  static Path settingsOfTheBuild() {
    return settings(0);
  }

  private static Path settings(int index) {
    return Path.of(property("settings").split(File.pathSeparator, 2)[index]);
  }

  /** What the build says of itself. */
  static String property(String name) {
    return Objects.requireNonNull(System.getProperty("redrive.build." + name), name);
  }

  /** The jar of this build, or one of those beside it. */
  static Path jar(String suffix) {
    return Path.of(property("artifact") + suffix);
  }

  void run(Path jdk, Path project, List<String> arguments) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(property("maven-home"), "bin", "mvn").toString());
    command.addAll(List.of("-B", "-ntp", "-Dmaven.repo.local=" + repository));
    addIfThere("-gs", globalSettings, command);
    addIfThere("-s", settings(1), command);
    if (property("network").equals("offline: true")) {
      command.addAll(List.of("-o", "-Daether.offline.protocols=file"));
    }
    command.addAll(arguments);
    Path log = Files.createTempFile(Path.of("target"), "maven", ".log").toAbsolutePath();
    ProcessBuilder maven =
        new ProcessBuilder(command)
            .directory(project.toFile())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile());
    maven.environment().put("JAVA_HOME", jdk.toString());
    // the launcher of this build set it for the process that this one comes from
    maven.environment().remove("MAVEN_PROJECTBASEDIR");
    Process process = maven.start();
    assertThat(process.waitFor(10, TimeUnit.MINUTES)).as("Maven ends").isTrue();
    assertThat(process.exitValue()).as(Files.readString(log)).isZero();
    Files.delete(log);
  }

  private static void addIfThere(String option, Path file, List<String> command) {
    if (Files.exists(file)) {
      command.addAll(List.of(option, file.toString()));
    }
  }

  static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        Path copy = to.resolve(from.relativize(file).toString());
        Files.createDirectories(Objects.requireNonNull(copy.getParent()));
        Files.copy(file, copy);
      }
    }
  }
}
