package dev.redrive.quarantine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redrive.DeadReason;
import dev.redrive.Job;
import dev.redrive.JobState;
import dev.redrive.Lease;
import dev.redrive.Outcome;
import dev.redrive.QueueTest;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Random histories, and every figure of the report computed again from all rows, in plain Java. */
class RandomReportTest extends QueueTest {
  private static final List<String> FAULTS = List.of("http-500", "http-503", "busy", "timeout");

  private final Random random;
  private final long seed = Long.getLong("redrive.seed", new Random().nextLong());
  private long now = T0;

  RandomReportTest() {
    this.random = new Random(seed);
  }

  @Test
  void everyFigureIsWhatTheRowsSay() {
    for (int round = 0; round < 8; round++) {
      for (int step = 0; step < 60; step++) {
        step();
      }
      compare("seed " + seed + ", round " + round);
    }
  }

  private void step() {
    now += random.nextInt(5_000);
    clock.at(now);
    switch (random.nextInt(5)) {
      case 0, 1 -> {
        String id = "j" + random.nextInt(1_000);
        assertThat(
                queue
                    .submit(
                        job(id)
                            .maxAttempts(1 + random.nextInt(2))
                            .deadline(Duration.ofMillis(1 + random.nextInt(60_000)))
                            .availableAt(Instant.ofEpochMilli(now + random.nextInt(20_000))))
                    .id())
            .isEqualTo(id);
      }
      case 2, 3 -> {
        for (Lease lease : queue.claim("A", Duration.ofMillis(1 + random.nextInt(9_000)), 2)) {
          end(lease);
        }
      }
      default -> operate();
    }
  }

  private void end(Lease lease) {
    String fault = FAULTS.get(random.nextInt(FAULTS.size()));
    switch (random.nextInt(6)) {
      case 0 -> assertThat(queue.finish(lease, Outcome.ok())).isTrue();
      case 1, 2 -> assertThat(queue.finish(lease, Outcome.permanent(fault))).isTrue();
      case 3 -> assertThat(queue.finish(lease, Outcome.retry(fault))).isTrue();
      default -> assertThat(lease.attempt()).as("left to run out").isPositive();
    }
  }

  private void operate() {
    for (Job job : jobs("select id from jobs where state = 'dead' order by id")) {
      if (random.nextInt(3) == 0) {
        assertThat(queue.investigate(job, "OPS-1", "lee")).isTrue();
      }
      if (random.nextInt(4) == 0) {
        assertThat(queue.redrive(job, ORDER)).isTrue();
      }
    }
  }

  private List<Job> jobs(String query) {
    return rows(query).stream().map(row -> find((String) row.get("id"))).toList();
  }

  private void compare(String context) {
    List<Job> jobs = jobs("select id from jobs");
    Report report = Quarantine.of(queue).report();
    List<Job> dead = jobs.stream().filter(job -> job.state() == JobState.DEAD).toList();
    Report.Dead expected =
        new Report.Dead(
            dead.size(),
            dead.stream()
                .collect(
                    Collectors.groupingBy(
                        job -> job.reason().orElseThrow(), Collectors.counting())),
            faults(dead),
            oldest(dead, Job::submittedAt),
            oldest(dead, job -> job.finishedAt().orElseThrow()),
            oldest(
                dead,
                job ->
                    job.investigation()
                        .map(Job.Investigation::at)
                        .orElseGet(() -> job.finishedAt().orElseThrow())),
            dead.stream().filter(job -> job.investigation().isEmpty()).count());
    assertThat(report.dead()).as(context).isEqualTo(expected);
    assertThat(report.live()).as(context).isEqualTo(live(jobs));
    assertThat(report.redrives().byPreviousReason()).as(context).isEqualTo(fates(jobs));
    assertThat(report.lastInvestigation()).as(context).isEqualTo(lastInvestigation());
    long all =
        report.live().ready()
            + report.live().scheduled()
            + report.live().leased()
            + report.live().leaseExpired()
            + report.live().done()
            + report.dead().count();
    assertThat(all).as(context).isEqualTo(jobRows());
  }

  private static List<Report.FaultGroup> faults(List<Job> dead) {
    Map<String, List<Job>> byFault =
        dead.stream()
            .collect(
                Collectors.groupingBy(
                    job -> job.fault().orElse(""), TreeMap::new, Collectors.toList()));
    List<Report.FaultGroup> groups = new ArrayList<>();
    byFault.forEach(
        (fault, jobs) -> {
          List<Instant> deaths =
              jobs.stream().map(job -> job.finishedAt().orElseThrow()).sorted().toList();
          groups.add(
              new Report.FaultGroup(
                  Optional.of(fault).filter(f -> !f.isEmpty()),
                  jobs.size(),
                  deaths.get(0),
                  deaths.get(deaths.size() - 1)));
        });
    groups.sort((a, b) -> Long.compare(b.count(), a.count())); // stable: then by fault
    return groups;
  }

  private Optional<Duration> oldest(List<Job> jobs, Function<Job, Instant> time) {
    return jobs.stream()
        .map(time)
        .min(Instant::compareTo)
        .map(first -> Duration.between(first, Instant.ofEpochMilli(now)));
  }

  private Report.Live live(List<Job> jobs) {
    List<Job> ready = with(jobs, JobState.PENDING, job -> job.availableAt(), true);
    return new Report.Live(
        ready.size(),
        with(jobs, JobState.PENDING, job -> job.availableAt(), false).size(),
        with(jobs, JobState.LEASED, job -> job.leaseUntil().orElseThrow(), false).size(),
        with(jobs, JobState.LEASED, job -> job.leaseUntil().orElseThrow(), true).size(),
        oldest(ready, Job::availableAt),
        jobs.stream().filter(job -> job.state() == JobState.DONE).count());
  }

  private List<Job> with(
      List<Job> jobs, JobState state, Function<Job, Instant> due, boolean isDue) {
    return jobs.stream()
        .filter(job -> job.state() == state)
        .filter(job -> (due.apply(job).toEpochMilli() <= now) == isDue)
        .toList();
  }

  private Map<DeadReason, Report.Fates> fates(List<Job> jobs) {
    Map<String, JobState> states = jobs.stream().collect(Collectors.toMap(Job::id, Job::state));
    List<Map<String, @Nullable Object>> audits = rows("select * from redrives");
    Map<DeadReason, Report.Fates> fates = new EnumMap<>(DeadReason.class);
    for (Map<String, @Nullable Object> audit : audits) {
      boolean again =
          audits.stream()
              .anyMatch(
                  other ->
                      other.get("job_id").equals(audit.get("job_id"))
                          && (long) other.get("previous_token")
                              > (long) audit.get("previous_token"));
      JobState fate = again ? JobState.DEAD : states.get((String) audit.get("job_id"));
      fates.merge(
          DeadReason.of((String) audit.get("previous_reason")),
          new Report.Fates(
              fate == JobState.DONE ? 1 : 0,
              fate == JobState.PENDING ? 1 : 0,
              fate == JobState.LEASED ? 1 : 0,
              fate == JobState.DEAD ? 1 : 0),
          Report.Fates::plus);
    }
    return fates;
  }

  private Optional<Instant> lastInvestigation() {
    return rows(
            "select max(t) as t from (select investigated_at as t from jobs union all"
                + " select previous_investigated_at from redrives) looks")
        .stream()
        .map(row -> (Long) row.get("t"))
        .filter(time -> time != null)
        .findFirst()
        .map(Instant::ofEpochMilli);
  }
}
