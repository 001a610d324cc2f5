package dev.redrive;

import static dev.redrive.schema.Tables.JOBS;
import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redrive.quarantine.BulkRedrive;
import dev.redrive.quarantine.Filter;
import dev.redrive.quarantine.Page;
import dev.redrive.quarantine.Quarantine;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jooq.Condition;
import org.jooq.Configuration;
import org.jooq.DSLContext;
import org.jooq.ExecuteListener;
import org.jooq.TransactionContext;
import org.jooq.TransactionListener;
import org.jooq.TransactionProvider;
import org.jooq.VisitContext;
import org.jooq.VisitListener;
import org.jooq.conf.MappedSchema;
import org.jooq.conf.MappedTable;
import org.jooq.conf.ParamType;
import org.jooq.conf.RenderKeywordCase;
import org.jooq.conf.RenderMapping;
import org.jooq.conf.RenderQuotedNames;
import org.jooq.conf.RenderTable;
import org.jooq.conf.Settings;
import org.jooq.conf.StatementType;
import org.jooq.impl.DSL;
import org.jooq.impl.DefaultExecuteListenerProvider;
import org.jooq.impl.DefaultTransactionListenerProvider;
import org.jooq.impl.DefaultVisitListenerProvider;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Each call sends these reviewed statements, in this order, and nothing else. */
class StatementsSentTest extends QueueTest {
  private static final Duration DAY = Duration.ofDays(1);

  private final List<String> sent = Collections.synchronizedList(new ArrayList<>());
  private Map<String, String> names;
  private JobQueue asked;

  @BeforeEach
  void listen() {
    names =
        ReviewedSql.files(backend.engine()).entrySet().stream()
            .collect(
                toMap(
                    file -> ReviewedSql.comparable(withoutNames(file.getValue())),
                    Map.Entry::getKey));
    asked = listened(store.dsl().configuration());
  }

  /** A reviewed file as the driver gets it. */
  static String withoutNames(String file) {
    return file.substring(file.indexOf('\n') + 1)
        .replaceAll(";\n$", "")
        .replaceAll("(?<!:):[a-z_]+", "?");
  }

  private DSLContext listenedTo(Configuration host) {
    return host.deriveAppending(
            new DefaultExecuteListenerProvider(
                ExecuteListener.onExecuteStart(context -> sent.add(context.sql()))))
        .dsl();
  }

  private JobQueue listened(Configuration host) {
    return JobQueue.builder(listenedTo(host)).clock(clock).build();
  }

  /** The names of what a call sends; the text itself where nobody reviewed it. */
  private List<String> sentBy(Supplier<?> call) {
    sent.clear();
    assertThat(call.get()).isNotNull();
    return sent.stream()
        .map(sql -> sql.replaceAll(" +\n", "\n"))
        .map(sql -> names.getOrDefault(ReviewedSql.comparable(sql), sql))
        .toList();
  }

  @Test
  void submitLooksOnlyWhenNothingWasInserted() {
    assertThat(sentBy(() -> asked.submit(job("j1")))).containsExactly("submit");
    assertThat(sentBy(() -> asked.submit(job("j1")))).containsExactly("submit", "submitted");
    assertThat(sentBy(() -> asked.submitAll(List.of(job("j1"), job("j2")))))
        .containsExactly("submit", "submitted", "submit");
  }

  @Test
  void claimBuriesFirstUnlessThePreviousOneWasFullAndLessThanASecondAgo() {
    for (int i = 1; i <= 4; i++) {
      submit("j" + i);
    }
    assertThat(sentBy(() -> asked.claim("A", LEASE))).containsExactly("bury", "claim");
    clock.at(T0 + 999);
    assertThat(sentBy(() -> asked.claim("A", LEASE))).containsExactly("claim");
    clock.at(T0 + 1_000);
    assertThat(sentBy(() -> asked.claim("A", LEASE))).containsExactly("bury", "claim");
    assertThat(sentBy(() -> asked.claim("A", LEASE, 2))).containsExactly("claim");
    assertThat(sentBy(() -> asked.claim("A", LEASE))).containsExactly("bury", "claim");
  }

  @Test
  void claimBuriesAgainWhileTheBatchesAreFullAndTwentyTimesAtMost() {
    plantSpent(2_000);
    assertThat(sentBy(() -> asked.claim("A", LEASE)))
        .containsExactly("bury", "bury", "bury", "claim");
    plant("update jobs set state = 'pending', reason = null, finished_at = null");
    plantSpent(18_500);
    assertThat(sentBy(() -> asked.claim("A", LEASE)))
        .hasSize(21)
        .startsWith("bury", "bury")
        .endsWith("bury", "claim");
    assertThat(rows("select * from jobs where state = 'pending'")).hasSize(500);
  }

  private void plantSpent(int count) {
    plant(
        "with recursive numbers (n) as"
            + (" (select 1 union all select n + 1 from numbers where n < " + count + ")")
            + " insert into jobs (queue, id, state, token, attempts, max_attempts, available_at,"
            + " deadline_at, submitted_at, payload)"
            + (" select 'default', 'spent-" + count + "-' || n, 'pending', 3, 3, 3, 0, " + T0)
            + ", 0, '{}' from numbers");
  }

  @Test
  void whoHoldsALeaseSendsOneStatement() {
    Lease lease = leased("j1");
    assertThat(sentBy(() -> asked.renew(lease, LEASE))).containsExactly("renew");
    assertThat(sentBy(() -> asked.release(lease))).containsExactly("release");
    assertThat(sentBy(() -> asked.finish(lease, Outcome.ok()))).containsExactly("finish-ok");
    assertThat(sentBy(() -> asked.finish(lease, Outcome.retry("slow"))))
        .containsExactly("finish-retry");
    assertThat(sentBy(() -> asked.finish(lease, Outcome.permanent("bad"))))
        .containsExactly("finish-permanent");
  }

  @Test
  void finishAllSendsOneStatementEachInTheOrderOfTheirIds() {
    Finish last = new Finish(leased("j3"), Outcome.ok());
    Finish first = new Finish(leased("j1"), Outcome.retry("slow"));
    Finish second = new Finish(leased("j2"), Outcome.permanent("bad"));
    assertThat(sentBy(() -> asked.finishAll(List.of(last, first, second))))
        .containsExactly("finish-retry", "finish-permanent", "finish-ok");
  }

  @Test
  void finishAndClaimFinishesBeforeItBuriesAndClaims() {
    Lease lease = leased("j1");
    submit("j2");
    assertThat(sentBy(() -> asked.finishAndClaim(lease, Outcome.ok(), "A", LEASE)))
        .containsExactly("finish-ok", "bury", "claim");
    assertThat(sentBy(() -> asked.finishAndClaim(lease, Outcome.ok(), "A", LEASE)))
        .containsExactly("finish-ok", "claim");
  }

  @Test
  void redriveWritesItsAuditFirstAndStopsThereWhenTheJobMovedOn() {
    Job dead = dead("j1");
    assertThat(sentBy(() -> asked.find("j1"))).containsExactly("find");
    assertThat(sentBy(() -> asked.investigate(dead, "OPS-1", "kim")))
        .containsExactly("investigate");
    assertThat(sentBy(() -> asked.redrive(dead, ORDER)))
        .containsExactly("redrive-audit", "redrive");
    assertThat(sentBy(() -> asked.redrive(dead, ORDER))).containsExactly("redrive-audit");
  }

  @Test
  void purgeSendsOneStatement() {
    assertThat(sentBy(() -> asked.purgeDone(DAY, 10))).containsExactly("purge");
  }

  @Test
  void whatOnlyLooksAtTheQueueObjectSendsNothing() {
    assertThat(sentBy(() -> asked.name() + asked + asked.listening(event -> {}))).isEmpty();
    assertThat(sentBy(() -> asked.joinsHostTransaction())).isEmpty();
    assertThat(sentBy(() -> listened(store.dsl().configuration()))).isEmpty();
  }

  @Test
  void withinAHostsTransactionTheSameStatementsAreSent() {
    List<String> inside = new ArrayList<>();
    listenedTo(store.dsl().configuration())
        .transaction(
            transaction -> {
              inside.addAll(sentBy(() -> asked.within(transaction.dsl())));
              JobQueue within = asked.within(transaction.dsl());
              inside.addAll(sentBy(() -> within.submit(job("j1"))));
              inside.addAll(sentBy(() -> within.claim("A", LEASE)));
            });
    assertThat(inside).containsExactly("submit", "bury", "claim");
  }

  @Test
  void everyPublicMethodIsLookedAtHere() {
    assertThat(
            Arrays.stream(JobQueue.class.getDeclaredMethods())
                .filter(method -> Modifier.isPublic(method.getModifiers()))
                .map(Method::getName)
                .distinct())
        .containsExactlyInAnyOrder(
            "on",
            "builder",
            "name",
            "listening",
            "within",
            "joinsHostTransaction",
            "toString",
            "submit",
            "submitAll",
            "claim",
            "renew",
            "release",
            "finish",
            "finishAll",
            "finishAndClaim",
            "find",
            "investigate",
            "redrive",
            "purgeDone");
  }

  @Test
  void everyReviewedStatementIsSentBySomeCall() {
    assertThat(story(asked)).isEqualTo(Set.copyOf(names.values()));
  }

  @Test
  void theHostsSettingsChangeNoText() {
    Settings settings =
        new Settings()
            .withRenderFormatted(false)
            .withRenderKeywordCase(RenderKeywordCase.UPPER)
            .withRenderQuotedNames(RenderQuotedNames.ALWAYS)
            .withRenderSchema(true)
            .withRenderTable(RenderTable.ALWAYS)
            .withStatementType(StatementType.STATIC_STATEMENT)
            .withParamType(ParamType.INLINED)
            .withReturnAllOnUpdatableRecord(true)
            .withRenderMapping(
                new RenderMapping()
                    .withSchemata(
                        new MappedSchema()
                            .withInput("")
                            .withOutput("elsewhere")
                            .withTables(new MappedTable().withInput("jobs").withOutput("others"))));
    Configuration host = store.dsl().configuration().derive(settings);
    assertThat(host.dsl().selectFrom(JOBS).getSQL()).contains("SELECT", "others");
    JobQueue other = listened(host);
    assertThat(story(other)).isEqualTo(Set.copyOf(names.values()));
  }

  @Test
  void theHostsVisitListenersChangeNoText() {
    VisitListener meddler =
        new VisitListener() {
          @Override
          public void visitEnd(VisitContext context) {
            if (context.queryPart() instanceof Condition) {
              context.context().sql(" or 1 = 1");
            }
          }
        };
    Configuration host =
        store.dsl().configuration().derive(new DefaultVisitListenerProvider(meddler));
    assertThat(host.dsl().selectOne().where(DSL.trueCondition()).getSQL()).contains("or 1 = 1");
    assertThat(story(listened(host))).isEqualTo(Set.copyOf(names.values()));
  }

  /** Every kind of call once: the names of the statements sent. */
  private Set<String> story(JobQueue queue) {
    return Set.copyOf(
        sentBy(
            () -> {
              List<Object> answers = new ArrayList<>();
              answers.add(queue.submitAll(List.of(job("j1"), job("j2"), job("j3"), job("j3"))));
              List<Lease> leases = queue.claim("A", LEASE, 3);
              answers.add(queue.renew(leases.get(0), LEASE));
              answers.add(queue.release(leases.get(0)));
              answers.add(queue.finish(leases.get(0), Outcome.ok()));
              answers.add(queue.finish(leases.get(1), Outcome.retry("slow", Duration.ZERO)));
              answers.add(queue.finish(leases.get(2), Outcome.permanent("bad")));
              Job dead = queue.find("j3").orElseThrow();
              answers.add(queue.investigate(dead, "OPS-1", "kim"));
              answers.add(queue.redrive(dead, ORDER));
              answers.add(queue.purgeDone(DAY, 1));
              for (Lease lease : queue.claim("A", LEASE, 3)) {
                answers.add(queue.finish(lease, Outcome.permanent("bad")));
              }
              Quarantine quarantine = Quarantine.of(queue);
              answers.add(quarantine.report());
              answers.add(quarantine.list(Filter.all(), Page.of(1)));
              BulkRedrive bulk = quarantine.redrive(Filter.all()).perSecond(1_000).brake(1, 1);
              answers.add(bulk.preview(1));
              answers.add(bulk.run(ORDER));
              return answers;
            }));
  }

  @Test
  void theQuarantineSendsOneStatementForEachLook() {
    Quarantine quarantine = Quarantine.of(asked);
    assertThat(sentBy(quarantine::report)).containsExactly("quarantine-report");
    assertThat(sentBy(() -> quarantine.list(Filter.all(), Page.of(1))))
        .containsExactly("quarantine-list");
    assertThat(sentBy(() -> quarantine.preview(Filter.all(), 1)))
        .containsExactly("quarantine-preview");
  }

  @Test
  void aBulkRedriveSendsWhatRedrivesSend() {
    assertThat(dead("j1").state()).isEqualTo(JobState.DEAD);
    assertThat(dead("j2").state()).isEqualTo(JobState.DEAD);
    BulkRedrive bulk = Quarantine.of(asked).redrive(Filter.all()).perSecond(1_000);
    assertThat(sentBy(() -> bulk.run(ORDER)))
        .containsExactly(
            "quarantine-members", "redrive-audit", "redrive", "redrive-audit", "redrive");
  }

  @Test
  void theHostsTransactionListenersHearEachTransaction() {
    List<String> heard = new ArrayList<>();
    TransactionListener listener =
        new TransactionListener() {
          @Override
          public void beginEnd(TransactionContext context) {
            heard.add("begin");
          }

          @Override
          public void commitEnd(TransactionContext context) {
            heard.add("commit");
          }

          @Override
          public void rollbackEnd(TransactionContext context) {
            heard.add("rollback");
          }
        };
    JobQueue other =
        listened(
            store.dsl().configuration().derive(new DefaultTransactionListenerProvider(listener)));
    assertThat(sentBy(() -> other.submit(job("j1")))).containsExactly("submit");
    assertThat(heard).containsExactly("begin", "commit");
    assertThat(sentBy(() -> other.claim("A", LEASE))).containsExactly("bury", "claim");
    assertThat(heard).containsExactly("begin", "commit", "begin", "commit", "begin", "commit");
    heard.clear();
    assertThat(sentBy(() -> other.find("j1"))).containsExactly("find");
    assertThat(heard).isEmpty();
  }

  @Test
  void theHostsTransactionProviderRunsOurTransactions() {
    List<String> ran = new ArrayList<>();
    Configuration host = store.dsl().configuration();
    TransactionProvider engines = backend.engine().transactionProvider(host.connectionProvider());
    TransactionProvider own =
        new TransactionProvider() {
          @Override
          public void begin(TransactionContext context) {
            ran.add("begin");
            engines.begin(context);
          }

          @Override
          public void commit(TransactionContext context) {
            ran.add("commit");
            engines.commit(context);
          }

          @Override
          public void rollback(TransactionContext context) {
            engines.rollback(context);
          }
        };
    JobQueue other = listened(host.derive(own));
    ran.clear();
    assertThat(sentBy(() -> other.submit(job("j1")))).containsExactly("submit");
    assertThat(ran).containsExactly("begin", "commit");
  }

  @Test
  void databaseTroubleIsWhatTheHostsListenersMakeOfIt() {
    JobQueue other =
        listened(
            store
                .dsl()
                .configuration()
                .derive(
                    new DefaultExecuteListenerProvider(
                        ExecuteListener.onException(
                            context -> context.exception(new UnsupportedOperationException())))));
    plant("alter table jobs rename to gone");
    try {
      assertThatThrownBy(() -> other.submit(job("j1")))
          .isExactlyInstanceOf(UnsupportedOperationException.class);
      assertThatThrownBy(() -> other.find("j1"))
          .isExactlyInstanceOf(UnsupportedOperationException.class);
    } finally {
      plant("alter table gone rename to jobs");
    }
    assertThat(jobRows()).isZero();
  }
}
