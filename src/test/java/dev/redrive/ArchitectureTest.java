package dev.redrive;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.conditions.ArchConditions.callMethodWhere;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static dev.redrive.schema.Tables.JOBS;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.domain.JavaMethodCall;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaPackage;
import com.tngtech.archunit.core.domain.JavaType;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import dev.redrive.boot.RedriveAutoConfiguration;
import dev.redrive.schema.tables.records.JobsRecord;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jooq.DSLContext;
import org.jooq.Fields;
import org.jooq.PlainSQL;
import org.jooq.QueryPart;
import org.jooq.Record1;
import org.jooq.Result;
import org.jooq.impl.DSL;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

/** How the house is built, and that a wall torn down is noticed. */
class ArchitectureTest {
  private static final JavaClasses MAIN =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages("dev.redrive");
  private static final JavaClasses TORN_DOWN =
      new ClassFileImporter()
          .importClasses(TornDown.class, ArchitectureTest.class, Transitions.class, JobQueue.class);

  /** Public for them, and of no use to a host. */
  private static final String FOR_OUR_OWN_PACKAGES =
      "dev\\.redrive\\.(Arguments|Exists|QueueReader)(\\$.*)?";

  private static final DescribedPredicate<JavaClass> OURS =
      describe("of redrive", type -> type.getPackageName().startsWith("dev.redrive"));
  private static final DescribedPredicate<JavaClass> SCHEMA =
      describe("generated", type -> type.getPackageName().startsWith("dev.redrive.schema"));
  private static final DescribedPredicate<JavaClass> ROOT =
      describe("of the root package", type -> type.getPackageName().equals("dev.redrive"));
  private static final DescribedPredicate<JavaClass> BOOT =
      describe(
          "of the auto-configuration", type -> type.getPackageName().equals("dev.redrive.boot"));
  private static final DescribedPredicate<JavaClass> SPRING =
      describe("of Spring", type -> type.getPackageName().startsWith("org.springframework"));
  private static final DescribedPredicate<JavaClass> CLI =
      describe("of the command line", type -> type.getPackageName().startsWith("dev.redrive.cli"));

  private static final ArchRule NO_SQL_AND_NO_NAMES_IN_STRINGS =
      noClasses()
          .that(DescribedPredicate.not(SCHEMA))
          .should(callMethodWhere(describe("jOOQ reads text", ArchitectureTest::readsText)));

  /** Whether jOOQ takes an argument as SQL, or as a name that no generated type vouches for. */
  private static boolean readsText(JavaMethodCall call) {
    boolean names =
        call.getTargetOwner().isEquivalentTo(DSL.class)
            && Set.of("name", "quotedName", "unquotedName").contains(call.getTarget().getName());
    // PostgreSQL's statement_timestamp() has no method of its own in jOOQ
    boolean functionByName =
        call.getTargetOwner().isEquivalentTo(DSL.class)
            && call.getTarget().getName().equals("function")
            && call.getOriginOwner().getSimpleName().equals("PostgresqlEngine");
    return names || (call.getTarget().isAnnotatedWith(PlainSQL.class) && !functionByName);
  }

  @Test
  void theRootKnowsNoneOfItsSubPackagesButTheSchema() {
    noClasses()
        .that(ROOT)
        .should()
        .dependOnClassesThat(
            OURS.and(DescribedPredicate.not(ROOT)).and(DescribedPredicate.not(SCHEMA)))
        .check(MAIN);
    assertThat(MAIN).extracting(JavaClass::getPackageName).contains("dev.redrive.cli");
  }

  @Test
  void theSchemaKnowsNothingOfOurs() {
    noClasses()
        .that(SCHEMA)
        .should()
        .dependOnClassesThat(OURS.and(DescribedPredicate.not(SCHEMA)))
        .check(MAIN);
  }

  @Test
  void nothingKnowsTheCommandLine() {
    noClasses().that(DescribedPredicate.not(CLI)).should().dependOnClassesThat(CLI).check(MAIN);
  }

  /** An application without Spring loads no class that needs it. */
  @Test
  void onlyItsOwnPackageKnowsSpring() {
    noClasses()
        .that(DescribedPredicate.not(BOOT))
        .should()
        .dependOnClassesThat(BOOT.or(SPRING))
        .check(MAIN);
    assertThat(MAIN.get(RedriveAutoConfiguration.class).getDirectDependenciesFromSelf())
        .anyMatch(dependency -> SPRING.test(dependency.getTargetClass()));
  }

  @Test
  void noSqlAndNoNameOfAColumnIsWrittenAsText() {
    NO_SQL_AND_NO_NAMES_IN_STRINGS.check(MAIN);
  }

  @Test
  void textThatJooqReadsIsNoticed() {
    assertThat(NO_SQL_AND_NO_NAMES_IN_STRINGS.evaluate(TORN_DOWN).getFailureReport().getDetails())
        .extracting(detail -> detail.replaceAll(".*calls method <([\\w.]+)\\(.*", "$1"))
        .contains(
            "org.jooq.impl.DSL.field",
            "org.jooq.impl.DSL.sql",
            "org.jooq.impl.DSL.condition",
            "org.jooq.impl.DSL.table",
            "org.jooq.impl.DSL.name",
            "org.jooq.DSLContext.execute",
            "org.jooq.DSLContext.fetch",
            "org.jooq.DSLContext.query",
            "org.jooq.DSLContext.resultQuery");
  }

  @Test
  void transitionsAreBuiltThereAndExecutedElsewhere() {
    ArchRule rule =
        noClasses()
            .that()
            .haveSimpleName("Transitions")
            .should(callMethodWhere(describe("it executes", ArchitectureTest::executes)));
    rule.check(MAIN);
    assertThat(MAIN.get(JobQueue.class).getMethodCallsFromSelf())
        .filteredOn(ArchitectureTest::executes)
        .isNotEmpty();
  }

  private static boolean executes(JavaMethodCall call) {
    return call.getTargetOwner().getPackageName().startsWith("org.jooq")
        && call.getTarget().getName().matches("execute|fetch.*");
  }

  @Test
  void packagesAreNamedAfterWhatTheyDo() {
    assertThat(MAIN)
        .extracting(JavaClass::getPackageName)
        .noneMatch(
            name -> name.matches(".*\\.(utils?|common|impl|dao|model|helpers?|internal)\\b.*"))
        .hasSizeGreaterThan(30);
  }

  @Test
  void theServiceShowsNeitherRecordsNorQueriesOfJooq() {
    assertThat(api()).filteredOn(ArchitectureTest::showsJooq).isEmpty();
    assertThat(api()).extracting(JavaMethod::getName).contains("submit", "claim", "redrive");
    assertThat(TORN_DOWN.get(TornDown.class).getMethods())
        .filteredOn(ArchitectureTest::showsJooq)
        .extracting(JavaMethod::getName)
        .containsExactlyInAnyOrder("answersRecords", "takesARecord");
  }

  private static boolean showsJooq(JavaMethod method) {
    return Stream.concat(Stream.of(method.getReturnType()), method.getParameterTypes().stream())
        .map(JavaType::getAllInvolvedRawTypes)
        .flatMap(Set::stream)
        .anyMatch(
            type ->
                type.isAssignableTo(Fields.class)
                    || type.isAssignableTo(Result.class)
                    || type.isAssignableTo(QueryPart.class)
                    || SCHEMA.test(type));
  }

  @Test
  void everyResultHasToBeUsedButTheCountOfMigrations() {
    assertThat(packages())
        .allMatch(unit -> unit.isAnnotatedWith(CheckReturnValue.class))
        .allMatch(unit -> unit.isAnnotatedWith(NullMarked.class))
        .extracting(JavaPackage::getName)
        .contains("dev.redrive", "dev.redrive.dispatch", "dev.redrive.cli");
    assertThat(api())
        .filteredOn(method -> !method.getRawReturnType().isEquivalentTo(void.class))
        .filteredOn(
            method ->
                method.isAnnotatedWith(CanIgnoreReturnValue.class)
                    || method.getOwner().isAnnotatedWith(CanIgnoreReturnValue.class))
        .extracting(JavaMethod::getFullName)
        .containsExactly("dev.redrive.Migrations.migrate()");
  }

  @Test
  void whatAHostNeedsNotSeeIsHidden() {
    classes()
        .that(ROOT)
        .and()
        .haveNameMatching(".*\\.(Transitions|Transactions|Rows|Fault|\\w+Engine)")
        .should()
        .notBePublic()
        .check(MAIN);
  }

  private static List<JavaPackage> packages() {
    return MAIN.stream()
        .filter(type -> !SCHEMA.test(type))
        .map(JavaClass::getPackage)
        .distinct()
        .toList();
  }

  /** What a host can call in the root package. */
  private static List<JavaMethod> api() {
    return MAIN.stream()
        .filter(ROOT)
        .filter(ArchitectureTest::isPublic)
        .filter(type -> !type.getName().matches(FOR_OUR_OWN_PACKAGES))
        .flatMap(type -> type.getMethods().stream())
        .filter(method -> method.getModifiers().contains(JavaModifier.PUBLIC))
        .toList();
  }

  private static boolean isPublic(JavaClass type) {
    Optional<JavaClass> outer = type.getEnclosingClass();
    return type.getModifiers().contains(JavaModifier.PUBLIC)
        && (outer.isEmpty() || isPublic(outer.get()));
  }

  /** Everything that the rules are there to notice. */
  static final class TornDown {
    private TornDown() {}

    static List<Object> text(DSLContext dsl) {
      return List.of(
          DSL.field("id"),
          DSL.sql("id"),
          DSL.condition("1 = 1"),
          DSL.table("jobs"),
          DSL.name("jobs"),
          dsl.execute("select 1"),
          dsl.fetch("select 1"),
          dsl.query("select 1"),
          dsl.resultQuery("select 1"));
    }

    static Result<Record1<String>> answersRecords(DSLContext dsl) {
      return dsl.select(JOBS.ID).from(JOBS).fetch();
    }

    static void takesARecord(Optional<JobsRecord> row) {}
  }
}
