package dev.redrive;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redrive.schema.DefaultSchema;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jooq.Field;
import org.jooq.Table;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Case 10.8: the two schemas, as their databases tell them, are one. {@link SchemaTest} shows that
 * their CHECKs refuse the same rows, and that every number holds more than 32 bits.
 */
class SchemaPairTest {
  private static final Map<String, Class<?>> JAVA_TYPES =
      Map.of("INTEGER", Long.class, "int8", Long.class, "TEXT", String.class, "text", String.class);

  private static final Pattern CONSTRAINT = Pattern.compile("constraint (\\w+)");

  private Backend.Store sqlite;
  private Backend.Store postgresql;

  @BeforeEach
  void open() {
    sqlite = Backend.SQLITE.open();
    postgresql = Backend.POSTGRESQL.open();
  }

  @AfterEach
  void close() {
    sqlite.close();
    postgresql.close();
  }

  record Column(String name, boolean nullable, @Nullable String byDefault, Class<?> type) {}

  @ParameterizedTest
  @ValueSource(strings = {"jobs", "redrives"})
  void columnsAgreeInOrderNameTypeDefaultAndNull(String table) throws SQLException {
    List<Column> columns = columns(sqlite, table);
    assertThat(columns(postgresql, table)).isEqualTo(columns);
    assertThat(Stream.of(generated(table).fields()).map(Field::getName))
        .containsExactlyElementsOf(columns.stream().map(Column::name).toList());
    assertThat(Stream.of(generated(table).fields()).<Class<?>>map(Field::getType))
        .containsExactlyElementsOf(columns.stream().<Class<?>>map(Column::type).toList());
  }

  private static Table<?> generated(String table) {
    return Objects.requireNonNull(DefaultSchema.DEFAULT_SCHEMA.getTable(table));
  }

  private static List<Column> columns(Backend.Store store, String table) throws SQLException {
    List<Column> found = new ArrayList<>();
    try (Connection connection = store.dataSource().getConnection();
        ResultSet columns =
            connection.getMetaData().getColumns(null, connection.getSchema(), table, null)) {
      while (columns.next()) {
        boolean generated = "YES".equals(columns.getString("IS_GENERATEDCOLUMN"));
        String type = columns.getString("TYPE_NAME");
        found.add(
            new Column(
                columns.getString("COLUMN_NAME"),
                columns.getInt("NULLABLE") == DatabaseMetaData.columnNullable,
                generated ? "generated" : columns.getString("COLUMN_DEF"),
                Objects.requireNonNull(JAVA_TYPES.get(type), type)));
      }
    }
    return found;
  }

  @ParameterizedTest
  @ValueSource(strings = {"jobs", "redrives"})
  void keysAndIndexesAgreeInNameAndColumns(String table) throws SQLException {
    assertThat(keys(postgresql, table)).isEqualTo(keys(sqlite, table)).isNotEmpty();
    assertThat(indexes(postgresql, table)).isEqualTo(indexes(sqlite, table));
  }

  /** The columns of the primary key, and those of foreign keys with what they point to. */
  private static List<String> keys(Backend.Store store, String table) throws SQLException {
    List<String> found = new ArrayList<>();
    try (Connection connection = store.dataSource().getConnection();
        ResultSet primary =
            connection.getMetaData().getPrimaryKeys(null, connection.getSchema(), table);
        ResultSet foreign =
            connection.getMetaData().getImportedKeys(null, connection.getSchema(), table)) {
      while (primary.next()) {
        found.add(primary.getInt("KEY_SEQ") + " " + primary.getString("COLUMN_NAME"));
      }
      while (foreign.next()) {
        found.add(
            foreign.getString("FKCOLUMN_NAME")
                + " -> "
                + foreign.getString("PKTABLE_NAME")
                + "."
                + foreign.getString("PKCOLUMN_NAME"));
      }
    }
    return found.stream().sorted().toList();
  }

  private static Map<String, List<String>> indexes(Backend.Store store, String table)
      throws SQLException {
    Map<String, List<String>> found = new TreeMap<>();
    try (Connection connection = store.dataSource().getConnection();
        ResultSet indexes =
            connection
                .getMetaData()
                .getIndexInfo(null, connection.getSchema(), table, false, true)) {
      while (indexes.next()) {
        String name = String.valueOf(indexes.getString("INDEX_NAME"));
        if (indexes.getBoolean("NON_UNIQUE") && !name.equals("null")) {
          found
              .computeIfAbsent(name, any -> new ArrayList<>())
              .add(indexes.getShort("ORDINAL_POSITION") + " " + indexes.getString("COLUMN_NAME"));
        }
      }
    }
    found.replaceAll(
        (name, columns) -> columns.stream().map(c -> c.replaceAll("^\\d+ ", "")).toList());
    return found;
  }

  /** But for one: SQLite looks for NUL in payloads; text of PostgreSQL holds none. */
  @Test
  void constraintsAgreeInTheirNames() {
    Set<String> ofSqlite = new HashSet<>();
    for (var row :
        sqlite.dsl().fetch("select sql from sqlite_schema where name in ('jobs', 'redrives')")) {
      CONSTRAINT
          .matcher(row.get(0, String.class))
          .results()
          .forEach(found -> ofSqlite.add(found.group(1)));
    }
    assertThat(ofSqlite.remove("jobs_payload_without_nul")).isTrue();
    assertThat(
            postgresql
                .dsl()
                .fetch(
                    "select conname from pg_constraint join pg_class on pg_class.oid = conrelid"
                        + " where relnamespace = current_schema()::regnamespace and contype <> 'n'")
                .map(row -> row.get(0, String.class)))
        .containsExactlyInAnyOrderElementsOf(ofSqlite);
  }
}
