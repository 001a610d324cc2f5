package dev.redrive.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.redrive.NewJob;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * What the text of an order says. The queue does not care: to it, the text is opaque.
 *
 * @param snack what
 * @param quantity how many
 */
record SnackOrder(String snack, int quantity) {
  static final ObjectMapper JSON =
      JsonMapper.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  private static final int MAX_QUANTITY = 1_000;

  /** The order in a text; empty if it asks for nothing that could ever be sold. */
  static Optional<SnackOrder> parse(String text) {
    JsonNode order;
    try {
      order = JSON.readTree(text);
    } catch (JsonProcessingException e) {
      return Optional.empty();
    }
    JsonNode snack = order.path("snack");
    JsonNode quantity = order.path("quantity");
    boolean valid =
        snack.isTextual()
            && !snack.textValue().isBlank()
            && StandardCharsets.UTF_8.newEncoder().canEncode(snack.textValue())
            && quantity.isInt()
            && quantity.intValue() >= 1
            && quantity.intValue() <= MAX_QUANTITY;
    return valid
        ? Optional.of(new SnackOrder(snack.textValue(), quantity.intValue()))
        : Optional.empty();
  }

  /** A job that asks for a snack. */
  static NewJob job(String id, String snack, int quantity) {
    return NewJob.of(
        id,
        JSON.createObjectNode()
            .put("id", id)
            .put("snack", snack)
            .put("quantity", quantity)
            .toString());
  }
}
