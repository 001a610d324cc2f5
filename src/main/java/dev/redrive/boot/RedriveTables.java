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
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Redrive's tables in the application's database: whoever has one of these has the tables, created
 * or looked at when it was made.
 *
 * <p>They are made on the plain data source, which carries nobody's transaction. Queues work on a
 * transaction-aware one, whatever kind the application's own context is on: its connection is that
 * of an open transaction, of any manager that shows it to JDBC, and savepoints do without the
 * manager's help.
 */
final class RedriveTables {
  private final Configuration joining;
  private final RedriveProperties properties;

  /**
   * @param host the application's jOOQ context; null if it has none
   */
  RedriveTables(DataSource database, @Nullable DSLContext host, RedriveProperties properties) {
    DataSource plain = plain(host == null ? database : of(host, database));
    Configuration base = host == null ? configuration(plain) : host.configuration();
    this.joining =
        base.derive(new DataSourceConnectionProvider(new TransactionAwareDataSourceProxy(plain)));
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
        JobQueue.builder(joining.dsl())
            .name(properties.name())
            .retry(properties.retry().policy())
            .maxPayloadBytes(properties.maxPayloadBytes())
            .joins(TransactionSynchronizationManager::isActualTransactionActive)
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
