package dev.redrive.dispatch;

import dev.redrive.Lease;

/**
 * An answer that is no verdict, such as {@code false} from a handler or {@code {"accepted": 1}}
 * from a receiver. Whether the work happened is not known, so nothing is stored: the job stays
 * leased until its lease is over, and is then claimed again. That costs an attempt, so that a
 * receiver that never learns to answer ends in quarantine, with the fault {@code lease-expired}.
 */
public class BadAckException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * Says whose answer it was and what is wrong with it.
   *
   * @param lease the job, told without its payload
   * @param complaint what is wrong, without quoting the answer: it may hold anything
   */
  public BadAckException(Lease lease, String complaint) {
    super(complaint + "; no verdict on " + lease);
  }
}
