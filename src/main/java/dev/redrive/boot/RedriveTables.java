package dev.redrive.boot;

import dev.redrive.JobQueue;
import dev.redrive.Migrations;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.jooq.Configuration;
import org.jooq.DSLContext;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.DataSourceConnectionProvider;
import org.jooq.impl.DefaultConfiguration;
import org.jooq.tools.jdbc.JDBCUtils;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;

/**
 * Redrive's tables in the application's database: whoever has one of these has the tables, created
 * or looked at when it was made.
 *
 * <p>They are made on the plain data source, which carries nobody's transaction. Queues work on a
 * {@link JoiningDataSource}, whatever kind the application's own context is on.
 */
final class RedriveTables {
  private final Configuration configuration;
  private final JoiningDataSource source;
  private final RedriveProperties properties;

  /**
   * @param host the application's jOOQ context; null if it has none
   */
  RedriveTables(DataSource database, @Nullable DSLContext host, RedriveProperties properties) {
    DataSource plain = plain(host == null ? database : of(host, database));
    Configuration base = host == null ? configuration(plain) : host.configuration();
    this.source = new JoiningDataSource(plain);
    this.configuration = base.derive(new DataSourceConnectionProvider(source));
    this.properties = properties;
    prepare(plain);
  }

  private void prepare(DataSource plain) {
    Migrations all = Migrations.of(plain);
    String schema = properties.schema();
    Migrations migrations = schema == null ? all : all.schema(schema);
    if (properties.migrate()) {
      migrations.migrate();
    } else {
      migrations.verify();
    }
  }

  /** A new builder, set up by the application's properties. */
  JobQueue.Builder builder() {
    JobQueue.Builder builder =
        JobQueue.builder(configuration.dsl())
            .name(properties.name())
            .retry(properties.retry().policy())
            .maxPayloadBytes(properties.maxPayloadBytes())
            .joins(source::isInTransaction)
            .verifyOnly();
    String schema = properties.schema();
    return schema == null ? builder : builder.schema(schema);
  }

  private static DataSource of(DSLContext host, DataSource otherwise) {
    @Nullable DataSource known =
        host.configuration().connectionProvider() instanceof DataSourceConnectionProvider pool
            ? pool.dataSource()
            : null;
    return known == null ? otherwise : known;
  }

  private static DataSource plain(DataSource source) {
    @Nullable DataSource target =
        source instanceof TransactionAwareDataSourceProxy aware
            ? aware.getTargetDataSource()
            : null;
    return target == null ? source : plain(target);
  }

  private static Configuration configuration(DataSource plain) {
    try (Connection connection = plain.getConnection()) {
      return new DefaultConfiguration().set(JDBCUtils.dialect(connection));
    } catch (SQLException e) {
      throw new DataAccessException("Cannot ask the data source which database it is of", e);
    }
  }
}
