package dev.redrive;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every state × every transition. An allowed cell gives exactly the named columns their new values
 * and leaves the others; any other cell answers false and leaves the row as it was. The lease and
 * the job handed in carry the row's own token and owner, so that only the state can refuse them.
 */
class TransitionMatrixTest extends QueueTest {
  private static final long NOW = T0 + 1_000;

  enum State {
    PENDING,
    PENDING_SPENT,
    LEASED,
    LEASED_OVER,
    LEASED_SPENT,
    DONE,
    DONE_LONG_AGO,
    DEAD
  }

  enum Verb {
    SUBMIT,
    CLAIM,
    RENEW,
    RELEASE,
    FINISH_OK,
    FINISH_RETRY,
    FINISH_PERMANENT,
    INVESTIGATE,
    REDRIVE,
    PURGE
  }

  static Stream<Arguments> cells() {
    return Stream.of(State.values())
        .flatMap(state -> Stream.of(Verb.values()).map(verb -> Arguments.of(state, verb)));
  }

  @ParameterizedTest(name = "{0} {1}")
  @MethodSource("cells")
  void cell(State state, Verb verb) {
    Lease lease = arrange(state);
    clock.at(NOW);
    Map<String, @Nullable Object> before = row("j1");

    boolean changed = act(verb, lease);

    Optional<Map<String, @Nullable Object>> expected = expected(state, verb, before);
    if (verb == Verb.PURGE && state == State.DONE_LONG_AGO) {
      assertThat(jobRows()).isZero();
      assertThat(changed).isTrue();
    } else {
      assertThat(row("j1")).isEqualTo(expected.orElse(before));
      assertThat(changed).isEqualTo(expected.isPresent() && !bury(state, verb));
    }
    assertThat(auditRows()).isEqualTo(verb == Verb.REDRIVE && state == State.DEAD ? 1 : 0);
  }

  /** A row in the state whose token is 1, and the lease that gave it that token. */
  private Lease arrange(State state) {
    int maxAttempts = state == State.PENDING_SPENT || state == State.LEASED_SPENT ? 1 : 3;
    assertThat(queue.submit(job("j1").maxAttempts(maxAttempts)).created()).isTrue();
    if (state == State.DONE_LONG_AGO) {
      clock.at(NOW - 86_400_001);
      plant("update jobs set submitted_at = 0, available_at = 0");
    }
    Lease lease = claim("A").orElseThrow();
    switch (state) {
      case PENDING -> assertThat(queue.release(lease)).isTrue();
      case PENDING_SPENT ->
          plant(
              "update jobs set state = 'pending', owner = null, lease_until = null"
                  + " where id = 'j1'");
      case LEASED -> {}
      case LEASED_OVER, LEASED_SPENT ->
          plant("update jobs set lease_until = " + NOW + " where id = 'j1'");
      case DONE, DONE_LONG_AGO -> assertThat(queue.finish(lease, Outcome.ok())).isTrue();
      case DEAD -> assertThat(queue.finish(lease, Outcome.permanent("http-422"))).isTrue();
    }
    return lease;
  }

  private boolean act(Verb verb, Lease lease) {
    return switch (verb) {
      case SUBMIT -> queue.submit(job("j1")).created();
      case CLAIM -> queue.claim("B", LEASE).isPresent();
      case RENEW -> queue.renew(lease, LEASE);
      case RELEASE -> queue.release(lease);
      case FINISH_OK -> queue.finish(lease, Outcome.ok());
      case FINISH_RETRY -> queue.finish(lease, Outcome.retry("http-503"));
      case FINISH_PERMANENT -> queue.finish(lease, Outcome.permanent("http-400"));
      case INVESTIGATE -> queue.investigate(find("j1"), "OPS-1", "kim");
      case REDRIVE -> queue.redrive(find("j1"), ORDER);
      case PURGE -> queue.purgeDone(java.time.Duration.ofHours(24), 10) == 1;
    };
  }

  /** A claim that meets spent work buries it and answers empty. */
  private static boolean bury(State state, Verb verb) {
    return verb == Verb.CLAIM && (state == State.PENDING_SPENT || state == State.LEASED_SPENT);
  }

  private static Optional<Map<String, @Nullable Object>> expected(
      State state, Verb verb, Map<String, @Nullable Object> before) {
    Map<String, @Nullable Object> changes = changes(state, verb);
    if (changes.isEmpty()) {
      return Optional.empty();
    }
    Map<String, @Nullable Object> after = new LinkedHashMap<>(before);
    after.putAll(changes);
    return Optional.of(after);
  }

  private static Map<String, @Nullable Object> changes(State state, Verb verb) {
    boolean leased =
        state == State.LEASED || state == State.LEASED_OVER || state == State.LEASED_SPENT;
    Map<String, @Nullable Object> changes = new HashMap<>();
    switch (verb) {
      case CLAIM -> {
        if (state == State.PENDING || state == State.LEASED_OVER) {
          changes.put("state", "leased");
          changes.put("owner", "B");
          changes.put("lease_until", NOW + 30_000);
          changes.put("due_at", NOW + 30_000);
          changes.put("token", 2L);
          changes.put("attempts", state == State.PENDING ? 1L : 2L);
        }
        if (bury(state, verb)) {
          over(changes, "dead");
          changes.put("reason", "exhausted");
          changes.put("token", 2L);
        }
        if (state == State.LEASED_OVER || state == State.LEASED_SPENT) {
          changes.put("fault", "lease-expired");
        }
      }
      case RENEW -> {
        if (state == State.LEASED) {
          changes.put("lease_until", NOW + 30_000);
          changes.put("due_at", NOW + 30_000);
        }
      }
      case RELEASE -> {
        if (leased) {
          waiting(changes, NOW);
          changes.put("attempts", 0L);
        }
      }
      case FINISH_OK -> {
        if (leased) {
          over(changes, "done");
        }
      }
      case FINISH_RETRY -> {
        if (state == State.LEASED_SPENT) {
          over(changes, "dead");
          changes.put("reason", "exhausted");
          changes.put("fault", "http-503");
        } else if (leased) {
          waiting(changes, NOW + 1_000);
          changes.put("fault", "http-503");
        }
      }
      case FINISH_PERMANENT -> {
        if (leased) {
          over(changes, "dead");
          changes.put("reason", "permanent");
          changes.put("fault", "http-400");
        }
      }
      case INVESTIGATE -> {
        if (state == State.DEAD) {
          changes.put("investigated_at", NOW);
          changes.put("investigated_by", "kim");
          changes.put("investigation", "OPS-1");
        }
      }
      case REDRIVE -> {
        if (state == State.DEAD) {
          waiting(changes, NOW);
          changes.put("reason", null);
          changes.put("attempts", 0L);
          changes.put("deadline_at", NOW + 600_000);
          changes.put("finished_at", null);
        }
      }
      case SUBMIT, PURGE -> {}
    }
    return changes;
  }

  private static void waiting(Map<String, @Nullable Object> changes, long until) {
    changes.put("state", "pending");
    changes.put("owner", null);
    changes.put("lease_until", null);
    changes.put("available_at", until);
    changes.put("due_at", until);
  }

  private static void over(Map<String, @Nullable Object> changes, String state) {
    changes.put("state", state);
    changes.put("owner", null);
    changes.put("lease_until", null);
    changes.put("due_at", null);
    changes.put("finished_at", NOW);
  }
}
