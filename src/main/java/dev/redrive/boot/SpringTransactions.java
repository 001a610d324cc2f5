package dev.redrive.boot;

import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.WeakHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Takes down which of the connections that Spring holds for a thread have a transaction open.
 *
 * <p>Spring itself does not tell. It says that a transaction is active, and holds its connection,
 * also after the commit or rollback, while its callbacks run: what is done there with auto-commit
 * off is lost. And a connection that is held beside the transaction of another data source looks
 * like one that has a transaction itself.
 */
final class SpringTransactions implements TransactionExecutionListener {
  private static final Set<ConnectionHolder> OPEN =
      Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

  /** Lies among the synchronizations of a transaction, with the connections that are its own. */
  private record Mark(List<ConnectionHolder> own) implements TransactionSynchronization {}

  /** Whether a transaction is open on the connection that Spring holds for a data source. */
  static boolean isOpen(@Nullable Object held) {
    if (!TransactionSynchronizationManager.isSynchronizationActive() || held == null) {
      return false;
    }
    boolean unheard =
        TransactionSynchronizationManager.isActualTransactionActive() && mark().isEmpty();
    return unheard || (held instanceof ConnectionHolder holder && OPEN.contains(holder));
  }

  private static Optional<Mark> mark() {
    return TransactionSynchronizationManager.getSynchronizations().stream()
        .filter(Mark.class::isInstance)
        .map(Mark.class::cast)
        .findFirst();
  }

  /** What a scope without a transaction held is put aside when one begins. */
  @Override
  public void afterBegin(TransactionExecution transaction, @Nullable Throwable failure) {
    if (failure == null
        && !transaction.isNested()
        && TransactionSynchronizationManager.isSynchronizationActive()) {
      List<ConnectionHolder> own =
          TransactionSynchronizationManager.getResourceMap().values().stream()
              .filter(ConnectionHolder.class::isInstance)
              .map(ConnectionHolder.class::cast)
              .filter(holder -> !OPEN.contains(holder))
              .toList();
      OPEN.addAll(own);
      TransactionSynchronizationManager.registerSynchronization(new Mark(own));
    }
  }

  @Override
  public void beforeCommit(TransactionExecution transaction) {
    end(transaction);
  }

  @Override
  public void beforeRollback(TransactionExecution transaction) {
    end(transaction);
  }

  private static void end(TransactionExecution transaction) {
    if (!transaction.isNested() && TransactionSynchronizationManager.isSynchronizationActive()) {
      mark().ifPresent(mark -> mark.own().forEach(OPEN::remove));
    }
  }
}
