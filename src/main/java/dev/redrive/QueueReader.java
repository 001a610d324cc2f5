package dev.redrive;

import static org.jooq.impl.DSL.param;

import java.util.function.Function;
import java.util.function.Supplier;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Param;

/**
 * How redrive's own packages read the database of a queue: on its connections, with the settings
 * that the reviewed SQL is rendered by, at the time of its clock. Public only for them; of no use
 * to a host, which reads by the tables of {@code dev.redrive.schema}.
 */
public final class QueueReader {
  private final Transactions transactions;
  private final Engine engine;
  private final String queue;
  private final Supplier<Param<Long>> time;

  QueueReader(Transactions transactions, Engine engine, String queue, Supplier<Param<Long>> time) {
    this.transactions = transactions;
    this.engine = engine;
    this.queue = queue;
    this.time = time;
  }

  /**
   * What statements are made of.
   *
   * @param dsl executes them
   * @param queue the queue's name
   * @param now the current time, in epoch milliseconds
   */
  public record Scope(DSLContext dsl, Param<String> queue, Field<Long> now) {
    /** Refuses missing parts. */
    public Scope {
      Arguments.notNull(dsl, "dsl");
      Arguments.notNull(queue, "queue");
      Arguments.notNull(now, "now");
    }
  }

  /**
   * The reader of a queue.
   *
   * @param queue the queue
   * @return its reader
   * @throws IllegalArgumentException if null
   */
  public static QueueReader of(JobQueue queue) {
    return Arguments.notNull(queue, "queue").reader();
  }

  /**
   * Reads. Each statement is consistent in itself; several see what is committed between them.
   *
   * @param work one or more selects, read to the end
   * @param <T> what it answers
   * @return its answer
   * @throws IllegalArgumentException if null
   */
  public <T> T read(Function<Scope, T> work) {
    Arguments.notNull(work, "work");
    return transactions.read(
        dsl -> work.apply(new Scope(dsl, param("queue", queue), engine.now(time.get()))));
  }
}
