package dev.redrive.quarantine;

import dev.redrive.Arguments;
import java.util.List;
import java.util.Optional;

/**
 * One page of a list.
 *
 * @param jobs the jobs, oldest death first, then by id
 * @param next what to ask for the page after this one; empty if this is the last
 */
public record Listed(List<DeadJob> jobs, Optional<Page> next) {
  /** Refuses missing parts. */
  public Listed {
    jobs = List.copyOf(Arguments.notNull(jobs, "jobs"));
    Arguments.notNull(next, "next");
  }
}
