package dev.redrive;

import static dev.redrive.schema.Tables.JOBS;
import static dev.redrive.schema.Tables.REDRIVES;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redrive.schema.DefaultSchema;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jooq.Field;
import org.jooq.SQLDialect;
import org.jooq.Table;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What the database itself refuses, whoever writes to it, and what its numbers are in Java. */
class SchemaTest extends QueueTest {
  private static final long YEAR_9999 = 253_402_300_799_999L;
  private static final long BIG = 1L << 40;
  private static final String ROCKET = "\uD83D\uDE80";

  private static final Row PENDING =
      new Row(Map.of())
          .with("queue", "default")
          .with("id", "j1")
          .with("state", "pending")
          .with("token", 0L)
          .with("attempts", 0L)
          .with("max_attempts", 3L)
          .with("available_at", T0)
          .with("deadline_at", T0 + 600_000)
          .with("submitted_at", T0)
          .with("payload", "{}");

  private static final Row LEASED =
      PENDING
          .with("state", "leased")
          .with("owner", "A")
          .with("lease_until", T0 + 30_000)
          .with("token", 1L)
          .with("attempts", 1L);

  private static final Row DONE = PENDING.with("state", "done").with("finished_at", T0);

  private static final Row DEAD =
      PENDING.with("state", "dead").with("finished_at", T0).with("reason", "permanent");

  private static final Row LOOKED_AT =
      DEAD.with("investigated_at", T0)
          .with("investigated_by", "kim")
          .with("investigation", "OPS-1");

  private static final Row AUDIT =
      new Row(Map.of())
          .with("queue", "default")
          .with("job_id", "j1")
          .with("previous_token", 0L)
          .with("at_ms", T0 + 1)
          .with("note", "OPS-17")
          .with("approved_by", "kim")
          .with("deadline_at", T0 + 600_000)
          .with("previous_reason", "permanent")
          .with("previous_attempts", 1L)
          .with("previous_deadline_at", T0 + 600_000)
          .with("previous_finished_at", T0);

  private static final Row LOOKED_AT_AUDIT =
      AUDIT
          .with("previous_investigated_at", T0)
          .with("previous_investigated_by", "kim")
          .with("previous_investigation", "OPS-1");

  /** A row as it is planted: columns and what they hold. */
  record Row(Map<String, @Nullable Object> values) {
    Row with(String column, @Nullable Object value) {
      Map<String, @Nullable Object> changed = new LinkedHashMap<>(values);
      changed.put(column, value);
      return new Row(changed);
    }
  }

  /** Rows that break one constraint and no other. */
  record Defect(String constraint, Table<?> table, List<Row> rows) {
    @Override
    public String toString() {
      return constraint;
    }
  }

  static Stream<Defect> defects() {
    return Stream.of(
        jobs(
            "jobs_state_known",
            PENDING.with("state", "paused"),
            PENDING.with("state", "Pending"),
            PENDING.with("state", "pending "),
            PENDING.with("state", "")),
        jobs(
            "jobs_reason_known",
            DEAD.with("reason", "tired"),
            DEAD.with("reason", "Permanent"),
            DEAD.with("reason", "")),
        jobs(
            "jobs_reason_iff_dead",
            DEAD.with("reason", null),
            PENDING.with("reason", "exhausted"),
            LEASED.with("reason", "deadline"),
            DONE.with("reason", "permanent")),
        jobs(
            "jobs_owner_iff_leased",
            LEASED.with("owner", null),
            PENDING.with("owner", "A"),
            DONE.with("owner", "A"),
            DEAD.with("owner", "A")),
        jobs(
            "jobs_lease_iff_leased",
            LEASED.with("lease_until", null),
            PENDING.with("lease_until", T0),
            DONE.with("lease_until", T0),
            DEAD.with("lease_until", T0)),
        jobs(
            "jobs_finished_iff_over",
            DONE.with("finished_at", null),
            DEAD.with("finished_at", null),
            PENDING.with("finished_at", T0),
            LEASED.with("finished_at", T0)),
        jobs(
            "jobs_investigated_only_dead",
            LOOKED_AT.with("state", "pending").with("reason", null).with("finished_at", null),
            LOOKED_AT.with("state", "done").with("reason", null)),
        jobs("jobs_investigation_whole", withoutOneOrTwo(LOOKED_AT, "")),
        jobs("jobs_leased_was_claimed", LEASED.with("token", 0L), LEASED.with("attempts", 0L)),
        jobs("jobs_queue_identifier", withNoIdentifier(PENDING, "queue")),
        jobs("jobs_fault_identifier", withNoIdentifier(PENDING, "fault")),
        jobs("jobs_owner_identifier", withNoIdentifier(LEASED, "owner")),
        jobs("jobs_investigated_by_identifier", withNoIdentifier(LOOKED_AT, "investigated_by")),
        jobs("jobs_investigation_identifier", withNoIdentifier(LOOKED_AT, "investigation")),
        jobs(
            "jobs_id_well_formed",
            withEach(
                PENDING,
                "id",
                "",
                "i".repeat(201),
                ROCKET.repeat(201),
                "\u0001",
                "a\u001fb",
                "a\u007f",
                "a\u0080",
                "a\u0085b",
                "a\u009f",
                "a\n",
                "\t",
                "a\0",
                "\0")),
        jobs(
            "jobs_counts_in_range",
            PENDING.with("token", -1L),
            PENDING.with("attempts", -1L),
            PENDING.with("max_attempts", 0L),
            PENDING.with("max_attempts", -1L),
            PENDING.with("max_attempts", 1_000_001L)),
        jobs(
            "jobs_times_not_negative",
            PENDING.with("available_at", -1L),
            PENDING.with("deadline_at", -1L),
            PENDING.with("submitted_at", -1L),
            LEASED.with("lease_until", -1L),
            DONE.with("finished_at", -1L),
            LOOKED_AT.with("investigated_at", -1L)),
        jobs("jobs_payload_without_nul", withEach(PENDING, "payload", "\0", "a\0b", "a\0")),
        redrives("redrives_note_identifier", withNoIdentifier(AUDIT, "note")),
        redrives("redrives_approved_by_identifier", withNoIdentifier(AUDIT, "approved_by")),
        redrives(
            "redrives_reason_known",
            AUDIT.with("previous_reason", "tired"),
            AUDIT.with("previous_reason", "")),
        redrives("redrives_fault_identifier", withNoIdentifier(AUDIT, "previous_fault")),
        redrives(
            "redrives_investigated_by_identifier",
            withNoIdentifier(LOOKED_AT_AUDIT, "previous_investigated_by")),
        redrives(
            "redrives_investigation_identifier",
            withNoIdentifier(LOOKED_AT_AUDIT, "previous_investigation")),
        redrives("redrives_investigation_whole", withoutOneOrTwo(LOOKED_AT_AUDIT, "previous_")),
        redrives(
            "redrives_counts_in_range",
            AUDIT.with("previous_token", -1L),
            AUDIT.with("previous_attempts", -1L)),
        redrives(
            "redrives_times_in_order",
            AUDIT.with("at_ms", -1L),
            AUDIT.with("deadline_at", T0 + 1),
            AUDIT.with("deadline_at", T0),
            AUDIT.with("previous_deadline_at", -1L),
            AUDIT.with("previous_finished_at", -1L),
            LOOKED_AT_AUDIT.with("previous_investigated_at", -1L)));
  }

  @ParameterizedTest
  @MethodSource("defects")
  void aBadRowIsRefusedByTheNameOfItsRule(Defect defect) throws SQLException {
    boolean audit = defect.table().equals(REDRIVES);
    if (audit) {
      insert(JOBS, PENDING);
    }
    for (Row bad : defect.rows()) {
      assertThatThrownBy(() -> insert(defect.table(), bad))
          .as("insert of %s", bad)
          .hasMessageContaining(refusal(defect, bad));
      assertThat(store.dsl().fetchCount(defect.table())).isZero();
    }
    insert(defect.table(), audit ? AUDIT : PENDING);
    List<Map<String, @Nullable Object>> before = everything();
    for (Row bad : defect.rows()) {
      assertThatThrownBy(() -> update(defect.table(), bad))
          .as("update to %s", bad)
          .hasMessageContaining(refusal(defect, bad));
      assertThat(everything()).isEqualTo(before);
    }
  }

  /** A server that takes no NUL at all refuses it before it looks at any rule. */
  private String refusal(Defect defect, Row bad) {
    boolean nul =
        bad.values().values().stream().anyMatch(v -> v instanceof String s && s.contains("\0"));
    return nul && store.dsl().dialect().family() != SQLDialect.SQLITE ? "" : defect.constraint();
  }

  @Test
  void everyRuleOfTheMigrationsIsShownToRefuse() throws IOException {
    Set<String> shown = defects().map(Defect::constraint).collect(Collectors.toSet());
    assertThat(shown).containsAll(constraints()).hasSize((int) defects().count());
    assertThat(constraints()).hasSizeGreaterThan(20);
  }

  private Set<String> constraints() throws IOException {
    Set<String> names = new TreeSet<>();
    Path folder = Path.of("db", "migration", backend.engine().folder());
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.toList()) {
        String script = Files.readString(file, UTF_8);
        assertThat(script.split("\\bcheck\\b *\\(", -1))
            .as("checks of %s without a name", file)
            .hasSameSizeAs(script.split("constraint \\w+ check *\\(", -1));
        Pattern.compile("constraint (\\w+) check *\\(")
            .matcher(script)
            .results()
            .forEach(found -> names.add(found.group(1)));
      }
    }
    return names;
  }

  @Test
  void everyStateIsAcceptedAsItsTransitionsLeaveIt() throws SQLException {
    int id = 0;
    for (Row row : List.of(PENDING, LEASED, DONE, DEAD, LOOKED_AT)) {
      insert(JOBS, row.with("id", "j" + ++id));
    }
    insert(REDRIVES, AUDIT);
    insert(REDRIVES, LOOKED_AT_AUDIT.with("job_id", "j2").with("previous_token", 1L));
    assertThat(jobRows()).isEqualTo(5);
    assertThat(auditRows()).isEqualTo(2);
  }

  @Test
  void identifiersOfAllTheirCharactersAndOf64AreAccepted() throws SQLException {
    int id = 0;
    for (String good : List.of("0", "a", "Z", "a._:/#-", "9-", "x".repeat(64))) {
      insert(
          JOBS,
          LEASED
              .with("id", "j" + ++id)
              .with("queue", good)
              .with("owner", good)
              .with("fault", good));
    }
    assertThat(jobRows()).isEqualTo(6);
  }

  @Test
  void anIdCountsCodePointsAndTakesEveryScript() throws SQLException {
    for (String good : List.of(ROCKET.repeat(200), "주문 1", "Größe/\u00a0", " ", "'; drop--")) {
      insert(JOBS, PENDING.with("id", good));
      assertThat(find(good).id()).isEqualTo(good);
    }
  }

  @Test
  void aColumnThatMustBeSetRefusesNull() throws SQLException {
    insert(JOBS, PENDING);
    insert(REDRIVES, AUDIT);
    for (Table<?> table : DefaultSchema.DEFAULT_SCHEMA.getTables()) {
      for (Field<?> field : table.fields()) {
        if (!field.getDataType().nullable()) {
          assertThatThrownBy(() -> plant("update " + table + " set " + field.getName() + " = null"))
              .hasRootCauseInstanceOf(SQLException.class)
              .rootCause()
              .hasMessageContaining(field.getName());
        }
      }
    }
  }

  @Test
  void theSameIdTwiceIsRefused() throws SQLException {
    insert(JOBS, PENDING);
    assertThatThrownBy(() -> insert(JOBS, PENDING)).isInstanceOf(SQLException.class);
    assertThatCode(() -> insert(JOBS, PENDING.with("queue", "other"))).doesNotThrowAnyException();
  }

  @Test
  void oneDeathIsRedrivenOnce() throws SQLException {
    insert(JOBS, PENDING);
    insert(REDRIVES, AUDIT);
    assertThatThrownBy(() -> insert(REDRIVES, AUDIT.with("note", "OPS-18")))
        .isInstanceOf(SQLException.class);
    assertThat(auditRows()).isEqualTo(1);
  }

  @Test
  void anAuditRowWithoutItsJobIsRefusedOnEveryConnection() throws SQLException {
    insert(JOBS, PENDING.with("queue", "other"));
    onTwoConnectionsAtOnce(
        connection ->
            assertThatThrownBy(() -> insert(connection, REDRIVES, AUDIT))
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("foreign key"));
    assertThat(auditRows()).isZero();
  }

  @Test
  void aJobWithAuditRowsIsDeletedOnNoConnection() throws SQLException {
    assertThat(queue.redrive(dead("j1"), ORDER)).isTrue();
    onTwoConnectionsAtOnce(
        connection -> {
          try (Statement statement = connection.createStatement()) {
            assertThatThrownBy(() -> statement.executeUpdate("delete from jobs where id = 'j1'"))
                .isInstanceOf(SQLException.class);
          }
        });
    assertThat(find("j1").state()).isEqualTo(JobState.PENDING);
  }

  private interface OnConnection {
    void run(Connection connection) throws SQLException;
  }

  private void onTwoConnectionsAtOnce(OnConnection act) throws SQLException {
    try (Connection first = store.dataSource().getConnection();
        Connection second = store.dataSource().getConnection()) {
      assertThat(first).isNotSameAs(second);
      act.run(first);
      act.run(second);
    }
  }

  @Test
  void dueIsWhatClaimSearches() throws SQLException {
    insert(JOBS, PENDING.with("available_at", 999L));
    insert(JOBS, LEASED.with("id", "j2").with("lease_until", 1_000L));
    insert(JOBS, DONE.with("id", "j3"));
    insert(JOBS, DEAD.with("id", "j4"));
    assertThat(rows("select due_at from jobs order by id"))
        .extracting(row -> row.get("due_at"))
        .containsExactly(999L, 1_000L, null, null);
  }

  @Test
  void everyNumberIsALongAndEverythingElseText() {
    assertThat(types(JOBS))
        .hasSize(19)
        .containsAllEntriesOf(
            longs(
                "token",
                "attempts",
                "max_attempts",
                "available_at",
                "deadline_at",
                "due_at",
                "lease_until",
                "submitted_at",
                "finished_at",
                "investigated_at"));
    assertThat(types(REDRIVES))
        .hasSize(15)
        .containsAllEntriesOf(
            longs(
                "previous_token",
                "previous_attempts",
                "at_ms",
                "deadline_at",
                "previous_deadline_at",
                "previous_finished_at",
                "previous_investigated_at"));
    assertThat(Stream.of(JOBS, REDRIVES).flatMap(t -> types(t).values().stream()))
        .containsOnly(Long.class, String.class);
  }

  private static Map<String, Class<?>> types(Table<?> table) {
    Map<String, Class<?>> types = new LinkedHashMap<>();
    table.fieldStream().forEach(field -> types.put(field.getName(), field.getType()));
    return types;
  }

  private static Map<String, Class<?>> longs(String... columns) {
    return Arrays.stream(columns).collect(Collectors.toMap(c -> c, c -> Long.class));
  }

  @Test
  void theTypesAreThoseOfTheTwoTablesAndNotOfTheHistory() {
    assertThat(DefaultSchema.DEFAULT_SCHEMA.getTables()).containsExactlyInAnyOrder(JOBS, REDRIVES);
  }

  @Test
  void theTypesKnowEveryColumnInItsPlace() {
    for (Table<?> table : DefaultSchema.DEFAULT_SCHEMA.getTables()) {
      assertThat(columns(table.getName()))
          .as(table.getName())
          .isEqualTo(
              table
                  .fieldStream()
                  .map(field -> field.getName() + (field.getDataType().nullable() ? "?" : ""))
                  .toList());
    }
  }

  private List<String> columns(String table) {
    List<String> names = new ArrayList<>();
    try (Connection connection = store.dataSource().getConnection();
        ResultSet columns =
            connection.getMetaData().getColumns(null, connection.getSchema(), table, null)) {
      while (columns.next()) {
        names.add(
            columns.getString("COLUMN_NAME")
                + ("NO".equals(columns.getString("IS_NULLABLE")) ? "" : "?"));
      }
      return names;
    } catch (SQLException e) {
      throw new IllegalStateException(table, e);
    }
  }

  @Test
  void everyNumberHolds40Bits() throws SQLException {
    Row leased =
        LEASED
            .with("token", BIG)
            .with("attempts", BIG)
            .with("available_at", BIG)
            .with("deadline_at", BIG)
            .with("lease_until", BIG)
            .with("submitted_at", BIG);
    Row dead = LOOKED_AT.with("id", "j2").with("finished_at", BIG).with("investigated_at", BIG);
    Row audit =
        LOOKED_AT_AUDIT
            .with("previous_token", BIG)
            .with("previous_attempts", BIG)
            .with("at_ms", BIG)
            .with("deadline_at", BIG + 1)
            .with("previous_deadline_at", BIG)
            .with("previous_finished_at", BIG)
            .with("previous_investigated_at", BIG);
    insert(JOBS, leased);
    insert(JOBS, dead);
    insert(REDRIVES, audit);
    assertThat(read(JOBS, JOBS.ID, "j1"))
        .containsAllEntriesOf(leased.values())
        .containsEntry("due_at", BIG);
    assertThat(read(JOBS, JOBS.ID, "j2")).containsAllEntriesOf(dead.values());
    assertThat(read(REDRIVES, REDRIVES.JOB_ID, "j1")).containsAllEntriesOf(audit.values());
  }

  private Map<String, @Nullable Object> read(Table<?> table, Field<String> key, String id) {
    return store.dsl().selectFrom(table).where(key.eq(id)).fetchSingle().intoMap();
  }

  @Test
  void timesAndTokensComeBackAsTheyWentIn() {
    Instant lastMilli = Instant.ofEpochMilli(YEAR_9999);
    submit("j1");
    assertThat(queue.submit(job("j2").availableAt(lastMilli)).created()).isTrue();
    plant("update jobs set token = " + BIG);
    Lease now = claim("A").orElseThrow();
    clock.at(YEAR_9999);
    Lease last = queue.claim("B", LEASE).orElseThrow();

    assertThat(now)
        .isEqualTo(
            new Lease(
                "default",
                "j1",
                "A",
                BIG + 1,
                1,
                3,
                Instant.ofEpochMilli(T0 + 30_000),
                Instant.ofEpochMilli(T0 + 600_000),
                "{}"));
    assertThat(last.id()).isEqualTo("j2");
    assertThat(last.token()).isEqualTo(BIG + 1);
    assertThat(last.leaseUntil()).isEqualTo(lastMilli.plus(LEASE));
    assertThat(find("j2"))
        .returns(lastMilli, Job::availableAt)
        .returns(lastMilli.plus(DEADLINE), Job::deadline)
        .returns(Instant.ofEpochMilli(T0), Job::submittedAt)
        .returns(BIG + 1, Job::token);
    assertThat(queue.finish(last, Outcome.permanent("late"))).isTrue();
    assertThat(queue.redrive(find("j2"), ORDER)).isTrue();
    assertThat(audit("j2").get(0)).containsEntry("at_ms", YEAR_9999);
  }

  @Test
  void theLargestOfEverythingStillFits() {
    clock.at(YEAR_9999);
    Duration longest = Duration.ofDays(3650);
    NewJob job =
        NewJob.of("j1", "{}")
            .maxAttempts(1_000_000)
            .deadline(longest)
            .availableAt(Instant.ofEpochMilli(YEAR_9999));
    assertThat(queue.submit(job).created()).isTrue();
    Lease lease = queue.claim("A", longest).orElseThrow();
    assertThat(queue.renew(lease, longest)).isTrue();
    assertThat(queue.finish(lease, Outcome.retry("slow", longest.minusMillis(1)))).isTrue();
    assertThat(find("j1").availableAt()).isEqualTo(find("j1").deadline().minusMillis(1));
  }

  private void insert(Table<?> table, Row row) throws SQLException {
    try (Connection connection = store.dataSource().getConnection()) {
      insert(connection, table, row);
    }
  }

  private static void insert(Connection connection, Table<?> table, Row row) throws SQLException {
    String values = String.join(", ", Collections.nCopies(row.values().size(), "?"));
    String columns = String.join(", ", row.values().keySet());
    run(
        connection,
        "insert into " + table.getName() + " (" + columns + ") values (" + values + ")",
        row);
  }

  private void update(Table<?> table, Row row) throws SQLException {
    String sets =
        row.values().keySet().stream().map(c -> c + " = ?").collect(Collectors.joining(", "));
    try (Connection connection = store.dataSource().getConnection()) {
      run(connection, "update " + table.getName() + " set " + sets, row);
    }
  }

  private static void run(Connection connection, String sql, Row row) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      int index = 0;
      for (Object value : row.values().values()) {
        statement.setObject(++index, value);
      }
      statement.executeUpdate();
    }
  }

  private List<Map<String, @Nullable Object>> everything() {
    return Stream.of("jobs", "redrives").flatMap(t -> rows("select * from " + t).stream()).toList();
  }

  private static Defect jobs(String constraint, Row... rows) {
    return new Defect(constraint, JOBS, List.of(rows));
  }

  private static Defect redrives(String constraint, Row... rows) {
    return new Defect(constraint, REDRIVES, List.of(rows));
  }

  private static Row[] withNoIdentifier(Row row, String column) {
    return withEach(
        row,
        column,
        "",
        " ",
        "a b",
        "-a",
        ".a",
        "a\n",
        "\na",
        "주문",
        "größe",
        "a\u0130",
        "a,b",
        "a'b",
        "a]b",
        "a^b",
        "a*",
        "x".repeat(65),
        "a\u0001",
        "a\u0085",
        "a\0",
        "a\0b",
        "\0a");
  }

  private static Row[] withEach(Row row, String column, String... values) {
    return Arrays.stream(values).map(value -> row.with(column, value)).toArray(Row[]::new);
  }

  private static Row[] withoutOneOrTwo(Row row, String prefix) {
    String at = prefix + "investigated_at";
    String by = prefix + "investigated_by";
    String ticket = prefix + "investigation";
    return new Row[] {
      row.with(at, null),
      row.with(by, null),
      row.with(ticket, null),
      row.with(at, null).with(by, null),
      row.with(at, null).with(ticket, null),
      row.with(by, null).with(ticket, null)
    };
  }
}
