package dev.redrive.cli;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteConfig.SynchronousMode;
import org.sqlite.SQLiteConfig.TransactionMode;

/**
 * The receiver's own database, and the pattern that every receiver of redelivered work needs: the
 * key and the effect are stored in one transaction, and a key that is known has no effect again.
 */
final class SnackShop implements AutoCloseable {

  /** What the shop says to an order. */
  enum Reply {
    /** Booked now, or booked before under the same key. */
    ACCEPTED,
    /** No such snack on the menu. */
    UNKNOWN_SNACK,
    /** Not so many left. */
    SOLD_OUT
  }

  private final Connection connection;

  private SnackShop(Connection connection) {
    this.connection = connection;
  }

  static SnackShop open(Path file, Map<String, Integer> stock) throws SQLException {
    SQLiteConfig config = new SQLiteConfig();
    config.setSynchronous(SynchronousMode.FULL);
    config.setTransactionMode(TransactionMode.IMMEDIATE);
    SnackShop shop = new SnackShop(config.createConnection("jdbc:sqlite:" + file));
    try (Statement statement = shop.connection.createStatement()) {
      statement.execute(
          "create table stock (snack text primary key, quantity integer not null"
              + " check (quantity >= 0)) strict");
      statement.execute("create table booked (idempotency_key text primary key) strict");
    }
    for (Map.Entry<String, Integer> snack : stock.entrySet()) {
      shop.putOnMenu(snack.getKey(), snack.getValue());
    }
    return shop;
  }

  synchronized void putOnMenu(String snack, int quantity) throws SQLException {
    if (change("insert into stock (quantity, snack) values (?, ?)", quantity, snack) != 1) {
      throw new SQLException("the menu did not take " + snack);
    }
  }

  /** Books an order once, however often it is delivered. */
  synchronized Reply book(String key, SnackOrder order) throws SQLException {
    connection.setAutoCommit(false);
    try {
      Reply reply = bookOnce(key, order);
      if (reply == Reply.ACCEPTED) {
        connection.commit();
      }
      return reply;
    } finally {
      connection.rollback(); // a refused order leaves no key behind, so that a redrive is new to us
      connection.setAutoCommit(true);
    }
  }

  private Reply bookOnce(String key, SnackOrder order) throws SQLException {
    if (change("insert into booked values (?) on conflict do nothing", key) == 0) {
      return Reply.ACCEPTED;
    }
    String take = "update stock set quantity = quantity - ?1 where snack = ?2 and quantity >= ?1";
    if (change(take, order.quantity(), order.snack()) == 1) {
      return Reply.ACCEPTED;
    }
    return number("select count(*) from stock where snack = ?", order.snack()) == 0
        ? Reply.UNKNOWN_SNACK
        : Reply.SOLD_OUT;
  }

  /** How many snacks there are, of all kinds together. */
  synchronized int stock() throws SQLException {
    return number("select coalesce(sum(quantity), 0) from stock");
  }

  /** The keys of all orders that were booked. */
  synchronized Set<String> booked() throws SQLException {
    Set<String> keys = new TreeSet<>();
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("select idempotency_key from booked")) {
      while (rows.next()) {
        keys.add(rows.getString(1));
      }
    }
    return keys;
  }

  private int change(String sql, Object... values) throws SQLException {
    try (PreparedStatement statement = prepared(sql, values)) {
      return statement.executeUpdate();
    }
  }

  private int number(String sql, Object... values) throws SQLException {
    try (PreparedStatement statement = prepared(sql, values);
        ResultSet rows = statement.executeQuery()) {
      return rows.next() ? rows.getInt(1) : 0;
    }
  }

  private PreparedStatement prepared(String sql, Object... values) throws SQLException {
    PreparedStatement statement = connection.prepareStatement(sql);
    for (int i = 0; i < values.length; i++) {
      statement.setObject(i + 1, values[i]);
    }
    return statement;
  }

  @Override
  public synchronized void close() throws SQLException {
    connection.close();
  }
}
