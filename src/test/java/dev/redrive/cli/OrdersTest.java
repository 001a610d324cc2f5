package dev.redrive.cli;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OrdersTest {

  private static Orders read(String content) {
    return Orders.read("f", content.getBytes(UTF_8));
  }

  @Test
  void aLineIsAnOrderAndItsPayload() {
    Orders orders = read("\uFEFF{\"id\":\"김밥\"}\r\n\n  {\"id\":\"b\"}  ");
    assertThat(orders.complaints()).isEmpty();
    assertThat(orders.lines()).extracting(Orders.Line::line).containsExactly(1, 3);
    assertThat(orders.lines().get(0).job().id()).isEqualTo("김밥");
    assertThat(orders.lines().get(1).job().payload()).isEqualTo("{\"id\":\"b\"}");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "order",
        "{",
        "[]",
        "7",
        "null",
        "{}",
        "{\"id\":null}",
        "{\"id\":\"\"}",
        "{\"id\":\"a\\u0000\"}",
        "{\"id\":\"\\ud800\"}",
        "{\"id\":\"a\",\"id\":\"b\"}",
        "{\"id\":\"a\"} {\"id\":\"b\"}",
        "{'id':'a'}",
      })
  void aLineThatIsNoneIsAComplaint(String line) {
    Orders orders = read("{\"id\":\"a\"}\n" + line + "\n{\"id\":\"z\"}");
    assertThat(orders.lines()).extracting(good -> good.job().id()).containsExactly("a", "z");
    assertThat(orders.complaints())
        .singleElement()
        .asString()
        .startsWith("f line 2 was skipped: i");
  }

  @Test
  void bytesThatAreNoTextAreAComplaint() {
    Orders orders = Orders.read("f", "{\"id\":\"caf\u00e9\"}\n".getBytes(ISO_8859_1));
    assertThat(orders.complaints()).containsExactly("f line 1 was skipped: it is not UTF-8");
  }

  @Test
  void aLineBeyondTheQueuesLimitIsAComplaint() {
    String filler = "x".repeat(1 << 20);
    assertThat(read("{\"id\":\"a\",\"note\":\"" + filler + "\"}").complaints())
        .containsExactly("f line 1 was skipped: it is longer than 1 MiB");
  }
}
