package dev.redrive.dispatch;

import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.util.Locale;
import java.util.Optional;

/**
 * Reads a receiver's answer, strictly: one JSON object, no key twice, nothing after it, and in it
 * {@code "accepted": true}. Apart from the handler, because Jackson may be missing.
 */
final class Acknowledgement {
  private final ObjectMapper json =
      JsonMapper.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  /** Why an answer is no ack, without quoting it; empty if it is one. */
  Optional<String> complaint(byte[] answer) {
    JsonNode node;
    try {
      node = json.readTree(answer);
    } catch (IOException e) {
      return Optional.of("which is broken JSON, repeats a key, or goes on after its end");
    }
    if (!node.isObject()) {
      return Optional.of("which is not a JSON object");
    }
    JsonNode accepted = node.path("accepted");
    if (accepted.isBoolean() && accepted.booleanValue()) {
      return Optional.empty();
    }
    return Optional.of("whose accepted is " + described(accepted) + ", not true");
  }

  private static String described(JsonNode accepted) {
    return accepted.isBoolean() ? "false" : accepted.getNodeType().name().toLowerCase(Locale.ROOT);
  }
}
