package dev.redrive.quarantine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.redrive.DeadReason;
import dev.redrive.NewJob;
import dev.redrive.Outcome;
import dev.redrive.QueueTest;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ListTest extends QueueTest {

  private List<String> ids(Filter filter) {
    return ids(Quarantine.of(queue).list(filter, Page.of(100)));
  }

  private static List<String> ids(Listed listed) {
    return listed.jobs().stream().map(job -> job.death().id()).toList();
  }

  private void dead(String id, DeadReason reason, String fault) {
    assertThat(dead(id).id()).isEqualTo(id);
    plant(
        "update jobs set reason = '"
            + reason
            + "', fault = "
            + (fault == null ? "null" : "'" + fault + "'")
            + " where id = '"
            + id
            + "'");
  }

  @Test
  void everyPartOfAFilterHasToHold() {
    dead("a", DeadReason.PERMANENT, "http-422");
    clock.at(T0 + 1_000);
    dead("b", DeadReason.EXHAUSTED, "http-503");
    clock.at(T0 + 2_000);
    dead("c", DeadReason.DEADLINE, null);
    dead("c-2", DeadReason.EXHAUSTED, "http-422");
    assertThat(queue.investigate(find("b"), "OPS-1", "lee")).isTrue();
    submit("pending");

    Filter all = Filter.all();
    assertThat(ids(all)).containsExactly("a", "b", "c", "c-2");
    assertThat(ids(all.reason(DeadReason.EXHAUSTED))).containsExactly("b", "c-2");
    assertThat(ids(all.fault("http-422"))).containsExactly("a", "c-2");
    assertThat(ids(all.fault("http-42"))).isEmpty();
    assertThat(ids(all.withoutFault())).containsExactly("c");
    assertThat(ids(all.deadAtLeast(Duration.ofMillis(1_000)))).containsExactly("a", "b");
    assertThat(ids(all.deadAtLeast(Duration.ofMillis(1_001)))).containsExactly("a");
    assertThat(ids(all.deadAtMost(Duration.ofMillis(1_000)))).containsExactly("b", "c", "c-2");
    assertThat(ids(all.deadAtMost(Duration.ofMillis(999)))).containsExactly("c", "c-2");
    assertThat(ids(all.investigated(true))).containsExactly("b");
    assertThat(ids(all.investigated(false))).containsExactly("a", "c", "c-2");
    assertThat(ids(all.idPrefix("c"))).containsExactly("c", "c-2");
    assertThat(ids(all.idPrefix("c").reason(DeadReason.EXHAUSTED).fault("http-422")))
        .containsExactly("c-2");
    assertThat(ids(all.reason(DeadReason.DEADLINE).fault("http-422"))).isEmpty();
  }

  @Test
  void aPrefixIsTakenLetterByLetterWhateverItsCodePoints() {
    String last = Character.toString(Character.MAX_CODE_POINT);
    List<String> ids =
        List.of(
            "%",
            "%a",
            "_",
            "_a",
            "a",
            "a" + last,
            "a" + last + last,
            "a" + last.repeat(199),
            "b",
            "aa",
            "A",
            "ab*",
            "ab[",
            "é",
            "e\u0301",
            "\uD7FF",
            "\uD7FFx",
            "\uE000",
            "\uFFFD",
            "\uD83D\uDE00",
            "\uD83D\uDE00x",
            last,
            last.repeat(200),
            "'quote",
            "back\\slash");
    for (String id : ids) {
      assertThat(queue.submit(NewJob.of(id, "").maxAttempts(1)).created()).isTrue();
    }
    queue
        .claim("A", LEASE, 100)
        .forEach(lease -> assertThat(queue.finish(lease, Outcome.permanent("x"))).isTrue());
    List<String> prefixes = new ArrayList<>(ids);
    prefixes.addAll(List.of("", "ab", "a" + last.repeat(2), "zz", "\uD83D\uDE01"));
    for (String prefix : prefixes) {
      assertThat(ids(Filter.all().idPrefix(prefix)))
          .as("prefix %s", prefix)
          .containsExactlyInAnyOrderElementsOf(
              ids.stream().filter(id -> id.startsWith(prefix)).toList());
    }
  }

  @Test
  void pagesFollowEachOtherWithoutGapOrRepetition() {
    List<String> expected = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      clock.at(T0 + i / 4);
      String id = "j" + (char) ('a' + i);
      assertThat(dead(id).id()).isEqualTo(id);
      expected.add(id);
    }
    List<String> seen = new ArrayList<>();
    Optional<Page> page = Optional.of(Page.of(3));
    int pages = 0;
    while (page.isPresent()) {
      Listed listed = Quarantine.of(queue).list(Filter.all(), page.get());
      seen.addAll(ids(listed));
      page = listed.next();
      pages++;
    }
    assertThat(seen).isEqualTo(expected);
    assertThat(pages).isEqualTo(4);
  }

  @Test
  void aPageFollowsAlsoWhenTheJobBeforeItIsNotDeadAnyMore() {
    for (String id : List.of("a", "b", "c")) {
      assertThat(dead(id).id()).isEqualTo(id);
    }
    Listed first = Quarantine.of(queue).list(Filter.all(), Page.of(1));
    assertThat(queue.redrive(first.jobs().get(0).death(), ORDER)).isTrue();
    assertThat(ids(Quarantine.of(queue).list(Filter.all(), first.next().orElseThrow())))
        .containsExactly("b");
  }

  @Test
  void aFullLastPageIsFollowedByAnEmptyOne() {
    assertThat(dead("a").id()).isEqualTo("a");
    Listed first = Quarantine.of(queue).list(Filter.all(), Page.of(1));
    Listed second = Quarantine.of(queue).list(Filter.all(), first.next().orElseThrow());
    assertThat(second.jobs()).isEmpty();
    assertThat(second.next()).isEmpty();
  }

  @Test
  void aListedJobIsWhatIsStoredAndHasAPayloadOnlyWhenAsked() {
    assertThat(dead("a").id()).isEqualTo("a");
    clock.at(T0 + 5);
    assertThat(queue.investigate(find("a"), "OPS-1", "lee")).isTrue();
    DeadJob job = Quarantine.of(queue).list(Filter.all(), Page.of(5)).jobs().get(0);
    assertThat(job.death().token()).isEqualTo(1);
    assertThat(job.reason()).isEqualTo(DeadReason.PERMANENT);
    assertThat(job.fault()).contains("http-422");
    assertThat(job.attempts()).isEqualTo(1);
    assertThat(job.maxAttempts()).isEqualTo(3);
    assertThat(job.submittedAt()).isEqualTo(Instant.ofEpochMilli(T0));
    assertThat(job.diedAt()).isEqualTo(Instant.ofEpochMilli(T0));
    assertThat(job.investigation()).isEqualTo(find("a").investigation());
    assertThat(job.payload()).isEmpty();
    DeadJob whole =
        Quarantine.of(queue).list(Filter.all(), Page.of(5).withPayloads()).jobs().get(0);
    assertThat(whole.payload()).contains("{}");
    assertThat(whole.toString()).doesNotContain("{}");
  }

  @Test
  void aPreviewCountsAllAndShowsTheFirst() {
    for (String id : List.of("a", "b", "c")) {
      assertThat(dead(id).id()).isEqualTo(id);
    }
    Preview preview = Quarantine.of(queue).preview(Filter.all(), 2);
    assertThat(preview.matched()).isEqualTo(3);
    assertThat(preview.sample()).extracting(job -> job.death().id()).containsExactly("a", "b");
    assertThat(Quarantine.of(queue).preview(Filter.all().fault("other"), 2))
        .isEqualTo(new Preview(0, List.of()));
  }

  @Test
  void badArgumentsAreRefusedByName() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Page.of(0))
        .withMessageContaining("limit");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Page.of(1_001))
        .withMessageContaining("limit");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Filter.all().idPrefix("\uD83D"))
        .withMessageContaining("prefix must not hold lone surrogates");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Filter.all().idPrefix("x".repeat(201)))
        .withMessageContaining("prefix must have 0 to 200");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Filter.all().fault("no identifier"))
        .withMessageContaining("fault must be an identifier");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Filter.all().deadAtLeast(Duration.ofMillis(-1)))
        .withMessageContaining("age");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Quarantine.of(queue).preview(Filter.all(), 0))
        .withMessageContaining("sample");
  }
}
