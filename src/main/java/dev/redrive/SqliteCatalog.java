package dev.redrive;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What SQLite's catalog says of redrive's tables. Constraints have names only in its script. */
final class SqliteCatalog {
  private static final String TABLES =
      "select name, sql from main.sqlite_master where type = 'table'"
          + " and lower(name) in ('jobs', 'redrives', 'redrive_schema_history')";

  private static final String PARTS =
      """
      with tables as (
        select name, strict from pragma_table_list
        where schema = 'main' and lower(name) in ('jobs', 'redrives', 'redrive_schema_history')
      )
      select 'table ' || name || iif(strict, ' strict', '') from tables
      union all
      select 'column ' || t.name || '.' || c.name || ' ' || c.type || iif(c."notnull", ' not null', '')
        || iif(c.hidden in (2, 3), ' generated', '')
      from tables t join pragma_table_xinfo(t.name) c
      union all
      select 'primary key ' || t.name || ' (' || group_concat(c.name, ', ' order by c.pk) || ')'
      from tables t join pragma_table_xinfo(t.name) c
      where c.pk > 0
      group by t.name
      union all
      select 'foreign key ' || t.name || ' (' || group_concat(f."from", ', ' order by f.seq)
        || ') references ' || f."table"
        || iif(f.on_delete = 'NO ACTION' and f.on_update = 'NO ACTION', '', ' with actions')
      from tables t join pragma_foreign_key_list(t.name) f
      group by t.name, f.id
      union all
      select 'index ' || t.name || '.' || i.name
        || ' (' || group_concat(c.name, ', ' order by c.seqno) || ')' || iif(i.partial, ' partial', '')
      from tables t join pragma_index_list(t.name) i join pragma_index_info(i.name) c
      where i.origin = 'c'
      group by t.name, i.name
      """;

  private static final Pattern CONSTRAINT =
      Pattern.compile("\\bconstraint\\s+[\"`\\[]?(\\w+)", Pattern.CASE_INSENSITIVE);

  /** The first that counts octets and sorts what it concatenates: 3.44. */
  private static final int OLDEST_MINOR = 44;

  private SqliteCatalog() {}

  static Set<String> parts(Connection connection) throws SQLException {
    refuseOldSqlite(connection.getMetaData());
    Set<String> parts = new HashSet<>();
    try (Statement statement = connection.createStatement()) {
      try (ResultSet rows = statement.executeQuery(PARTS)) {
        while (rows.next()) {
          parts.add(rows.getString(1).toLowerCase(Locale.ROOT));
        }
      }
      try (ResultSet tables = statement.executeQuery(TABLES)) {
        while (tables.next()) {
          String table = tables.getString(1).toLowerCase(Locale.ROOT);
          Matcher constraint = CONSTRAINT.matcher(tables.getString(2));
          while (constraint.find()) {
            parts.add("constraint " + table + "." + constraint.group(1).toLowerCase(Locale.ROOT));
          }
        }
      }
    }
    return parts;
  }

  static void refuseOldSqlite(DatabaseMetaData driver) throws SQLException {
    if (driver.getDatabaseMajorVersion() == 3 && driver.getDatabaseMinorVersion() < OLDEST_MINOR) {
      throw new IllegalStateException(
          "redrive needs SQLite 3.44 or newer, and the driver has "
              + driver.getDatabaseProductVersion()
              + "; take org.xerial:sqlite-jdbc 3.44.0.0 or newer");
    }
  }
}
