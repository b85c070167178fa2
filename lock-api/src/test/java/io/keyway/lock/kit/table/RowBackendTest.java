// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Incarnation;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Request;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Filter;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;

/** How many requests the verbs cost over rows, and what becomes of writes that were overtaken or not answered. */
class RowBackendTest {

    private static final Duration TTL = Duration.ofSeconds(10);
    private static final Duration LIMIT = Duration.ofMinutes(1);
    private static final LockKey KEY = LockKey.lock("orders/7");

    private final MemoryRows store = new MemoryRows();
    private final RowBackend first = backend();
    private final RowBackend second = backend();
    private long ids;

    private RowBackend backend() {
        RowBackend backend = new RowBackend(store, () -> store.now);
        try {
            backend.start(new NoSignals(), Incarnation.draw());
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
        return backend;
    }

    private Request request(LockMode mode, boolean queue) {
        return new Request(++ids, KEY, mode, 1, 1, TTL, queue, new Owner("somebody", Map.of()));
    }

    private Request exclusive() {
        return request(LockMode.EXCLUSIVE, true);
    }

    private static Grant granted(Attempt attempt) {
        assertThat(attempt).isInstanceOf(Attempt.Granted.class);
        return ((Attempt.Granted) attempt).grant();
    }

    private void pass(Duration time) {
        store.now += time.toNanos();
    }

    @Test
    void anAcquireThatNobodyContestsItsRenewalAndItsReleaseAreOneRequestEach() throws Exception {
        Grant grant = granted(first.attempt(exclusive(), LIMIT));
        assertThat(store.requests()).as("acquire").isEqualTo(1);
        pass(TTL.dividedBy(2));
        assertThat(first.renew(List.of(grant), LIMIT)).containsExactly(Answer.DONE);
        assertThat(store.requests()).as("renewal").isEqualTo(2);
        assertThat(first.release(grant, LIMIT)).isEqualTo(Answer.DONE);
        assertThat(store.requests()).as("release").isEqualTo(3);
        granted(second.attempt(exclusive(), LIMIT));
        assertThat(store.requests()).as("acquire of a key that another had").isEqualTo(4);
    }

    @Test
    void anAcquireThatFindsAHolderLooksAndQueuesByOneWriteMore() throws Exception {
        Grant held = granted(first.attempt(exclusive(), LIMIT));
        Request waiting = exclusive();
        store.reads = 0;
        store.writes = 0;
        assertThat(second.attempt(waiting, LIMIT))
                .isInstanceOfSatisfying(
                        Attempt.Waiting.class,
                        answer -> assertThat(answer.ahead()).hasValue(1));
        assertThat(store.writes).as("the try, and the place in the queue").isEqualTo(2);
        assertThat(store.reads).isZero();
        assertThat(first.release(held, LIMIT)).isEqualTo(Answer.DONE);
        assertThat(granted(second.attempt(waiting, LIMIT)).token()).isGreaterThan(held.token());
    }

    @Test
    void aWaiterThatAsksAgainAtOnceWritesNothing() throws Exception {
        granted(first.attempt(exclusive(), LIMIT));
        Request waiting = exclusive();
        second.attempt(waiting, LIMIT);
        int writes = store.writes;
        second.attempt(waiting, LIMIT);
        assertThat(store.writes).isEqualTo(writes);
        pass(TTL.dividedBy(4));
        second.attempt(waiting, LIMIT);
        assertThat(store.writes).as("it keeps its place").isEqualTo(writes + 1);
    }

    /** A withdrawal that is given up writes nothing, so that no row says that nobody waits. */
    @Test
    void aStoreHearsForWhichKeysRequestsWait() throws Exception {
        Grant held = granted(first.attempt(exclusive(), LIMIT));
        assertThat(store.waited).as("who holds").isEmpty();
        Request one = exclusive();
        Request other = exclusive();
        second.attempt(one, LIMIT);
        second.attempt(other, LIMIT);
        second.attempt(one, LIMIT);
        assertThat(store.waited).containsExactly(KEY);
        second.forgotten(one);
        assertThat(store.waited).as("the other one").containsExactly(KEY);
        second.forgotten(other);
        assertThat(store.waited).as("both were given up, and are in the row").isEmpty();
        second.attempt(one, LIMIT);
        assertThat(store.waited).containsExactly(KEY);
        first.release(held, LIMIT);
        granted(second.attempt(one, LIMIT));
        assertThat(store.waited).as("who was granted").isEmpty();
        second.attempt(request(LockMode.EXCLUSIVE, false), LIMIT);
        assertThat(store.waited).as("who does not queue").isEmpty();
    }

    @Test
    void whatIsRememberedIsNotTrustedLongerThanTheClientBelieves() throws Exception {
        Grant grant = granted(first.attempt(exclusive(), LIMIT));
        pass(TTL);
        assertThat(first.renew(List.of(grant), LIMIT)).containsExactly(Answer.NOT_HELD);
        assertThat(first.release(grant, LIMIT)).isEqualTo(Answer.NOT_HELD);
        assertThat(store.writes).as("nothing was written for them").isEqualTo(1);
    }

    /** As one that is far from the store, where clients beside it write the same row. */
    @Test
    void aClientThatIsOvertakenTwiceHasTheRowLocked() throws Exception {
        store.locks = true;
        RowBackend near = backend();
        Grant grant = granted(first.attempt(permit(), LIMIT));
        store.always = () -> takesAndGivesBack(near);
        Grant second = granted(first.attempt(permit(), LIMIT));
        assertThat(store.locked).as("a request").isEqualTo(1);
        assertThat(first.renew(List.of(grant, second), LIMIT)).containsExactly(Answer.DONE, Answer.DONE);
        assertThat(store.locked).as("a renewal").isEqualTo(2);
        assertThat(first.release(grant, LIMIT)).isEqualTo(Answer.DONE);
        assertThat(store.locked).as("a release").isEqualTo(3);
        assertThat(first.release(grant, LIMIT)).isEqualTo(Answer.NOT_HELD);
        assertThat(store.locked).as("what writes nothing").isEqualTo(3);
        pass(TTL);
        assertThat(first.renew(List.of(second), LIMIT)).containsExactly(Answer.NOT_HELD);
    }

    private void takesAndGivesBack(RowBackend client) {
        try {
            assertThat(client.release(granted(client.attempt(permit(), LIMIT)), LIMIT))
                    .isEqualTo(Answer.DONE);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private void withdrawn(Request request) {
        try {
            first.withdraw(request, LIMIT);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private Request permit() {
        return new Request(
                ++ids, LockKey.semaphore("seats"), LockMode.PERMITS, 1, 9, TTL, true, new Owner("somebody", Map.of()));
    }

    /** What the rule refuses on the row that is locked is refused, and nothing is written. */
    @Test
    void aRequestThatWasWithdrawnIsNotGrantedByTheRowThatIsLocked() throws Exception {
        store.locks = true;
        RowBackend near = backend();
        // With a row that is not free, a client that is overtaken has to decide again.
        granted(first.attempt(permit(), LIMIT));
        Request request = permit();
        store.always = () -> takesAndGivesBack(near);
        store.whenLocked = () -> withdrawn(request);
        assertThatThrownBy(() -> first.attempt(request, LIMIT))
                .isInstanceOf(NotExecutedException.class)
                .hasMessageContaining("was withdrawn");
    }

    @Test
    void whoIsOvertakenDecidesAnew() throws Exception {
        store.before = () -> sure(second, exclusive());
        assertThat(first.attempt(request(LockMode.EXCLUSIVE, false), LIMIT)).isInstanceOf(Attempt.Waiting.class);
    }

    @Test
    void aReleaseThatIsOvertakenByAWaiterLeavesTheWaiter() throws Exception {
        Grant grant = granted(first.attempt(exclusive(), LIMIT));
        Request waiting = exclusive();
        store.before = () -> waits(second, waiting);
        assertThat(first.release(grant, LIMIT)).isEqualTo(Answer.DONE);
        granted(second.attempt(waiting, LIMIT));
    }

    @Test
    void anAttemptWhoseReplyWasLostIsGrantedOnce() throws Exception {
        Request request = exclusive();
        store.loseReply = true;
        assertThatThrownBy(() -> first.attempt(request, LIMIT)).isInstanceOf(IOException.class);
        Grant grant = granted(first.attempt(request, LIMIT));
        assertThat(first.release(grant, LIMIT)).isEqualTo(Answer.DONE);
        granted(second.attempt(exclusive(), LIMIT));
    }

    @Test
    void aWriteThatComesAfterItsWithdrawalFindsThatItsRequestWasWithdrawn() throws Exception {
        Request request = exclusive();
        store.loseReply = true;
        assertThatThrownBy(() -> first.attempt(request, LIMIT)).isInstanceOf(IOException.class);
        first.withdraw(request, LIMIT);
        RowStore.Stored stored = store.read(KEY, io.keyway.lock.spi.Deadline.after(LIMIT));
        assertThat(stored.row().isFree())
                .as("a write that supposes a free key fails")
                .isFalse();
        assertThatThrownBy(() -> first.attempt(request, LIMIT)).isInstanceOf(NotExecutedException.class);
        Grant other = granted(second.attempt(exclusive(), LIMIT));
        assertThat(second.release(other, LIMIT)).isEqualTo(Answer.DONE);
        pass(Duration.ofMinutes(1));
        granted(second.attempt(exclusive(), LIMIT));
        stored = store.read(KEY, io.keyway.lock.spi.Deadline.after(LIMIT));
        assertThat(stored.row().entries())
                .as("what was remembered goes by itself")
                .hasSize(1);
    }

    /** A store that forgets in a crash that the row became free may give the same version to another grant. */
    @Test
    void aRowThatIsFreeIsWrittenBecauseItIsFreeAndNotByItsVersion() throws Exception {
        store.forgets = true;
        first.release(granted(first.attempt(exclusive(), LIMIT)), LIMIT);
        Request request = exclusive();
        store.delay = true;
        assertThatThrownBy(() -> first.attempt(request, LIMIT)).isInstanceOf(IOException.class);
        store.reads = 0;

        first.withdraw(request, LIMIT);

        assertThat(store.reads).as("it knows the row").isEqualTo(1);
        assertThat(store.expected).isEqualTo(RowStore.IF_FREE);
        assertThat(store.arrive()).as("what was under way").isFalse();
    }

    @Test
    void aRequestWhoseAttemptsWereAllAnsweredLeavesNothing() throws Exception {
        granted(first.attempt(exclusive(), LIMIT));
        Request waiting = exclusive();
        second.attempt(waiting, LIMIT);
        second.withdraw(waiting, LIMIT);
        RowStore.Stored stored = store.read(KEY, io.keyway.lock.spi.Deadline.after(LIMIT));
        assertThat(stored.row().entries()).hasSize(1);
        assertThatThrownBy(() -> second.attempt(waiting, LIMIT)).isInstanceOf(NotExecutedException.class);
    }

    @Test
    void renewalsOfSeveralGrantsOfOneKeyAreOneWrite() throws Exception {
        Grant one = granted(first.attempt(request(LockMode.SHARED, true), LIMIT));
        Grant two = granted(first.attempt(request(LockMode.SHARED, true), LIMIT));
        int before = store.requests();
        Grant gone = new Grant(999, KEY, 1, TTL, "");
        assertThat(first.renew(List.of(two, one), LIMIT)).containsExactly(Answer.DONE, Answer.DONE);
        assertThat(store.requests()).isEqualTo(before + 1);
        assertThat(first.renew(List.of(two, gone, one), LIMIT))
                .containsExactly(Answer.DONE, Answer.NOT_HELD, Answer.DONE);
    }

    @Test
    void aRowThatFailsLeavesTheRenewalsOfOtherKeysAlone() throws Exception {
        Grant one = granted(first.attempt(exclusive(), LIMIT));
        Grant two = granted(first.attempt(another("orders/8"), LIMIT));
        store.failing = KEY;
        assertThatThrownBy(() -> first.renew(List.of(one, two), LIMIT)).isInstanceOf(IOException.class);
        assertThat(first.renew(List.of(one, two), LIMIT)).containsExactly(Answer.UNKNOWN, Answer.DONE);
        assertThatThrownBy(() -> first.renew(List.of(one), LIMIT)).isInstanceOf(IOException.class);
        store.failing = null;
        assertThat(first.renew(List.of(one, two), LIMIT)).containsExactly(Answer.DONE, Answer.DONE);
    }

    /** Else they write one row in turn whenever one of them asks, and only one write succeeds. */
    @Test
    void waitersWhoseLeasesAreRenewedApartWriteNothing() throws Exception {
        store.leases = true;
        granted(first.attempt(exclusive(), LIMIT));
        List<Request> waiting = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            waiting.add(exclusive());
            second.attempt(waiting.get(i), LIMIT);
        }
        int writes = store.writes;
        pass(TTL.dividedBy(2));
        for (Request each : waiting) {
            assertThat(second.attempt(each, LIMIT)).isInstanceOf(Attempt.Waiting.class);
        }
        assertThat(store.writes).isEqualTo(writes);
        assertThat(store.renewed).isEqualTo(16);
        store.leases = false;
        second.attempt(waiting.get(0), LIMIT);
        assertThat(store.writes).as("a lease is gone, or there are none").isEqualTo(writes + 1);
    }

    /** Without that the kit asks again and again until the time is over, and blames others. */
    @Test
    void aStoreThatSaysNoThoughItHasWhatIsExpectedIsNamed() throws Exception {
        store.saysNo = true;
        Request free = exclusive();
        assertThatThrownBy(() -> first.attempt(free, LIMIT))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("RowStore.write")
                .hasMessageContaining("if it is free");
        assertThat(store.writes).as("how often it was tried").isLessThan(20);
        store.saysNo = false;
        Grant grant = granted(second.attempt(exclusive(), LIMIT));
        store.saysNo = true;
        store.writes = 0;
        assertThatThrownBy(() -> second.release(grant, LIMIT))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("at version");
        assertThat(store.writes).as("how often it was tried").isLessThan(20);
    }

    @Test
    void aRowThatIsFreeWheneverItIsLookedAtIsAskedForAgain() throws Exception {
        store.saysNoTimes = 5;
        granted(first.attempt(exclusive(), LIMIT));
    }

    @Test
    void whoHadNoTimeToWriteIsNotSaidToHaveBeenOvertaken() throws Exception {
        Grant grant = granted(first.attempt(exclusive(), LIMIT));
        store.answersLate = true;
        assertThatThrownBy(() -> second.breakGrant(KEY, grant.token(), "because", Duration.ofMillis(5)))
                .isInstanceOf(NotExecutedException.class)
                .hasMessageNotContaining("faster");
    }

    private Request another(String name) {
        return new Request(
                ++ids, LockKey.lock(name), LockMode.EXCLUSIVE, 1, 1, TTL, true, new Owner("somebody", Map.of()));
    }

    @Test
    void aRowThatHangsLeavesTimeForTheRenewalsOfOtherKeys() throws Exception {
        Grant hangs = granted(first.attempt(exclusive(), LIMIT));
        Grant one = granted(first.attempt(another("orders/8"), LIMIT));
        Grant two = granted(first.attempt(another("orders/9"), LIMIT));
        store.hanging = KEY;
        store.failing = KEY;
        assertThatThrownBy(() -> first.renew(List.of(hangs, one, two), LIMIT)).isInstanceOf(IOException.class);
        store.failing = null;
        assertThat(first.renew(List.of(hangs, one, two), Duration.ofMillis(900)))
                .containsExactly(Answer.UNKNOWN, Answer.DONE, Answer.DONE);
    }

    @Test
    void aRowThatIsNoneIsLoggedThoughItsRenewalIsOnlyUnknown() throws Exception {
        Grant spoilt = granted(first.attempt(exclusive(), LIMIT));
        Grant other = granted(first.attempt(another("orders/8"), LIMIT));
        store.spoil(KEY);
        List<String> lines = new CopyOnWriteArrayList<>();
        Logger log = Logger.getLogger(RowBackend.class.getName());
        Filter reader = record -> {
            lines.add(record.getLevel() + " " + record.getMessage() + ": " + record.getThrown());
            return false;
        };
        log.setFilter(reader);
        try {
            assertThatThrownBy(() -> first.renew(List.of(spoilt, other), LIMIT))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThat(first.renew(List.of(spoilt, other), LIMIT)).containsExactly(Answer.UNKNOWN, Answer.DONE);
        } finally {
            log.setFilter(null);
        }
        assertThat(lines).singleElement().asString().contains("WARNING", "orders/7", "a poem");
    }

    @Test
    void aWriteUnderWayFindsItsRequestWithdrawnThoughAnotherAttemptWasGrantedAndReleased() throws Exception {
        Request request = exclusive();
        store.delay = true;
        assertThatThrownBy(() -> first.attempt(request, LIMIT)).isInstanceOf(IOException.class);
        Grant grant = granted(first.attempt(request, LIMIT));
        assertThat(first.release(grant, LIMIT)).isEqualTo(Answer.DONE);
        // The kit withdraws what it has released if an attempt of it was not answered.
        first.withdraw(request, LIMIT);
        assertThat(store.arrive()).as("granted to nobody").isFalse();
        granted(second.attempt(exclusive(), LIMIT));
    }

    @Test
    void aReaderBehindAnUpgradeIsToldThatItsTurnHasComeWhenTheUpgradingLeaseIsBroken() throws Exception {
        Grant upgrading = upgradeBeforeAReader(Duration.ZERO);
        assertThat(second.breakGrant(KEY, upgrading.token(), "a test", LIMIT)).isTrue();
        theReaderIsToldAndGranted();
    }

    @Test
    void aReaderBehindAnUpgradeIsToldThatItsTurnHasComeWhenOnlyThePlaceOfTheUpgradingLeaseIsKept() throws Exception {
        Grant upgrading = upgradeBeforeAReader(TTL);
        assertThat(first.keep(upgrading, LIMIT)).isEqualTo(Answer.DONE);
        theReaderIsToldAndGranted();
    }

    private Request waitingReader = request(LockMode.SHARED, true);

    /** Returns the grant of a reader that wants to write; another holds too, and a third waits behind the upgrade. */
    private Grant upgradeBeforeAReader(Duration holdAtLeast) throws Exception {
        Request reads =
                new Request(++ids, KEY, LockMode.SHARED, 1, 1, TTL, true, new Owner("somebody", Map.of()), holdAtLeast);
        Grant upgrading = granted(first.attempt(reads, LIMIT));
        granted(second.attempt(request(LockMode.SHARED, true), LIMIT));
        assertThat(first.convert(upgrading, exclusive(), LIMIT)).isInstanceOf(Attempt.Waiting.class);
        waitingReader = request(LockMode.SHARED, true);
        waits(second, waitingReader);
        store.told.clear();
        return upgrading;
    }

    private void theReaderIsToldAndGranted() throws Exception {
        assertThat(store.told)
                .filteredOn(Notice.Turn.class::isInstance)
                .extracting(notice -> ((Notice.Turn) notice).request())
                .containsExactly(waitingReader.id());
        granted(second.attempt(waitingReader, LIMIT));
    }

    private static void sure(RowBackend backend, Request request) {
        try {
            granted(backend.attempt(request, LIMIT));
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static void waits(RowBackend backend, Request request) {
        try {
            assertThat(backend.attempt(request, LIMIT)).isInstanceOf(Attempt.Waiting.class);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
