// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.ClientClosedException;
import io.keyway.lock.ClientOptions;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LeaseLostException;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockEvent;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockRequest;
import io.keyway.lock.LockTransaction.Status;
import io.keyway.lock.LockUrl;
import io.keyway.lock.TransactionOptions;
import io.keyway.lock.spi.LockEngine;
import io.keyway.lock.spi.Request;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A transaction gives up a request for another mode of what it holds, and asks again while the engine is slow. */
class GivenUpRaiseTest extends ReferenceClients {
    private static final LockUrl URL = LockUrl.parse("lock:reference://raise?closeTimeout=2s&name=raise");
    private static final LockName X = LockName.of("x");
    private static final String UNANSWERED = "y";
    private static final Duration TTL = Duration.ofMinutes(1);

    /** What the engine was asked, in order; each is here when the engine has it. */
    private final List<String> calls = new CopyOnWriteArrayList<>();
    /** What each request was answered through, in order. */
    private final List<LockEngine.Sink> sinks = new CopyOnWriteArrayList<>();

    private volatile CountDownLatch mayConvert = new CountDownLatch(0);
    private volatile CountDownLatch mayWithdraw = new CountDownLatch(0);
    private volatile boolean losesChanges;
    private volatile boolean refusesChanges;
    private LockClient other;
    private EngineClient client;
    private TransactionView transaction;

    @BeforeEach
    void begin() {
        other = open(URL.toString(), ClientOptions.defaults().withName("other"));
        client = beside(other, URL, "raise", ClientOptions.defaults().withEventExecutor(Runnable::run), this::recorded);
        transaction = new TransactionView(client.context(), TransactionOptions.defaults(), LockOptions.none());
    }

    @AfterEach
    void end() {
        transaction.close();
        client.close();
    }

    private LockEngine recorded(LockEngine engine) {
        return (LockEngine) Proxy.newProxyInstance(
                LockEngine.class.getClassLoader(), new Class<?>[] {LockEngine.class}, (proxy, method, arguments) -> {
                    String name = method.getName();
                    boolean changes = name.equals("convert") || (name.equals("withdraw") && arguments.length == 2);
                    if (name.equals("convert")) {
                        sinks.add((LockEngine.Sink) arguments[3]);
                        assertThat(mayConvert.await(3 * PATIENCE.toSeconds(), TimeUnit.SECONDS))
                                .isTrue();
                    } else if (name.equals("submit")) {
                        sinks.add((LockEngine.Sink) arguments[1]);
                        calls.add(((Request) arguments[0]).queue() ? "submit, queue" : "submit, at once");
                    }
                    boolean unanswered = name.equals("submit")
                            && ((Request) arguments[0]).key().name().value().equals(UNANSWERED);
                    if (name.equals("convert") && refusesChanges) {
                        ((LockEngine.Sink) arguments[3]).refused(List.of());
                        return null;
                    } else if (changes && name.equals("withdraw")) {
                        assertThat(mayWithdraw.await(3 * PATIENCE.toSeconds(), TimeUnit.SECONDS))
                                .isTrue();
                    }
                    Object result = null;
                    if (!unanswered && !(changes && losesChanges)) {
                        result = invoke(engine, method, arguments);
                    }
                    if (changes) {
                        calls.add(name);
                    }
                    return result;
                });
    }

    private TestHold hold() {
        return new TestHold(TTL, () -> client.context().time().nanoTime() + TTL.toNanos());
    }

    private void asksToWrite() {
        transaction.lockAsync(List.of(new LockRequest(X, LockMode.EXCLUSIVE)));
    }

    /** Otherwise the second one is refused because of the first, and the transaction aborted for no deadlock. */
    @Test
    void theNextRequestIsSentAfterTheWithdrawalOfTheOneBefore() throws Exception {
        Lease beside = other.readWriteLock("x").read().acquire();
        transaction.lock("x", LockMode.SHARED);
        calls.clear();
        mayConvert = new CountDownLatch(1);
        Running<Boolean> first = inThread(() -> {
            asksToWrite();
            return true;
        });
        await().atMost(PATIENCE).until(() -> sinks.size() == 2);

        assertThat(transaction.cancel("x")).isTrue();
        asksToWrite();

        assertThat(sinks).as("requests of which the engine knows").hasSize(2);
        mayConvert.countDown();
        first.get();
        await().atMost(PATIENCE).until(() -> sinks.size() == 3);
        assertThat(calls).endsWith("withdraw", "convert").startsWith("withdraw", "convert", "withdraw");
        assertThat(transaction.status()).isEqualTo(Status.WAITING);
        beside.close();
        await().atMost(PATIENCE).until(() -> transaction.status() == Status.HELD);
    }

    /** What is held is held all the time, in whichever mode. */
    @Test
    void whatIsGrantedAfterItWasGivenUpIsNoLoss() throws Exception {
        List<Status> seen = new CopyOnWriteArrayList<>();
        transaction.lock("x", LockMode.SHARED);
        losesChanges = true;
        asksToWrite();
        transaction.cancel("x");
        asksToWrite();
        client.addListener(event -> {
            if (event.type() == LockEvent.Type.GRANTED) {
                seen.add(transaction.status());
            }
        });

        sinks.get(1).granted(hold(), 1_000);

        assertThat(seen).containsExactly(Status.WAITING);
        assertThat(transaction.status()).isEqualTo(Status.HELD);
        assertThat(transaction.believed()).containsEntry(X, LockMode.EXCLUSIVE);
    }

    /** The engine tells of the grant before its call is over, and refuses what it is asked of a grant that is none. */
    @Test
    void aRequestOfAGrantThatHasBecomeAnotherIsNoUpgradeOfTwo() throws Exception {
        transaction.lock("x", LockMode.SHARED);
        losesChanges = true;
        CountDownLatch mayGoOn = new CountDownLatch(1);
        mayConvert = mayGoOn;
        Running<Boolean> first = inThread(() -> {
            asksToWrite();
            return true;
        });
        await().atMost(PATIENCE).until(() -> sinks.size() == 2);
        mayConvert = new CountDownLatch(0);
        sinks.get(1).granted(hold(), 1_000);

        transaction.cancel("x");
        asksToWrite();
        sinks.stream().skip(2).forEach(next -> next.refused(List.of()));

        assertThat(transaction.status()).isEqualTo(Status.HELD);
        mayGoOn.countDown();
        first.get();
        assertThat(transaction.status()).isEqualTo(Status.HELD);
        assertThat(transaction.believed()).containsEntry(X, LockMode.EXCLUSIVE);
    }

    /** It may wait there, since no thread of events is needed for an answer. */
    @Test
    void aListenerOfTheWithdrawalMayAskAgain() throws Exception {
        Lease beside = other.readWriteLock("x").read().acquire();
        transaction.lock("x", LockMode.SHARED);
        asksToWrite();
        awaitWaiters(other, "x", 1);
        client.addListener(event -> {
            if (event.type() == LockEvent.Type.WITHDRAWN) {
                asksToWrite();
                beside.close();
                await().atMost(PATIENCE).until(() -> transaction.status() == Status.HELD);
            }
        });
        assertThat(transaction.cancel("x")).isTrue();
        assertThat(transaction.believed()).containsEntry(X, LockMode.EXCLUSIVE);
    }

    /** Though the engine has not been asked yet: it is busy with the request before, which was given up. */
    @Test
    void closingEndsARequestThatWaitsForAWithdrawal() throws Exception {
        Lease read = client.readWriteLock("x").read().acquire();
        mayConvert = new CountDownLatch(1);
        Running<Optional<Lease>> first =
                inThread(() -> client.readWriteLock("x").tryUpgrade(read, Duration.ofMinutes(1)));
        await().atMost(PATIENCE).until(() -> sinks.size() == 1);
        sinks.get(0).refused(List.of());
        Running<Optional<Lease>> second =
                inThread(() -> client.readWriteLock("x").tryUpgrade(read, Duration.ofMinutes(1)));
        await().atMost(PATIENCE).until(() -> second.thread().getState() == Thread.State.TIMED_WAITING);

        Running<Boolean> closed = inThread(() -> {
            client.close();
            return true;
        });

        assertThatThrownBy(second::get).hasCauseInstanceOf(ClientClosedException.class);
        closed.get();
        mayConvert.countDown();
        assertThatThrownBy(first::get).hasCauseInstanceOf(LeaseLostException.class);
    }

    /** It is lost, and its user hears of that. */
    @Test
    void aGrantThatCannotBeginIsLost() throws Exception {
        transaction.close();
        transaction = new TransactionView(
                client.context(),
                TransactionOptions.defaults(),
                LockOptions.none().withMaxHold(Duration.ofMinutes(1)));
        transaction.lock("x", LockMode.SHARED);
        losesChanges = true;
        asksToWrite();
        transaction.cancel("x");
        TestHold hold = new TestHold(TTL, () -> {
            throw new IllegalStateException("no deadline");
        });
        sinks.get(1).granted(hold, 1_000);
        assertThat(hold.released).as("before its owner can have stopped").isEmpty();
        assertThat(transaction.believed()).isEmpty();
        assertThat(transaction.status()).isEqualTo(Status.LOST);
        assertThat(transaction.lost()).succeedsWithin(PATIENCE);
    }

    /** A try has written, and reads on: the engine is asked for that, and does not answer. */
    private void isWeakened() throws Exception {
        transaction.lock("x", LockMode.SHARED);
        TransactionWaiters.Wait tries = transaction.begin(
                List.of(new LockRequest(X, LockMode.EXCLUSIVE), LockRequest.exclusive(UNANSWERED)), true, true);
        await().atMost(PATIENCE).until(() -> transaction.believed().get(X) == LockMode.EXCLUSIVE);
        losesChanges = true;
        calls.clear();
        assertThat(transaction.leaves(tries)).isTrue();
        assertThat(calls).containsExactly("convert");
        assertThat(transaction.believed()).containsEntry(X, LockMode.SHARED);
    }

    /** A withdrawal would end the grant of which the user believes that it reads. */
    @Test
    void whoClosesAClientThatDowngradesNotifiesFirst() throws Exception {
        isWeakened();
        List<String> before = new CopyOnWriteArrayList<>();
        client.addListener(event -> {
            if (event.type() == LockEvent.Type.LOST) {
                before.addAll(calls);
            }
        });
        transaction.lost().thenAccept(loss -> before.add(loss.cause().name()));
        client.close();
        assertThat(before).contains("convert", "CLIENT_CLOSED").doesNotContain("withdraw");
        try (Lease next = other.lock("x").acquire()) {
            next.ensureHeld();
        }
    }

    /** It comes when the client has begun to close, and before the lease is ended: the release of that ends it, too. */
    @Test
    void aGrantThatComesWhileItsClientClosesIsGivenBackWhenAllAreNotified() throws Exception {
        isWeakened();
        List<LeaseLoss.Cause> causes = new CopyOnWriteArrayList<>();
        transaction.lost().thenAccept(loss -> causes.add(loss.cause()));
        TestHold hold = hold();
        client.addListener(event -> {
            if (event.type() == LockEvent.Type.WITHDRAWN) {
                sinks.get(sinks.size() - 1).granted(hold, 1_000);
            }
        });
        client.close();
        assertThat(causes).containsExactly(LeaseLoss.Cause.CLIENT_CLOSED);
        assertThat(hold.released).isEmpty();
        try (Lease next = other.lock("x").acquire()) {
            next.ensureHeld();
        }
    }

    /** A listener of the grant holds up the thread that brings it. */
    @Test
    void whatIsClosedWhileItsUpgradeBeginsIsReleased() throws Exception {
        transaction.lock("x", LockMode.SHARED);
        CountDownLatch begins = new CountDownLatch(1);
        CountDownLatch mayGoOn = new CountDownLatch(1);
        client.addListener(event -> {
            if (event.type() == LockEvent.Type.GRANTED) {
                begins.countDown();
                hold(mayGoOn);
            }
        });
        losesChanges = true;
        asksToWrite();
        TestHold hold = hold();
        Running<Boolean> brings = inThread(() -> {
            sinks.get(1).granted(hold, 1_000);
            return true;
        });
        hold(begins);
        transaction.close();
        assertThat(hold.released).containsExactly(1_000L);
        mayGoOn.countDown();
        brings.get();
        assertThat(hold.released).hasSize(1);
    }

    private static void hold(CountDownLatch latch) {
        try {
            assertThat(latch.await(3 * PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Its lease has given way by then: what is asked for next is no second upgrade beside a reader. */
    @Test
    void theNextRequestIsSentAfterALateGrantHasBegun() throws Exception {
        transaction.lock("x", LockMode.SHARED);
        losesChanges = true;
        asksToWrite();
        CountDownLatch first = new CountDownLatch(1);
        mayWithdraw = first;
        Running<Boolean> cancels = inThread(() -> transaction.cancel("x"));
        await().atMost(PATIENCE).until(() -> transaction.status() == Status.HELD);
        asksToWrite();
        refusesChanges = true;
        mayWithdraw = new CountDownLatch(0);
        sinks.get(1).granted(hold(), 1_000);
        first.countDown();
        cancels.get();
        assertThat(transaction.status()).isEqualTo(Status.HELD);
        assertThat(transaction.believed()).containsEntry(X, LockMode.EXCLUSIVE);
    }

    /** Whoever asks looks at one lease after the other, and the grant moves on between two looks. */
    @Test
    void aGrantIsBelievedWhileItBecomesThatOfAnotherLease() throws Exception {
        ResolvedOptions options = client.context().resolve(LockOptions.none());
        for (int i = 0; i < 2_000; i++) {
            HeldLease from = new HeldLease(client.context(), LockKey.lock(X), LockMode.SHARED, 1, options);
            HeldLease to = new HeldLease(client.context(), LockKey.lock(X), LockMode.EXCLUSIVE, 1, options);
            from.begin(hold(), 1);
            CountDownLatch looks = new CountDownLatch(1);
            Running<Boolean> believed = inThread(() -> {
                boolean always = true;
                looks.countDown();
                while (to.isAwaited() || from.phase() != HeldLease.Phase.RELEASED) {
                    always &= from.isGrantBelieved();
                }
                return always && from.isGrantBelieved();
            });
            hold(looks);
            assertThat(from.giveWay(to, hold(), 2)).isTrue();
            assertThat(believed.get()).isTrue();
            to.close();
        }
    }

    /** The monitor of a lease is its user's. */
    @Test
    void aThreadThatHasTheMonitorOfALeaseHoldsUpNoUpgrade() throws Exception {
        Lease read = client.readWriteLock("x").read().acquire();
        CountDownLatch over = new CountDownLatch(1);
        CountDownLatch has = new CountDownLatch(1);
        Running<Boolean> keeps = inThread(() -> {
            synchronized (read) {
                has.countDown();
                hold(over);
            }
            return true;
        });
        hold(has);
        Running<Optional<Lease>> upgrade =
                inThread(() -> client.readWriteLock("x").tryUpgrade(read, Duration.ofMinutes(1)));
        await().atMost(PATIENCE).until(() -> upgrade.thread().getState() == Thread.State.TERMINATED);
        over.countDown();
        keeps.get();
        assertThat(upgrade.get()).isPresent();
    }

    /** Who asks without waiting does not wait either when it has lost what it had got. */
    @Test
    void whatATryHasLostIsNotWaitedForAfterwards() throws Exception {
        CompletionStage<Boolean> outcome = transaction.begin(
                List.of(new LockRequest(X, LockMode.EXCLUSIVE), LockRequest.exclusive(UNANSWERED)), false);
        await().atMost(PATIENCE).until(() -> transaction.believed().containsKey(X));
        sinks.get(0).ended(LeaseLoss.Cause.BROKEN, "broken");
        assertThat(calls).containsExactly("submit, at once", "submit, at once", "submit, at once");
        assertThat(outcome).succeedsWithin(PATIENCE).isEqualTo(false);
    }
}
