package dev.redrive;

import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.jooq.ConnectionProvider;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.DataSourceConnectionProvider;
import org.jspecify.annotations.Nullable;

/** What a queue asks of a database before it works with it. */
record DatabaseCheck(
    Engine engine,
    Transactions transactions,
    ConnectionProvider connections,
    @Nullable String schema) {

  /** Refuses settings that break redrive's promises, and sees that the tables are there. */
  void pass(boolean mayMigrate) {
    refuseBadSettings();
    Installation found =
        transactions.read(
            dsl ->
                dsl.connectionResult(connection -> Installation.look(engine, connection, schema)));
    if (!found.isComplete()) {
      create(mayMigrate, found);
    }
  }

  private void refuseBadSettings() {
    Connection connection = acquire();
    try {
      engine
          .complaint(connection, transactions.owns(connections))
          .ifPresent(
              complaint -> {
                throw new IllegalArgumentException("dsl: its connection " + complaint);
              });
    } catch (SQLException e) {
      throw new DataAccessException("Cannot look at the database: " + e.getMessage(), e);
    } finally {
      connections.release(connection);
    }
  }

  private Connection acquire() {
    Connection connection;
    try {
      connection = connections.acquire();
    } catch (RuntimeException e) {
      throw Drivers.explain(e);
    }
    if (connection == null) {
      throw new IllegalArgumentException("dsl must have a connection or a data source");
    }
    return connection;
  }

  private void create(boolean mayMigrate, Installation found) {
    @Nullable DataSource source =
        connections instanceof DataSourceConnectionProvider pool ? pool.dataSource() : null;
    if (!mayMigrate || !transactions.owns(connections) || source == null) {
      throw new IllegalStateException(found.complaint());
    }
    new Migrations(source, engine, schema).migrate();
  }
}
