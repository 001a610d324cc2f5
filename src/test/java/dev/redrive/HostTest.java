package dev.redrive;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;

/** The base of tests about hosts with transactions of their own, and what a host does in them. */
abstract class HostTest extends QueueTest {

  @BeforeEach
  void hostTable() {
    plant("create table host (x integer)");
  }

  void hostWork(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      assertThat(statement.executeUpdate("insert into host values (1)")).isEqualTo(1);
    }
  }

  int hostRows() {
    return rows("select x from host").size();
  }

  /** Everything a host may do with a queue in its own transaction. */
  void everything(JobQueue inHost, Job dead, Lease held) {
    assertThat(inHost.submit(job("new")).created()).isTrue();
    assertThat(inHost.submitAll(List.of(job("new-2"), job("new")))).hasSize(2);
    assertThat(inHost.redrive(dead, ORDER)).isTrue();
    assertThat(inHost.finish(held, Outcome.ok())).isTrue();
    Lease lease = inHost.claim("A", LEASE).orElseThrow();
    assertThat(inHost.renew(lease, LEASE)).isTrue();
    assertThat(inHost.finishAndClaim(lease, Outcome.ok(), "A", LEASE).finished()).isTrue();
    assertThat(inHost.find("new")).isPresent();
  }

  void everythingIsThere() {
    assertThat(hostRows()).isEqualTo(1);
    assertThat(find("new").state()).isEqualTo(JobState.LEASED);
    assertThat(find("dead").state()).isEqualTo(JobState.DONE);
    assertThat(find("held").state()).isEqualTo(JobState.DONE);
    assertThat(auditRows()).isEqualTo(1);
  }

  void nothingIsThere(Job dead) {
    assertThat(hostRows()).isZero();
    assertThat(queue.find("new")).isEmpty();
    assertThat(queue.find("new-2")).isEmpty();
    assertThat(find("dead")).isEqualTo(dead);
    assertThat(find("held").state()).isEqualTo(JobState.LEASED);
    assertThat(auditRows()).isZero();
  }

  /** A pool of the host's on the database of this test. */
  HikariDataSource pool(boolean autoCommit, int connections) {
    HikariDataSource original = (HikariDataSource) store.dataSource();
    HikariConfig config = new HikariConfig();
    config.setDataSource(original.getDataSource());
    if (config.getDataSource() == null) {
      config.setJdbcUrl(original.getJdbcUrl());
      config.setUsername(original.getUsername());
      config.setPassword(original.getPassword());
    }
    config.setAutoCommit(autoCommit);
    config.setMaximumPoolSize(connections);
    config.setMinimumIdle(1);
    return new HikariDataSource(config);
  }

  void losesNothing(JobQueue pooled, String id) {
    assertThat(pooled.submit(job(id)).created()).isTrue();
    assertThat(queue.find(id)).isPresent();
    Lease lease = pooled.claim("A", LEASE).orElseThrow();
    assertThat(find(id).state()).isEqualTo(JobState.LEASED);
    assertThat(pooled.find(id)).isPresent();
    assertThat(pooled.finish(lease, Outcome.permanent("http-422"))).isTrue();
    assertThat(pooled.redrive(pooled.find(id).orElseThrow(), ORDER)).isTrue();
    assertThat(find(id).state()).isEqualTo(JobState.PENDING);
    assertThat(pooled.finish(pooled.claim("A", LEASE).orElseThrow(), Outcome.ok())).isTrue();
    // a connection that lies idle holds nothing that stops others
    submit(id + "-other");
    assertThat(queue.finish(claim("A").orElseThrow(), Outcome.ok())).isTrue();
  }

  static final class Undo extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }
}
