package dev.redrive.boot;

import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Hands out the connection of the application's transaction where one is open on the data source,
 * of any manager that shows it to JDBC, and a connection of nobody's otherwise.
 *
 * <p>A transaction-aware proxy alone is not enough: in a scope without a transaction, {@code
 * SUPPORTS} for one, it keeps to one connection. With auto-commit off, what the application left
 * uncommitted there would be committed with ours.
 */
final class JoiningDataSource extends DelegatingDataSource {
  private final DataSource plain;
  private final DataSource aware;

  JoiningDataSource(DataSource plain) {
    super(plain);
    this.plain = plain;
    this.aware = new TransactionAwareDataSourceProxy(plain);
  }

  /** Whether a transaction is open in this thread, and of this data source. */
  boolean isInTransaction() {
    return SpringTransactions.isOpen(TransactionSynchronizationManager.getResource(plain));
  }

  @Override
  public Connection getConnection() throws SQLException {
    return isInTransaction() ? aware.getConnection() : plain.getConnection();
  }
}
