package dev.redrive;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What PostgreSQL's catalog says of redrive's tables, by names and types and not by definitions,
 * whose text changes from one major version to the next. One statement, so that it sees a migration
 * whole or not at all.
 */
final class PostgresqlCatalog {
  private static final String PARTS =
      """
      with relations as (
        select c.oid, c.relname as name, c.relpersistence as persistence
        from pg_catalog.pg_class c
        where c.relnamespace = (
            select oid from pg_catalog.pg_namespace where nspname = coalesce(?, current_schema()))
          and c.relkind in ('r', 'p')
          and c.relname in ('jobs', 'redrives', 'redrive_schema_history')
      )
      select concat('table ', name, case persistence when 'p' then ' logged' end) from relations
      union all
      select concat(
          'column ', r.name, '.', a.attname, ' ', pg_catalog.format_type(a.atttypid, a.atttypmod),
          ' collate ' || o.collname,
          case when a.attnotnull then ' not null' end,
          case a.attgenerated when 's' then ' generated' end)
      from relations r
        join pg_catalog.pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
        left join pg_catalog.pg_collation o on o.oid = a.attcollation
      union all
      select concat(
          'constraint ', r.name, '.', k.conname,
          case k.contype when 'p' then ' primary key' when 'f' then ' foreign key' else ' check' end,
          case when k.contype <> 'c' then (
            select ' (' || string_agg(a.attname, ', ' order by u.place) || ')'
            from unnest(k.conkey) with ordinality u (number, place)
              join pg_catalog.pg_attribute a on a.attrelid = r.oid and a.attnum = u.number)
          end,
          (select ' references ' || name from relations where oid = k.confrelid),
          case when k.contype = 'f' and (k.confdeltype <> 'a' or k.confupdtype <> 'a')
            then ' with actions' end,
          case when k.condeferrable then ' deferrable' end,
          case when not k.convalidated then ' not valid' end)
      from relations r join pg_catalog.pg_constraint k on k.conrelid = r.oid
      where k.contype in ('p', 'f', 'c')
      union all
      select concat(
          'index ', r.name, '.', c.relname,
          (select ' (' || string_agg(a.attname, ', ' order by u.place) || ')'
            from unnest(i.indkey::smallint[]) with ordinality u (number, place)
              join pg_catalog.pg_attribute a on a.attrelid = r.oid and a.attnum = u.number),
          case when i.indpred is not null then ' partial' end,
          case when not i.indisvalid then ' invalid' end)
      from relations r
        join pg_catalog.pg_index i on i.indrelid = r.oid and not i.indisprimary
        join pg_catalog.pg_class c on c.oid = i.indexrelid
      """;

  private PostgresqlCatalog() {}

  static Set<String> parts(Connection connection, @Nullable String schema) throws SQLException {
    if (schema != null) {
      refuseKeyword(connection, schema);
    } else {
      refuseNoSchema(connection);
    }
    try (PreparedStatement statement = connection.prepareStatement(PARTS)) {
      statement.setString(1, schema);
      try (ResultSet rows = statement.executeQuery()) {
        Set<String> parts = new HashSet<>();
        while (rows.next()) {
          parts.add(rows.getString(1));
        }
        return parts;
      }
    }
  }

  /** The server knows its own keywords: {@code user}, for one, is no name without quotes. */
  private static void refuseKeyword(Connection connection, String schema) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement("select pg_catalog.quote_ident(?) = ?")) {
      statement.setString(1, schema);
      statement.setString(2, schema);
      try (ResultSet rows = statement.executeQuery()) {
        if (rows.next() && !rows.getBoolean(1)) {
          throw new IllegalArgumentException(
              "schema must be a name that needs no quotes, and " + schema + " is a keyword of SQL");
        }
      }
    }
  }

  private static void refuseNoSchema(Connection connection) throws SQLException {
    if (connection.getSchema() == null) {
      throw new IllegalStateException(
          "the connection has no current schema for redrive's tables: its search path names none"
              + " that is there and that its role may use; set one, or name redrive's with"
              + " schema(...)");
    }
  }
}
