package dev.redrive;

/**
 * One finish among several.
 *
 * @param lease the claim to finish
 * @param outcome what the worker says
 */
public record Finish(Lease lease, Outcome outcome) {
  /** Refuses missing parts. */
  public Finish {
    Arguments.notNull(lease, "lease");
    Arguments.notNull(outcome, "outcome");
  }
}
