package shop;

import static dev.redrive.schema.Tables.JOBS;
import static org.jooq.impl.DSL.field;
import static org.jooq.impl.DSL.name;
import static org.jooq.impl.DSL.table;

import dev.redrive.Engine;
import dev.redrive.JobQueue;
import dev.redrive.Lease;
import dev.redrive.NewJob;
import dev.redrive.SqliteDatabase;
import dev.redrive.dispatch.Dispatcher;
import dev.redrive.dispatch.Permanent;
import java.nio.file.Path;
import java.time.Duration;
import org.flywaydb.core.Flyway;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Record;
import org.jooq.Table;
import org.jooq.impl.SQLDataType;

/** A snack shop: an order and the job that delivers it are stored in one transaction, or neither. */
public final class Shop {
  private static final Table<Record> ORDERS = table(name("orders"));
  private static final Field<String> ID = field(name("orders", "id"), SQLDataType.VARCHAR);
  private static final Field<String> SNACK = field(name("orders", "snack"), SQLDataType.VARCHAR);
  private static final Field<Integer> QUANTITY =
      field(name("orders", "quantity"), SQLDataType.INTEGER);

  private final DSLContext dsl;
  private final JobQueue queue;

  private Shop(SqliteDatabase database) {
    this.dsl = database.dsl();
    this.queue = JobQueue.builder(dsl).name("orders").build();
  }

  public static void main(String[] arguments) throws Exception {
    try (SqliteDatabase database = Engine.sqlite(Path.of("shop.db")).open()) {
      // redrive's tables are there already, so that the schema is not empty
      Flyway.configure()
          .dataSource(database.dataSource())
          .baselineOnMigrate(true)
          .baselineVersion("0")
          .load()
          .migrate();

      Shop shop = new Shop(database);
      shop.take("order-1", "pretzel", 7);
      shop.take("order-2", "unobtainium", 1);
      shop.deliver();
      shop.print();
    }
  }

  private void take(String id, String snack, int quantity) {
    dsl.transaction(
        tx -> {
          tx.dsl()
              .insertInto(ORDERS, ID, SNACK, QUANTITY)
              .values(id, snack, quantity)
              .execute();
          var job = queue.within(tx.dsl()).submit(NewJob.of(id, quantity + " " + snack));
          System.out.println(id + " " + job.result());
        });
  }

  /** Claims, hands over and finishes one job after the other. */
  private void deliver() throws Exception {
    var dispatcher = new Dispatcher(queue, "courier-1", Duration.ofMinutes(1), Shop::handOver);
    System.out.println(dispatcher.runUntilIdle());
  }

  private static boolean handOver(Lease lease) {
    if (lease.payload().endsWith("unobtainium")) {
      throw new Permanent("unknown-snack");
    }
    System.out.println("delivered " + lease.payload());
    return true;
  }

  /** Each order, and what became of its job. */
  private void print() {
    dsl.select(ID, QUANTITY, SNACK, JOBS.STATE)
        .from(ORDERS)
        .join(JOBS)
        .on(JOBS.QUEUE.eq(queue.name()))
        .and(JOBS.ID.eq(ID))
        .orderBy(ID)
        .forEach(order -> System.out.println(String.join(" ", order.into(String[].class))));
  }
}
