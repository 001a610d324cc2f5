package dev.redrive;

import static dev.redrive.Submission.Result.CONFLICT;
import static dev.redrive.Submission.Result.CREATED;
import static dev.redrive.Submission.Result.DUPLICATE;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SubmitTest extends QueueTest {

  @Test
  void aNewJobWaitsWithAnUntouchedBudget() {
    assertThat(queue.submit(job("j1"))).isEqualTo(new Submission("j1", CREATED, JobState.PENDING));
    assertThat(row("j1"))
        .containsEntry("queue", "default")
        .containsEntry("state", "pending")
        .containsEntry("token", 0L)
        .containsEntry("attempts", 0L)
        .containsEntry("max_attempts", 3L)
        .containsEntry("available_at", T0)
        .containsEntry("due_at", T0)
        .containsEntry("deadline_at", T0 + 600_000)
        .containsEntry("submitted_at", T0)
        .containsEntry("payload", "{}")
        .containsEntry("fault", null)
        .containsEntry("finished_at", null);
  }

  @Test
  void theDefaultsAreFiveAttemptsAndADay() {
    assertThat(queue.submit(NewJob.of("j1", "{}")).created()).isTrue();
    assertThat(row("j1"))
        .containsEntry("max_attempts", 5L)
        .containsEntry("deadline_at", T0 + 86_400_000);
  }

  @Test
  void theDeadlineCountsFromTheFirstRun() {
    assertThat(queue.submit(job("later").availableAt(Instant.ofEpochMilli(T0 + 1_000))).created())
        .isTrue();
    assertThat(queue.submit(job("past").availableAt(Instant.ofEpochMilli(999))).created()).isTrue();
    assertThat(row("later")).containsEntry("deadline_at", T0 + 601_000);
    assertThat(row("past"))
        .containsEntry("available_at", 999L)
        .containsEntry("deadline_at", T0 + 600_000);
  }

  @Test
  void theSamePayloadIsADuplicate() {
    submit("j1");
    Map<String, @Nullable Object> before = row("j1");
    clock.at(T0 + 1);
    assertThat(queue.submit(job("j1").maxAttempts(9)))
        .isEqualTo(new Submission("j1", DUPLICATE, JobState.PENDING));
    assertThat(row("j1")).isEqualTo(before);
  }

  @Test
  void anotherPayloadIsAConflict() {
    submit("j1");
    Map<String, @Nullable Object> before = row("j1");
    assertThat(queue.submit(NewJob.of("j1", "{} ")))
        .isEqualTo(new Submission("j1", CONFLICT, JobState.PENDING));
    assertThat(row("j1")).isEqualTo(before);
  }

  /** Case 10.10. */
  @Test
  void case_10_10_aDuplicateOfQuarantinedWorkSaysSo() {
    assertThat(dead("42").state()).isEqualTo(JobState.DEAD);
    assertThat(queue.submit(job("42"))).isEqualTo(new Submission("42", DUPLICATE, JobState.DEAD));
  }

  @Test
  void severalAnswerInTheirOrder() {
    submit("b");
    assertThat(
            queue.submitAll(
                List.of(job("c"), job("b"), job("a"), job("c"), NewJob.of("a", "other"))))
        .containsExactly(
            new Submission("c", CREATED, JobState.PENDING),
            new Submission("b", DUPLICATE, JobState.PENDING),
            new Submission("a", CREATED, JobState.PENDING),
            new Submission("c", DUPLICATE, JobState.PENDING),
            new Submission("a", CONFLICT, JobState.PENDING));
    assertThat(queue.submitAll(List.of())).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "주문-1",
        "commande-é",
        "🍪🍫",
        "a/b%2Fc",
        "' or 1=1 --",
        "%_*?[x]",
        " spaced ",
        "\"q\"",
        "é"
      })
  void anIdIsKeptToTheLetter(String id) {
    assertThat(queue.submit(job(id)).created()).isTrue();
    assertThat(claim("A").map(Lease::id)).contains(id);
    assertThat(find(id).id()).isEqualTo(id);
  }

  @Test
  void idsThatLookAlikeAreDifferent() {
    for (String id : List.of("é", "e\u0301", "E", "e", "１", "1", " 1", "1 ")) {
      assertThat(queue.submit(job(id)).result()).isEqualTo(CREATED);
    }
  }

  @Test
  void aPayloadIsKeptToTheLetter() {
    String payload = "{\"텍스트\":\"🍪\\u0000 \t\r\n' \\\\ \u0001\u0085\"}" + "x".repeat(100_000);
    assertThat(queue.submit(NewJob.of("j1", payload)).created()).isTrue();
    assertThat(claim("A").map(Lease::payload)).contains(payload);
    assertThat(queue.submit(NewJob.of("j1", payload)).result()).isEqualTo(DUPLICATE);
  }

  /** The databases order by code point, Java by UTF-16 unit: an emoji is no surrogate there. */
  @Test
  void idsAreInTheOrderOfTheDatabase() {
    List<String> ids = List.of("a", "\uE000", "\uFFFD", "🍪");
    assertThat(queue.submitAll(ids.stream().sorted().map(QueueTest::job).toList()))
        .allMatch(Submission::created);
    assertThat(queue.claim("A", LEASE, 10)).extracting(Lease::id).containsExactlyElementsOf(ids);
  }

  @Test
  void aPurgedIdIsNewWork() {
    assertThat(queue.finish(leased("j1"), Outcome.ok())).isTrue();
    clock.at(T0 + 86_400_001);
    assertThat(queue.purgeDone(Duration.ofHours(24), 1)).isEqualTo(1);
    assertThat(queue.submit(job("j1")).result()).isEqualTo(CREATED);
    assertThat(claim("A").map(Lease::token)).contains(1L);
  }
}
