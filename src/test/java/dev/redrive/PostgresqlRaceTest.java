package dev.redrive;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** Two transactions on one row at the same time. */
class PostgresqlRaceTest extends PostgresqlTest {

  @Test
  void case_10_11_aSubmitWaitsForAnotherAndFindsItRolledBack() throws Exception {
    try (Connection host = hostConnection()) {
      assertThat(within(host).submit(job("j1")).created()).isTrue();
      Future<Submission> second = start(() -> queue.submit(job("j1")));
      awaitLockWaits(1);
      host.rollback();
      assertThat(answer(second).result()).isEqualTo(Submission.Result.CREATED);
    }
    assertThat(jobRows()).isEqualTo(1);
  }

  @Test
  void case_10_11_aSubmitWaitsForAnotherAndFindsItStored() throws Exception {
    try (Connection host = hostConnection()) {
      assertThat(within(host).submit(job("j1")).created()).isTrue();
      Future<Submission> second = start(() -> queue.submit(job("j1")));
      awaitLockWaits(1);
      host.commit();
      assertThat(answer(second).result()).isEqualTo(Submission.Result.DUPLICATE);
    }
    assertThat(jobRows()).isEqualTo(1);
  }

  /** The audit keeps a look at the death that came between its reading and the redrive. */
  @Test
  void aRedriveWaitsForAnInvestigationAndKeepsIt() throws Exception {
    Job dead = dead("j1");
    try (Connection host = hostConnection()) {
      assertThat(within(host).investigate(dead, "OPS-16", "lee")).isTrue();
      Future<Boolean> redrive = start(() -> queue.redrive(dead, ORDER));
      awaitLockWaits(1);
      host.commit();
      assertThat(answer(redrive)).isTrue();
    }
    assertThat(audit("j1").get(0)).containsEntry("previous_investigation", "OPS-16");
  }

  @Test
  void anInvestigationWaitsForARedriveAndIsFalse() throws Exception {
    Job dead = dead("j1");
    try (Connection host = hostConnection()) {
      assertThat(within(host).redrive(dead, ORDER)).isTrue();
      Future<Boolean> look = start(() -> queue.investigate(dead, "OPS-16", "lee"));
      awaitLockWaits(1);
      host.commit();
      assertThat(answer(look)).isFalse();
    }
  }

  @Test
  void ofTwoRedrivesOneWaitsAndIsFalse() throws Exception {
    Job dead = dead("j1");
    try (Connection host = hostConnection()) {
      assertThat(within(host).redrive(dead, ORDER)).isTrue();
      Future<Boolean> second = start(() -> queue.redrive(dead, ORDER));
      awaitLockWaits(1);
      host.commit();
      assertThat(answer(second)).isFalse();
    }
    assertThat(auditRows()).isEqualTo(1);
    assertThat(claim("A")).map(Lease::token).contains(2L);
  }

  @Test
  void aFinishWaitsForATakeoverAndIsStale() throws Exception {
    Lease lease = leased("j1");
    clock.at(T0 + 30_000);
    try (Connection host = hostConnection()) {
      assertThat(within(host).claim("B", LEASE)).isPresent();
      Future<Boolean> finish = start(() -> queue.finish(lease, Outcome.ok()));
      awaitLockWaits(1);
      host.commit();
      assertThat(answer(finish)).isFalse();
    }
    assertThat(row("j1")).containsEntry("state", "leased").containsEntry("token", 2L);
  }

  @Test
  void aFinishWaitsForATakeoverThatIsRolledBackAndWins() throws Exception {
    Lease lease = leased("j1");
    clock.at(T0 + 30_000);
    try (Connection host = hostConnection()) {
      assertThat(within(host).claim("B", LEASE)).isPresent();
      Future<Boolean> finish = start(() -> queue.finish(lease, Outcome.ok()));
      awaitLockWaits(1);
      host.rollback();
      assertThat(answer(finish)).isTrue();
    }
    assertThat(row("j1")).containsEntry("state", "done").containsEntry("token", 1L);
  }
}
