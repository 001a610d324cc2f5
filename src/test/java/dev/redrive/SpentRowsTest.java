package dev.redrive;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Rows at their limit at the head of the line hide none that can be claimed, and end dead. */
class SpentRowsTest extends QueueTest {
  private static final List<String> GOOD =
      List.of("g0", "g1", "g2", "g3", "g4", "g5", "g6", "g7", "g8", "g9");

  @Test
  void tenThousandAheadOfTenGoodOnesDelayNoClaim() {
    plantSpent(10_000);
    assertThat(queue.submitAll(GOOD.stream().map(QueueTest::job).toList()))
        .allMatch(Submission::created);
    assertThat(queue.claim("A", LEASE, 10)).extracting(Lease::id).containsExactlyElementsOf(GOOD);
    assertThat(states())
        .containsExactly("dead deadline 5000", "dead exhausted 5000", "leased null 10");
  }

  @Test
  void moreThanOneCallBuriesStillDelayNoClaim() {
    plantSpent(30_000);
    submit("g0");
    assertThat(claim("A")).hasValueSatisfying(lease -> assertThat(lease.id()).isEqualTo("g0"));
    clock.at(T0 + 1_000);
    assertThat(claim("A")).isEmpty();
    assertThat(states())
        .containsExactly("dead deadline 15000", "dead exhausted 15000", "leased null 1");
  }

  @Test
  void oneAtItsLimitAmongGoodOnesIsBuriedByTheClaimThatPassesIt() {
    plantSpent(1);
    assertThat(queue.submitAll(GOOD.stream().map(QueueTest::job).toList()))
        .allMatch(Submission::created);
    assertThat(queue.claim("A", LEASE, 10)).hasSize(10);
    assertThat(find("spent-1"))
        .returns(JobState.DEAD, Job::state)
        .returns(DeadReason.EXHAUSTED, job -> job.reason().orElseThrow())
        .returns(4L, Job::token);
  }

  /**
   * Due before everything else: odd ones without attempts left, even ones beyond their deadline.
   */
  private void plantSpent(int count) {
    plant(
        """
        with recursive numbers (n) as (
          select 1 union all select n + 1 from numbers where n < COUNT
        )
        insert into jobs (queue, id, state, token, attempts, max_attempts, available_at,
          deadline_at, submitted_at, payload)
        select 'default', 'spent-' || n, 'pending', 3, case when n % 2 = 1 then 3 else 0 end, 3,
          n, case when n % 2 = 1 then 1900000000000 else 1800000000000 end, 0, '{}'
        from numbers
        """
            .replace("COUNT", String.valueOf(count)));
  }

  private List<String> states() {
    return rows(
            "select state, reason, count(*) as number from jobs group by state, reason"
                + " order by state, reason")
        .stream()
        .map(row -> row.get("state") + " " + row.get("reason") + " " + row.get("number"))
        .toList();
  }
}
