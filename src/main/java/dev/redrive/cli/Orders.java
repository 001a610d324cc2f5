package dev.redrive.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.redrive.NewJob;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Orders out of a file with one JSON object a line, each with an {@code id}. A line that is none is
 * a complaint, and the others go on.
 */
final class Orders {
  private static final int MAX_LINE_BYTES = 1 << 20;

  /**
   * One order.
   *
   * @param line where it stands in the file, from 1
   * @param job the order; the whole line is the payload
   */
  record Line(int line, NewJob job) {}

  private final String file;
  private final List<Line> lines = new ArrayList<>();
  private final List<String> complaints = new ArrayList<>();

  private Orders(String file) {
    this.file = file;
  }

  static Orders read(String file, byte[] content) {
    Orders orders = new Orders(file);
    int number = 1;
    int start = 0;
    for (int i = 0; i <= content.length; i++) {
      if (i == content.length || content[i] == '\n') {
        orders.add(number++, ByteBuffer.wrap(content, start, i - start));
        start = i + 1;
      }
    }
    return orders;
  }

  String file() {
    return file;
  }

  List<Line> lines() {
    return lines;
  }

  List<String> complaints() {
    return complaints;
  }

  /** Says what is wrong with a line. */
  void complain(int line, String what) {
    complaints.add(file + " line " + line + " was skipped: " + what);
  }

  private void add(int number, ByteBuffer bytes) {
    if (bytes.remaining() > MAX_LINE_BYTES) {
      complain(number, "it is longer than 1 MiB");
      return;
    }
    try {
      String text = StandardCharsets.UTF_8.newDecoder().decode(bytes).toString();
      String line = (number == 1 ? text.replaceFirst("^\uFEFF", "") : text).strip();
      if (!line.isEmpty()) {
        lines.add(new Line(number, NewJob.of(id(line), line)));
      }
    } catch (CharacterCodingException e) {
      complain(number, "it is not UTF-8");
    } catch (IOException e) {
      complain(number, "it is broken JSON, repeats a key, or goes on after its end");
    } catch (IllegalArgumentException e) {
      complain(number, String.valueOf(e.getMessage()));
    }
  }

  private static String id(String line) throws IOException {
    JsonNode order = SnackOrder.JSON.readTree(line);
    if (!order.path("id").isTextual()) {
      throw new IllegalArgumentException("it is not a JSON object whose id is a text");
    }
    return order.path("id").textValue();
  }
}
