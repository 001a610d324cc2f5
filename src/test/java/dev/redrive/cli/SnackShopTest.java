package dev.redrive.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.sql.SQLException;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SnackShopTest {
  @TempDir Path folder;
  private SnackShop shop;

  @BeforeEach
  void open() throws SQLException {
    shop = SnackShop.open(folder.resolve("shop.db"), Map.of("chips", 5));
  }

  @AfterEach
  void close() throws SQLException {
    shop.close();
  }

  @Test
  void aSecondDeliveryIsAcceptedAndChangesNothing() throws SQLException {
    SnackOrder order = new SnackOrder("chips", 3);
    assertThat(shop.book("orders/1", order)).isEqualTo(SnackShop.Reply.ACCEPTED);
    assertThat(shop.book("orders/1", order)).isEqualTo(SnackShop.Reply.ACCEPTED);
    assertThat(shop.stock()).isEqualTo(2);
    assertThat(shop.booked()).containsExactly("orders/1");
  }

  @Test
  void aRefusedOrderLeavesNoKeyBehind() throws SQLException {
    assertThat(shop.book("orders/1", new SnackOrder("chips", 6)))
        .isEqualTo(SnackShop.Reply.SOLD_OUT);
    assertThat(shop.book("orders/2", new SnackOrder("fudge", 1)))
        .isEqualTo(SnackShop.Reply.UNKNOWN_SNACK);
    assertThat(shop.booked()).isEmpty();
    assertThat(shop.stock()).isEqualTo(5);

    shop.putOnMenu("fudge", 1);
    assertThat(shop.book("orders/2", new SnackOrder("fudge", 1)))
        .isEqualTo(SnackShop.Reply.ACCEPTED);
  }
}
