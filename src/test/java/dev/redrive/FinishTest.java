package dev.redrive;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class FinishTest extends QueueTest {

  @Test
  void okEndsTheJob() {
    Lease lease = leased("j1");
    assertThat(queue.finish(lease, Outcome.ok())).isTrue();
    assertThat(row("j1"))
        .containsEntry("state", "done")
        .containsEntry("owner", null)
        .containsEntry("lease_until", null)
        .containsEntry("finished_at", T0)
        .containsEntry("token", 1L);
  }

  @Test
  void redriveStartsAFreshLife() {
    Job dead = dead("j1");
    assertThat(queue.redrive(dead, ORDER)).isTrue();
    assertThat(find("j1").state()).isEqualTo(JobState.PENDING);
    assertThat(audit("j1")).hasSize(1);
  }
}
