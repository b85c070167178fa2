// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.Guarantees;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Locks;
import io.keyway.lock.Scope;
import io.keyway.lock.reference.ReferenceFaults;
import io.keyway.lock.reference.Verb;
import io.keyway.lock.tck.CheckResult;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.Verdict;
import io.keyway.lock.tck.process.Patience;
import io.keyway.lock.tck.proxy.Ports;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** What becomes of a failure on a machine that stood still for an hour meanwhile. */
class CheckRunTest {
    private static final String URL = "lock:reference://check-run";

    static final class Samples {
        @Check(rules = "LK-301")
        @Hint("the question of the check")
        void failsByTime(CheckContext t) {
            t.expect(false, "it was late");
        }

        @Check(rules = "LK-301")
        @Hint("the question of the check")
        void failsAfterManySlowSteps(CheckContext t) throws Exception {
            t.until("what was asked for is there", () -> true);
            t.pass(Duration.ofHours(1));
            t.expect(false, "it was late");
        }

        @Check(rules = "LK-301")
        @Hint("the question of the check")
        void failsAfterALongWait(CheckContext t) throws Exception {
            t.pass(t.patience());
            t.expect(false, "it never came");
        }

        @Check(rules = "LK-301")
        @Hint("the question of the check")
        void failsSurely(CheckContext t) {
            t.never(true, "it was wrong");
        }

        @Check(rules = "LK-301")
        @Hint("the question of the check")
        void failsTooEarly(CheckContext t) {
            t.neverBefore(t.now() + Duration.ofHours(1).toNanos(), true, "it was early");
        }

        @Check(rules = "LK-301")
        @Hint("the question of the check")
        void failsInTime(CheckContext t) {
            t.neverBefore(t.now(), true, "it was not early");
        }

        @Check(rules = "LK-301")
        @Hint("the question of the check")
        void failsInTimeBesideAHolder(CheckContext t) throws Exception {
            t.client("holder").lock(t.name()).acquire().release();
            t.neverBefore(t.now(), true, "it was not early");
        }

        @Check(rules = "LK-301")
        @Hint("the question of the check")
        void failsBesideAHolder(CheckContext t) throws Exception {
            try (Lease lease = t.client("holder")
                    .lock(t.name())
                    .with(LockOptions.none().withTtl(Duration.ofHours(1)))
                    .acquire()) {
                t.neverWhile(lease, true, "it was taken");
            }
        }

        @Check(rules = "LK-301")
        @Hint("the question of the check")
        void failsWithShortTtls(CheckContext t) throws Exception {
            t.expect(t.ttl().compareTo(t.shortestTtl()) > 0, "a least term is five seconds");
        }

        @Check(rules = "LK-301")
        @Hint("the question of the check")
        void waitsInVain(CheckContext t) throws Exception {
            Lease held = t.client("holder").lock(t.name()).acquire();
            t.until("the sun rises", Duration.ofMillis(10), () -> !held.isHeld());
        }

        @Check(rules = "LK-301")
        @Hint("the question of the check")
        void hangs(CheckContext t) throws Exception {
            new CountDownLatch(1).await();
        }

        private int tries;

        @Check(rules = "LK-301")
        @Hint("the question of the check")
        void hangsAtFirst(CheckContext t) throws Exception {
            if (tries++ == 0) {
                new CountDownLatch(1).await();
            }
        }

        @Check(rules = "LK-301", requires = Requirement.SERVER)
        @Hint("the question of the check")
        void failsAfterARestart(CheckContext t) throws Exception {
            t.client("holder").lock(t.name()).acquire().release();
            t.server().kill();
            t.server().restart();
            t.expect(false, "nobody answered");
        }

        @Check(rules = "LK-301")
        @Hint("the question of the check")
        void asksOfAStoreThatIsNotThereYet(CheckContext t) throws Exception {
            LockClient client = t.client("asker");
            BackendProbe verbs = BackendProbe.of(t, client, "asker");
            client.unwrap(ReferenceFaults.class).failBefore(Verb.ATTEMPT, 2);
            verbs.granted(verbs.request(t.name(), t.ttl()), "it was refused");
        }

        @Check(rules = "LK-301")
        @Hint("the question of the check")
        void isBrokenOff(CheckContext t) throws Exception {
            t.call("a call", () -> {
                throw new IllegalStateException("thrown on purpose");
            });
        }
    }

    @Test
    void whatTimeMayHaveCausedIsTriedAgainAndNotDecided() {
        assertThat(resultOf("fails-by-time"))
                .returns(Verdict.INCONCLUSIVE, CheckResult::verdict)
                .returns(2, CheckResult::repeats);
        assertThat(resultOf("fails-in-time")).returns(Verdict.INCONCLUSIVE, CheckResult::verdict);
    }

    /** Those steps take as long as a wait may, but none of them has waited for anything. */
    @Test
    void aSlowMachineIsBlamedForSlowStepsAndNotForALongWait() {
        RunContext hours = place(TckSubject.of(URL), new Skipping());
        assertThat(resultOf("fails-after-many-slow-steps", Duration.ofHours(1), hours)
                        .verdict())
                .isEqualTo(Verdict.INCONCLUSIVE);
        assertThat(resultOf("fails-after-a-long-wait", Duration.ofHours(1), hours)
                        .verdict())
                .isEqualTo(Verdict.FAIL);
    }

    @Test
    void whatOnlyLongerTtlsLetPassIsNoted() {
        CheckResult result = resultOf("fails-with-short-ttls");
        assertThat(result.verdict()).isEqualTo(Verdict.PASS);
        assertThat(result.notes()).anyMatch(note -> note.contains("a least term is five seconds"));
    }

    @Test
    void whatHangsOnABusyMachineIsGivenTwiceTheTimeOnce() {
        RunContext brief = place(
                TckSubject.of(URL),
                new RealClock(),
                TckConfig.of(Profile.SMOKE).withCheckLimit(Patience.of(Duration.ofMillis(500))));
        CheckResult always = resultOf("hangs", Duration.ofHours(1), brief);
        assertThat(always).returns(Verdict.FAIL, CheckResult::verdict).returns(1, CheckResult::repeats);
        assertThat(always.message()).startsWith("hangs: ");
        assertThat(resultOf("hangs-at-first", Duration.ofHours(1), brief).verdict())
                .isEqualTo(Verdict.PASS);
    }

    @Test
    void whatNoTimeCanHaveCausedFailsAtOnce() {
        for (String check : new String[] {"fails-surely", "fails-too-early", "fails-beside-a-holder"}) {
            assertThat(resultOf(check))
                    .returns(Verdict.FAIL, CheckResult::verdict)
                    .returns(0, CheckResult::repeats)
                    .returns("the question of the check", CheckResult::hint);
        }
    }

    /** A free lock proves nothing when its ttl is over, however seldom the process stood still meanwhile. */
    @Test
    void whatIsSeenWhenItMayBeSoIsNotDecided() {
        CheckResult late = resultOf("fails-in-time", Duration.ZERO);
        assertThat(late).returns(Verdict.INCONCLUSIVE, CheckResult::verdict).returns(2, CheckResult::repeats);
        assertThat(late.message()).isEqualTo("its time was over when it was seen: it was not early");
    }

    @Test
    void whatHasNoVerdictHasItsHistoryToo() {
        assertThat(resultOf("fails-beside-a-holder").evidence())
                .get()
                .asString()
                .contains("holder");
        CheckResult late = resultOf("fails-in-time-beside-a-holder");
        assertThat(late.verdict()).isEqualTo(Verdict.INCONCLUSIVE);
        assertThat(late.evidence()).get().asString().contains("holder");
    }

    @Test
    void aWaitInVainShowsWhatTheThreadsOfItsClientsDo() {
        CheckResult result = resultOf("waits-in-vain", Duration.ZERO);
        assertThat(result.message()).isEqualTo("within 10 ms it did not happen that the sun rises");
        assertThat(result.evidence()).get().asString().contains("keyway-tck-holder-", "WAITING", "    at ");
    }

    @Test
    void aServerThatDidNotComeBackIsNotTheProvidersFault() throws Exception {
        int port = Ports.free();
        try (ServerSocket there = new ServerSocket(port, 50, InetAddress.getLoopbackAddress())) {
            CheckResult back = resultOf("fails-after-a-restart", Duration.ZERO, port);
            assertThat(back.verdict()).isEqualTo(Verdict.FAIL);
        }
        CheckResult gone = resultOf("fails-after-a-restart", Duration.ZERO, port);
        assertThat(gone.verdict()).isEqualTo(Verdict.INCONCLUSIVE);
        assertThat(gone.message()).contains("127.0.0.1:" + port, "--start-command", "nobody answered");
    }

    @Test
    void theChecksAfterItDoNotBlameTheProviderEither() throws Exception {
        int port = Ports.free();
        RunContext never = place(withServer(port));
        assertThat(resultOf("fails-by-time", Duration.ZERO, never).verdict()).isEqualTo(Verdict.FAIL);
        RunContext gone = place(withServer(port));
        resultOf("fails-after-a-restart", Duration.ZERO, gone);
        CheckResult next = resultOf("fails-by-time", Duration.ZERO, gone);
        assertThat(next.verdict()).isEqualTo(Verdict.INCONCLUSIVE);
        assertThat(next.message()).contains("127.0.0.1:" + port, "it was late");
    }

    @Test
    void anAttemptThatWasNotExecutedIsMadeAgain() {
        CheckResult result = resultOf("asks-of-a-store-that-is-not-there-yet", Duration.ZERO);
        assertThat(result.verdict()).as(result.message()).isEqualTo(Verdict.PASS);
    }

    @Test
    void anExceptionThatBrokeTheCheckOffIsWhatToLookAtFirst() {
        CheckResult result = resultOf("is-broken-off", Duration.ZERO);
        assertThat(result.verdict()).isEqualTo(Verdict.FAIL);
        assertThat(result.message()).contains("a call threw java.lang.IllegalStateException: thrown on purpose");
        assertThat(result.hint()).startsWith("Where was this thrown").endsWith("the question of the check");
        assertThat(result.evidence()).get().asString().contains("IllegalStateException");
    }

    private static CheckResult resultOf(String name) {
        return resultOf(name, Duration.ofHours(1));
    }

    private static CheckResult resultOf(String name, Duration stall) {
        return resultOf(name, stall, TckSubject.of(URL));
    }

    /** Of a server that the subject says to be there. */
    private static CheckResult resultOf(String name, Duration stall, int port) {
        return resultOf(name, stall, withServer(port));
    }

    private static TckSubject withServer(int port) {
        return TckSubject.of(URL).withServer(() -> {}, () -> {}).withServers(List.of("127.0.0.1:" + port));
    }

    private static CheckResult resultOf(String name, Duration stall, TckSubject subject) {
        return resultOf(name, stall, place(subject));
    }

    private static CheckResult resultOf(String name, Duration stall, RunContext run) {
        CheckSpec spec = Catalog.specs(new Samples()).stream()
                .filter(each -> each.id().endsWith("/" + name))
                .findFirst()
                .orElseThrow();
        return new CheckRun(run, spec, since -> stall).run();
    }

    /** A machine's clock on which a wait is over when it begins. */
    private static final class Skipping implements CheckClock {
        private final AtomicLong skipped = new AtomicLong();

        @Override
        public long now() {
            return System.nanoTime() + skipped.get();
        }

        @Override
        public void pass(Duration time) {
            skipped.addAndGet(time.toNanos());
        }

        @Override
        public boolean isVirtual() {
            return false;
        }
    }

    private static RunContext place(TckSubject subject) {
        return place(subject, new RealClock());
    }

    private static RunContext place(TckSubject subject, CheckClock clock) {
        return place(subject, clock, TckConfig.of(Profile.SMOKE));
    }

    private static RunContext place(TckSubject subject, CheckClock clock, TckConfig config) {
        Guarantees guarantees;
        try (LockClient client = Locks.open(URL)) {
            guarantees = client.guarantees();
        }
        return new RunContext(
                subject,
                config,
                LockUrl.parse(URL),
                Set.of(),
                guarantees,
                Scope.JVM,
                true,
                Set.of(),
                RunContextTest.noPlace(URL),
                new Links(),
                new AtomicBoolean(),
                clock,
                "run");
    }
}
