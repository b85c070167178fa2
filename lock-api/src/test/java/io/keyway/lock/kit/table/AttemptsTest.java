// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Incarnation;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

/** What one client's threads ask for at once, at one key. */
class AttemptsTest {
    private static final Duration LIMIT = Duration.ofMinutes(1);
    private static final Duration SOON = Duration.ofMillis(100);
    private static final LockKey KEY = LockKey.lock("orders/7");
    private static final LockKey SEATS = LockKey.semaphore("seats");

    private final MemoryRows store = new MemoryRows();
    private final RowBackend backend = backend();
    private long ids;

    private RowBackend backend() {
        RowBackend made = new RowBackend(store, () -> store.now);
        try {
            made.start(new NoSignals(), Incarnation.draw());
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
        return made;
    }

    /** An attempt in a thread of its own, which waits for the store, or for those who do, when this returns. */
    private final class Asking {
        final Request request;
        final Thread thread;
        private final FutureTask<Attempt> attempt;

        Asking(Request request, Duration limit) {
            this.request = request;
            this.attempt = new FutureTask<>(() -> backend.attempt(request, limit));
            this.thread = new Thread(attempt, "asking-" + request.id());
            thread.start();
            await().until(() -> attempt.isDone()
                    || thread.getState() == Thread.State.TIMED_WAITING
                    || thread.getState() == Thread.State.WAITING);
        }

        Asking(Request request) {
            this(request, LIMIT);
        }

        Attempt answer() throws Exception {
            return attempt.get(1, TimeUnit.MINUTES);
        }

        Grant granted() throws Exception {
            assertThat(answer()).isInstanceOf(Attempt.Granted.class);
            return ((Attempt.Granted) answer()).grant();
        }

        int ahead() throws Exception {
            assertThat(answer()).isInstanceOf(Attempt.Waiting.class);
            return ((Attempt.Waiting) answer()).ahead().orElseThrow();
        }

        /** Why there is no answer. */
        Throwable failure() {
            try {
                throw new AssertionError("answered: " + answer());
            } catch (ExecutionException e) {
                return e.getCause();
            } catch (Exception e) {
                return e;
            }
        }
    }

    private Request request(LockKey key, LockMode mode, int capacity) {
        return new Request(
                ++ids, key, mode, 1, capacity, Duration.ofSeconds(10), true, new Owner("somebody", Map.of()));
    }

    private Request exclusive() {
        return request(KEY, LockMode.EXCLUSIVE, 1);
    }

    private Request shared() {
        return request(KEY, LockMode.SHARED, 1);
    }

    private void hold() {
        store.mayWrite.drainPermits();
    }

    private void goOn() {
        store.mayWrite.release(1_000_000);
    }

    @Test
    void thoseWhoComeWhileACallIsUnderWayGoTogether() throws Exception {
        Grant held = new Asking(exclusive()).granted();
        hold();
        int before = store.requests();
        List<Asking> waiters = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            waiters.add(new Asking(exclusive()));
        }
        goOn();
        for (int i = 0; i < 50; i++) {
            assertThat(waiters.get(i).ahead())
                    .as("in the order in which they came")
                    .isEqualTo(i + 1);
        }
        assertThat(store.requests() - before)
                .as("the first one looks and queues, then all others do")
                .isEqualTo(4);
        assertThat(backend.release(held, LIMIT)).isEqualTo(Answer.DONE);
        assertThat(new Asking(waiters.get(0).request).granted().token()).isGreaterThan(held.token());
    }

    @Test
    void eachGrantHasAWriteAndATokenOfItsOwn() throws Exception {
        hold();
        List<Asking> asking = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            asking.add(new Asking(request(SEATS, LockMode.PERMITS, 8)));
        }
        goOn();
        List<Long> tokens = new ArrayList<>();
        for (Asking each : asking.subList(0, 8)) {
            tokens.add(each.granted().token());
        }
        assertThat(tokens).as("in the order in which they came").isSorted().doesNotHaveDuplicates();
        assertThat(asking.get(8).ahead()).isEqualTo(8);
        assertThat(asking.get(9).ahead()).isEqualTo(9);
    }

    @Test
    void nobodyQueuesBeforeOneWhoCameEarlierAndIsGrantedByTheNextWrite() throws Exception {
        hold();
        Asking first = new Asking(shared());
        Asking second = new Asking(shared());
        Asking third = new Asking(shared());
        Asking writer = new Asking(exclusive());
        Asking last = new Asking(shared());
        goOn();
        assertThat(List.of(
                        first.granted().token(),
                        second.granted().token(),
                        third.granted().token()))
                .isSorted();
        assertThat(writer.ahead()).isEqualTo(3);
        assertThat(last.ahead()).as("behind the writer").isEqualTo(4);
    }

    @Test
    void whoHasNoTimeLeftWhileItGathersHasAskedForNothing() throws Exception {
        hold();
        Asking first = new Asking(exclusive());
        Asking second = new Asking(exclusive(), SOON);
        assertThat(second.failure()).isInstanceOf(NotExecutedException.class);
        goOn();
        first.granted();
        assertThat(new Asking(exclusive()).ahead()).as("nobody else is there").isEqualTo(1);
    }

    @Test
    void whoHasNoTimeLeftWhileOthersAskForItDoesNotKnow() throws Exception {
        new Asking(exclusive()).granted();
        hold();
        Asking first = new Asking(exclusive());
        Asking second = new Asking(exclusive());
        Asking third = new Asking(exclusive(), Duration.ofSeconds(3));
        store.mayWrite.release();
        assertThat(first.ahead()).isEqualTo(1);
        assertThat(third.failure()).as("under way with the second").isInstanceOf(TimeoutException.class);
        goOn();
        assertThat(second.ahead()).isEqualTo(2);
        assertThat(new Asking(exclusive()).ahead()).as("behind all three").isEqualTo(4);
    }

    @Test
    void theInterruptOfOneIsNotThatOfTheOthers() throws Exception {
        new Asking(exclusive()).granted();
        hold();
        Asking first = new Asking(exclusive());
        Asking second = new Asking(exclusive());
        Asking third = new Asking(exclusive());
        Asking fourth = new Asking(exclusive());
        third.thread.interrupt();
        assertThat(third.failure()).as("it only gathered").isInstanceOf(InterruptedException.class);
        store.mayWrite.release();
        assertThat(first.ahead()).isEqualTo(1);
        await().until(() -> store.reads == 2);
        second.thread.interrupt();
        assertThat(second.failure()).isInstanceOf(InterruptedException.class);
        assertThat(fourth.failure())
                .as("it went along with the second, and does not know")
                .isInstanceOf(ExecutionException.class)
                .hasMessageContaining("no answer to the write that it went along with");
        goOn();
        assertThat(new Asking(fourth.request).ahead()).as("asked again").isEqualTo(2);
    }

    @Test
    void whatIsSurelyNotCarriedOutForOneIsCarriedOutForTheOthers() throws Exception {
        new Asking(exclusive()).granted();
        hold();
        Asking first = new Asking(exclusive());
        Asking second = new Asking(exclusive());
        Asking third = new Asking(exclusive());
        store.mayWrite.release();
        assertThat(first.ahead()).isEqualTo(1);
        await().until(() -> store.reads == 2);
        store.refuse = true;
        goOn();
        assertThat(second.failure()).isInstanceOf(NotExecutedException.class).hasMessageContaining("busy");
        assertThat(third.ahead()).as("it asked by itself, then").isEqualTo(2);
    }

    @Test
    void whoWasWithdrawnIsRefusedAlone() throws Exception {
        new Asking(exclusive()).granted();
        Request gone = exclusive();
        backend.withdraw(gone, LIMIT);
        hold();
        Asking first = new Asking(exclusive());
        Asking refused = new Asking(gone);
        Asking third = new Asking(exclusive());
        goOn();
        assertThat(first.ahead()).isEqualTo(1);
        assertThat(refused.failure()).isInstanceOf(NotExecutedException.class).hasMessageContaining("withdrawn");
        assertThat(third.ahead()).isEqualTo(2);
        assertThatThrownBy(() -> backend.attempt(gone, LIMIT)).isInstanceOf(NotExecutedException.class);
    }
}
