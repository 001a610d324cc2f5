package dev.redrive.boot;

import dev.redrive.JobQueue;
import dev.redrive.NewJob;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

/** A service of the host's: it stores an order of its own together with the job that ships it. */
class Shop {
  private final JdbcTemplate database;
  private final JobQueue queue;

  Shop(JdbcTemplate database, JobQueue queue) {
    this.database = database;
    this.queue = queue;
  }

  @Transactional
  void order(String id) {
    store(id);
  }

  @Transactional
  void orderAndFail(String id) {
    store(id);
    throw new OutOfStock();
  }

  /** Without a transaction, but on one connection: what is not committed there is lost. */
  @Transactional(propagation = Propagation.SUPPORTS)
  boolean help(String sql) {
    database.execute(sql);
    return queue.submit(NewJob.of("help", "{}")).created();
  }

  private void store(String id) {
    int inserted = database.update("insert into orders (id) values (?)", id);
    boolean created = queue.submit(NewJob.of(id, "{}")).created();
    if (inserted != 1 || !created) {
      throw new IllegalStateException("not stored: " + id);
    }
  }

  static final class OutOfStock extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }
}
