package dev.redrive.quarantine;

import dev.redrive.Arguments;
import java.util.List;

/**
 * What a bulk redrive would find now.
 *
 * @param matched how many jobs the filter matches
 * @param sample the first of them, oldest death first, without payloads
 */
public record Preview(long matched, List<DeadJob> sample) {
  /** Refuses missing parts. */
  public Preview {
    sample = List.copyOf(Arguments.notNull(sample, "sample"));
  }
}
