package dev.redrive.dispatch;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.redrive.Lease;

/**
 * The name of a job in a header: {@code <queue>/<id>}, each part percent-encoded UTF-8, so that any
 * id arrives whole, no two are the same, and the only slash is the one between them.
 */
final class IdempotencyKey {
  private static final String HEX = "0123456789ABCDEF";

  private IdempotencyKey() {}

  static String of(Lease lease) {
    return encoded(lease.queue()) + "/" + encoded(lease.id());
  }

  private static String encoded(String part) {
    StringBuilder text = new StringBuilder();
    for (byte b : part.getBytes(UTF_8)) {
      if (unreserved((char) b)) {
        text.append((char) b);
      } else {
        text.append('%').append(HEX.charAt((b >> 4) & 0xf)).append(HEX.charAt(b & 0xf));
      }
    }
    return text.toString();
  }

  /** RFC 3986, section 2.3. */
  private static boolean unreserved(char c) {
    return (c >= 'A' && c <= 'Z')
        || (c >= 'a' && c <= 'z')
        || (c >= '0' && c <= '9')
        || "-._~".indexOf(c) >= 0;
  }
}
