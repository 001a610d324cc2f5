package dev.redrive;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * Ten thousand random operations, each compared with a small model of the rules: its answer, and
 * the row it touched. All rows are compared at the end of every hundred. Old leases and old looks
 * at jobs are kept and used again, because they are the races.
 */
class RandomWalkTest extends QueueTest {
  private static final int OPERATIONS = 10_000;
  private static final Duration STEP = Duration.ofMillis(1_000);

  private final TreeMap<String, Modelled> model = new TreeMap<>();
  private final List<Lease> leases = new ArrayList<>();
  private final List<Job> looks = new ArrayList<>();
  private long now = T0;

  /** One job by the rules of the specification, in plain Java. */
  private static final class Modelled {
    JobState state = JobState.PENDING;
    String reason = "";
    String fault = "";
    String owner = "";
    long leaseUntil;
    long token;
    int attempts;
    int maxAttempts;
    long availableAt;
    long deadline;
    int redrives;

    boolean heldBy(Lease lease) {
      return state == JobState.LEASED && owner.equals(lease.owner()) && token == lease.token();
    }

    boolean due(long now) {
      return (state == JobState.PENDING && availableAt <= now)
          || (state == JobState.LEASED && leaseUntil <= now);
    }

    long dueAt() {
      return state == JobState.PENDING ? availableAt : leaseUntil;
    }

    boolean spent(long now) {
      return attempts >= maxAttempts || deadline <= now;
    }

    void leave(JobState next, String why) {
      state = next;
      reason = why;
      owner = "";
      leaseUntil = 0;
    }

    @Override
    public String toString() {
      return String.join(
          " ",
          state.toString(),
          reason,
          fault,
          owner,
          "until=" + leaseUntil,
          "token=" + token,
          "attempts=" + attempts + "/" + maxAttempts,
          "available=" + availableAt,
          "deadline=" + deadline);
    }
  }

  private static String text(Job job) {
    return String.join(
        " ",
        job.state().toString(),
        job.reason().map(DeadReason::toString).orElse(""),
        job.fault().orElse(""),
        job.owner().orElse(""),
        "until=" + job.leaseUntil().map(Instant::toEpochMilli).orElse(0L),
        "token=" + job.token(),
        "attempts=" + job.attempts() + "/" + job.maxAttempts(),
        "available=" + job.availableAt().toEpochMilli(),
        "deadline=" + job.deadline().toEpochMilli());
  }

  @Test
  void everyAnswerIsTheModels() {
    long seed = Long.getLong("redrive.seed", new Random().nextLong());
    Random random = new Random(seed);
    for (int i = 1; i <= OPERATIONS; i++) {
      String context = "seed " + seed + ", operation " + i;
      String touched = step(random, context);
      if (!touched.isEmpty() && model.containsKey(touched)) {
        assertThat(text(find(touched)))
            .as("%s on %s", context, touched)
            .isEqualTo(model.get(touched).toString());
      }
      if (i % 100 == 0) {
        compareAll(context);
      }
    }
    long plantedSpent =
        model.values().stream()
            .filter(j -> j.state == JobState.PENDING && j.attempts >= j.maxAttempts)
            .count();
    assertThat(plantedSpent).as("case 2.3: pending at its limit, seed %d", seed).isZero();
  }

  private void compareAll(String context) {
    model.forEach(
        (id, expected) ->
            assertThat(text(find(id)))
                .as("%s, row %s", context, id)
                .isEqualTo(expected.toString()));
    assertThat(jobRows()).as(context).isEqualTo(model.size());
    assertThat(auditRows())
        .as(context)
        .isEqualTo(model.values().stream().mapToInt(job -> job.redrives).sum());
  }

  private String step(Random random, String context) {
    int choice = random.nextInt(100);
    if (choice < 12) {
      return submit(random, context);
    } else if (choice < 40) {
      return claim(random, context);
    } else if (choice < 47) {
      now += random.nextInt(20_000);
      clock.at(now);
      return "";
    } else if (choice < 52 || leases.isEmpty()) {
      return look(random);
    } else if (choice < 85) {
      return worker(random, context);
    }
    return looks.isEmpty() ? "" : operator(random, context);
  }

  private String submit(Random random, String context) {
    String id = "j" + random.nextInt(60);
    int maxAttempts = 1 + random.nextInt(4);
    NewJob job =
        job(id).maxAttempts(maxAttempts).deadline(Duration.ofMillis(1 + random.nextInt(120_000)));
    boolean created = queue.submit(job).created();
    assertThat(created).as(context).isEqualTo(!model.containsKey(id));
    if (created) {
      Modelled fresh = new Modelled();
      fresh.maxAttempts = maxAttempts;
      fresh.availableAt = now;
      fresh.deadline = now + job.deadline().toMillis();
      model.put(id, fresh);
    }
    return id;
  }

  private String claim(Random random, String context) {
    String owner = "w" + random.nextInt(3);
    int lease = 1 + random.nextInt(40_000);
    int limit = 1 + random.nextInt(3);
    List<Lease> answer = queue.claim(owner, Duration.ofMillis(lease), limit);

    // the time of a bury is the queue's choice: what it buried is read off, and has to be spent
    model.forEach(
        (id, job) -> {
          if (job.due(now) && job.spent(now) && find(id).state() == JobState.DEAD) {
            job.fault = job.state == JobState.LEASED ? "lease-expired" : job.fault;
            job.leave(JobState.DEAD, job.attempts >= job.maxAttempts ? "exhausted" : "deadline");
            job.token++;
          }
        });
    List<String> expected =
        model.entrySet().stream()
            .filter(e -> e.getValue().due(now) && !e.getValue().spent(now))
            .sorted(
                Comparator.comparingLong((Map.Entry<String, Modelled> e) -> e.getValue().dueAt())
                    .thenComparing(Map.Entry::getKey))
            .limit(limit)
            .map(Map.Entry::getKey)
            .toList();
    assertThat(answer)
        .as(context)
        .extracting(Lease::id)
        .containsExactlyInAnyOrderElementsOf(expected);
    for (String id : expected) {
      Modelled job = model.get(id);
      job.fault = job.state == JobState.LEASED ? "lease-expired" : job.fault;
      job.state = JobState.LEASED;
      job.owner = owner;
      job.leaseUntil = now + lease;
      job.token++;
      job.attempts++;
    }
    leases.addAll(answer);
    return expected.isEmpty() ? "" : expected.get(0);
  }

  private String look(Random random) {
    List<Job> dead =
        model.keySet().stream()
            .map(this::find)
            .filter(job -> job.state() == JobState.DEAD || random.nextInt(10) == 0)
            .toList();
    if (!dead.isEmpty()) {
      looks.add(dead.get(random.nextInt(dead.size())));
    }
    return "";
  }

  private String worker(Random random, String context) {
    // the newest leases are often live, the older ones are the races
    int back =
        random.nextBoolean()
            ? random.nextInt(Math.min(4, leases.size()))
            : random.nextInt(leases.size());
    Lease lease = leases.get(leases.size() - 1 - back);
    Modelled job = model.get(lease.id());
    boolean held = job != null && job.heldBy(lease);
    boolean changed;
    boolean allowed = held;
    switch (random.nextInt(6)) {
      case 0 -> {
        changed = queue.renew(lease, STEP);
        allowed = held && job.leaseUntil > now;
        if (allowed) {
          job.leaseUntil = Math.max(job.leaseUntil, now + 1_000);
        }
      }
      case 1 -> {
        changed = queue.release(lease);
        if (held) {
          job.leave(JobState.PENDING, "");
          job.attempts--;
          job.availableAt = now;
        }
      }
      case 2 -> {
        changed = queue.finish(lease, Outcome.ok());
        if (held) {
          job.leave(JobState.DONE, "");
        }
      }
      case 3 -> {
        changed = queue.finish(lease, Outcome.permanent("http-422"));
        if (held) {
          job.fault = "http-422";
          job.leave(JobState.DEAD, "permanent");
        }
      }
      default -> {
        long delay = random.nextInt(30_000);
        changed = queue.finish(lease, Outcome.retry("http-503", Duration.ofMillis(delay)));
        if (held) {
          job.fault = "http-503";
          if (job.attempts >= job.maxAttempts) {
            job.leave(JobState.DEAD, "exhausted");
          } else if (now + delay >= job.deadline) {
            job.leave(JobState.DEAD, "deadline");
          } else {
            job.leave(JobState.PENDING, "");
            job.availableAt = now + delay;
          }
        }
      }
    }
    assertThat(changed).as("%s with %s", context, lease).isEqualTo(allowed);
    return lease.id();
  }

  private String operator(Random random, String context) {
    Job look = looks.get(random.nextInt(looks.size()));
    Modelled job = model.get(look.id());
    boolean same =
        look.state() == JobState.DEAD
            && job != null
            && job.state == JobState.DEAD
            && job.token == look.token();
    if (random.nextInt(3) == 0) {
      assertThat(queue.investigate(look, "OPS-1", "kim")).as(context).isEqualTo(same);
    } else {
      assertThat(
              queue.redrive(
                  look, Redrive.note("OPS-1").approvedBy("kim").deadline(STEP.multipliedBy(60))))
          .as(context)
          .isEqualTo(same);
      if (same) {
        job.leave(JobState.PENDING, "");
        job.attempts = 0;
        job.availableAt = now;
        job.deadline = now + 60_000;
        job.redrives++;
      }
    }
    return look.id();
  }
}
