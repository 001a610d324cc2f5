package dev.redrive;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.DoubleSupplier;
import java.util.function.Function;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Param;
import org.jooq.impl.DSL;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Null for any reference that may not be null, one at a time, whatever public call takes it. */
class NullArgumentsTest extends QueueTest {
  private final Map<Class<?>, Object> samples = new HashMap<>();

  @BeforeEach
  void goodValues() {
    Job dead = dead("j1");
    put(String.class, "default");
    put(int.class, 1);
    put(long.class, 1L);
    put(double.class, 0.5);
    put(boolean.class, true);
    put(Duration.class, Duration.ofDays(2));
    put(Instant.class, Instant.EPOCH);
    put(InstantSource.class, clock);
    put(Optional.class, Optional.empty());
    put(Collection.class, List.of());
    put(List.class, List.of());
    put(DoubleSupplier.class, (DoubleSupplier) () -> 0.5);
    put(Path.class, Path.of("orders.db"));
    put(DSLContext.class, store.dsl());
    put(DataSource.class, store.dataSource());
    put(Journal.class, Journal.DELETE);
    put(JobState.class, JobState.DEAD);
    put(DeadReason.class, DeadReason.PERMANENT);
    put(Submission.Result.class, Submission.Result.CREATED);
    put(Outcome.class, Outcome.ok());
    put(RetryPolicy.class, RetryPolicy.standard());
    put(
        RetryPolicy.Exponential.class,
        RetryPolicy.exponential(Duration.ofMillis(1), Duration.ofMillis(1)));
    put(JobListener.class, (JobListener) event -> {});
    put(NewJob.class, job("j2"));
    put(Job.class, dead);
    put(Death.class, Death.of(dead));
    put(JobEvent.class, new JobEvent.Submitted("default", "j1"));
    put(JobEvent.Verb.class, JobEvent.Verb.FINISH);
    put(QueueReader.class, QueueReader.of(queue));
    put(Function.class, Function.identity());
    put(Param.class, DSL.param("queue", "default"));
    put(Field.class, DSL.inline(1L));
    put(Lease.class, leased("j3"));
    put(Redrive.class, ORDER);
    put(Redrive.Noted.class, Redrive.note("OPS-17"));
    put(Redrive.Approved.class, Redrive.note("OPS-17").approvedBy("kim"));
    put(Migrations.class, Migrations.of(store.dataSource()));
    put(JobQueue.class, queue);
    put(JobQueue.Builder.class, queue("default"));
    put(SqliteFile.class, Engine.sqlite(Path.of("orders.db")));
    put(SqliteTransactionProvider.class, new SqliteTransactionProvider());
  }

  private void put(Class<?> type, Object sample) {
    samples.put(type, sample);
  }

  @Test
  void nullIsRefusedByTheNameOfItsArgument() {
    Set<String> refused = new TreeSet<>();
    List<String> wrong = new ArrayList<>();
    for (Executable call : publicCalls()) {
      for (int i = 0; i < call.getParameterCount(); i++) {
        Parameter parameter = call.getParameters()[i];
        if (!parameter.getType().isPrimitive() && !mayBeNull(call, parameter)) {
          String what =
              call.getDeclaringClass().getSimpleName() + "." + call.getName() + ":" + parameter;
          Object answer = answerToNull(call, i);
          if (answer instanceof IllegalArgumentException e
              && String.valueOf(e.getMessage()).startsWith(parameter.getName() + " must")) {
            refused.add(call.getDeclaringClass().getSimpleName() + "." + call.getName());
          } else {
            wrong.add(what + " -> " + answer);
          }
        }
      }
    }
    assertThat(wrong).isEmpty();
    assertThat(refused)
        .contains("JobQueue.on", "JobQueue.submit", "JobQueue.finishAndClaim", "Builder.clock")
        .contains("NewJob.of", "Noted.approvedBy", "Migrations.of", "Engine.sqlite")
        .hasSizeGreaterThan(45);
    assertThat(jobRows()).isEqualTo(2);
    assertThat(auditRows()).isZero();
  }

  @Test
  void aFaultIsNeverRefusedAndNullIsUnnamed() {
    assertThat(List.of(Outcome.retry(null), Outcome.retry(null, Duration.ZERO)))
        .extracting(outcome -> ((Outcome.Retry) outcome).fault())
        .containsOnly("unnamed");
    assertThat(Outcome.permanent(null)).isEqualTo(new Outcome.Permanent("unnamed"));
  }

  private static Stream<Class<?>> publicTypes() {
    URL one = JobQueue.class.getResource("JobQueue.class");
    try (Stream<Path> files = Files.list(Path.of(one.toURI()).getParent())) {
      return files
          .map(file -> String.valueOf(file.getFileName()))
          .filter(name -> name.endsWith(".class") && !name.equals("package-info.class"))
          .<Class<?>>map(name -> type("dev.redrive." + name.replace(".class", "")))
          .filter(NullArgumentsTest::isPublic)
          .filter(type -> !type.isAnnotation() && type != Arguments.class) // says of itself why
          .toList()
          .stream();
    } catch (IOException | URISyntaxException e) {
      throw new IllegalStateException("the classes lie in no folder: " + one, e);
    }
  }

  private static Class<?> type(String name) {
    try {
      return Class.forName(name);
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException(name, e);
    }
  }

  private static boolean isPublic(Class<?> type) {
    Class<?> outer = type.getEnclosingClass();
    return Modifier.isPublic(type.getModifiers()) && (outer == null || isPublic(outer));
  }

  /** What a host can call: neither what the compiler made nor what the host implements. */
  private static List<Executable> publicCalls() {
    return publicTypes()
        .flatMap(
            type ->
                Stream.<Executable>concat(
                    Arrays.stream(type.getConstructors()),
                    Arrays.stream(type.getDeclaredMethods())
                        .filter(method -> Modifier.isPublic(method.getModifiers()))
                        .filter(method -> !Modifier.isAbstract(method.getModifiers()))
                        .filter(method -> !method.isSynthetic())
                        .filter(method -> !method.getName().equals("equals"))
                        .filter(method -> !(type.isEnum() && method.getName().equals("valueOf")))))
        .toList();
  }

  private static boolean mayBeNull(Executable call, Parameter parameter) {
    boolean fault =
        parameter.getName().equals("fault")
            && Outcome.class.isAssignableFrom(call.getDeclaringClass());
    return fault || parameter.getAnnotatedType().isAnnotationPresent(Nullable.class);
  }

  private @Nullable Object answerToNull(Executable call, int index) {
    Object[] arguments =
        Arrays.stream(call.getParameterTypes()).map(type -> sample(call, type)).toArray();
    arguments[index] = null;
    try {
      if (call instanceof Constructor<?> constructor) {
        return constructor.newInstance(arguments);
      }
      Object receiver =
          Modifier.isStatic(call.getModifiers()) ? null : sample(call, call.getDeclaringClass());
      return ((Method) call).invoke(receiver, arguments);
    } catch (InvocationTargetException e) {
      return e.getCause();
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(call.toString(), e);
    }
  }

  private @Nullable Object sample(Executable call, Class<?> type) {
    if (type == Duration.class && call.getDeclaringClass() == SqliteFile.class) {
      return Duration.ofSeconds(5); // a busy timeout has a limit of its own
    }
    return samples.get(type);
  }
}
