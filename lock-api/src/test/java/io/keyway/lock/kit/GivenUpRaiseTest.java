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
    private volatile boolean losesChanges;
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
        sinks.get(1)
                .granted(
                        new TestHold(TTL, () -> {
                            throw new IllegalStateException("no deadline");
                        }),
                        1_000);
        assertThat(transaction.believed()).isEmpty();
        assertThat(transaction.status()).isEqualTo(Status.LOST);
        assertThat(transaction.lost()).succeedsWithin(PATIENCE);
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
