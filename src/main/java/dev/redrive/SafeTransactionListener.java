package dev.redrive;

import java.lang.ref.WeakReference;
import java.util.Arrays;
import java.util.function.Consumer;
import org.jooq.TransactionContext;
import org.jooq.TransactionListener;
import org.jooq.TransactionListenerProvider;
import org.jspecify.annotations.Nullable;

/**
 * A listener of the host's that cannot keep a rollback of ours from happening: jOOQ leaves the
 * transaction open, and on SQLite the file locked, when a listener throws at the rollback's start.
 * What it throws elsewhere ends a call as it would without us.
 */
record SafeTransactionListener(TransactionListener host) implements TransactionListener {
  private static final System.Logger LOG =
      System.getLogger(SafeTransactionListener.class.getName());
  private static final ThreadLocal<@Nullable WeakReference<Throwable>> LAST_THROWN =
      new ThreadLocal<>();

  static TransactionListenerProvider[] around(TransactionListenerProvider[] providers) {
    return Arrays.stream(providers)
        .<TransactionListenerProvider>map(
            provider -> () -> new SafeTransactionListener(provider.provide()))
        .toArray(TransactionListenerProvider[]::new);
  }

  @Override
  public void beginStart(TransactionContext context) {
    host.beginStart(context);
  }

  @Override
  public void beginEnd(TransactionContext context) {
    host.beginEnd(context);
  }

  @Override
  public void commitStart(TransactionContext context) {
    host.commitStart(context);
  }

  @Override
  public void commitEnd(TransactionContext context) {
    try {
      host.commitEnd(context);
    } catch (Throwable e) {
      LAST_THROWN.set(new WeakReference<>(e));
      throw e;
    }
  }

  /** Whether it was a listener that threw this in this thread, after a commit. */
  static boolean hasThrown(Throwable e) {
    WeakReference<Throwable> last = LAST_THROWN.get();
    @Nullable Throwable thrown = last == null ? null : last.get();
    for (Throwable cause = e; cause != null; cause = cause.getCause()) {
      if (cause == thrown) {
        return true;
      }
    }
    return false;
  }

  @Override
  public void rollbackStart(TransactionContext context) {
    logged(host::rollbackStart, context);
  }

  @Override
  public void rollbackEnd(TransactionContext context) {
    logged(host::rollbackEnd, context);
  }

  private static void logged(Consumer<TransactionContext> call, TransactionContext context) {
    try {
      call.accept(context);
    } catch (RuntimeException | Error e) {
      LOG.log(System.Logger.Level.WARNING, "a transaction listener failed at a rollback", e);
    }
  }
}
