// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.ClientClosedException;
import io.keyway.lock.ClientOptions;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockTransaction;
import io.keyway.lock.LockUrl;
import io.keyway.lock.TransactionOptions;
import io.keyway.lock.spi.LockEngine;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An engine that throws where the interface does not say so: nobody waits for it forever, and close ends all. */
class FailingEngineTest extends ReferenceClients {

    private static final LockUrl URL = LockUrl.parse("lock:reference://failing?closeTimeout=2s&name=failing");

    /** The methods of the engine that fail. */
    private final Set<String> failing = ConcurrentHashMap.newKeySet();

    private LockClient other;
    private EngineClient client;

    @BeforeEach
    void openBoth() {
        other = open(URL.toString(), ClientOptions.defaults().withName("other"));
        client = beside(other, URL, "failing", ClientOptions.defaults(), this::altered);
    }

    private LockEngine altered(LockEngine engine) {
        return (LockEngine) Proxy.newProxyInstance(
                LockEngine.class.getClassLoader(), new Class<?>[] {LockEngine.class}, (proxy, method, arguments) -> {
                    if (failing.contains(method.getName())) {
                        throw new IllegalStateException(method.getName() + " fails");
                    }
                    return invoke(engine, method, arguments);
                });
    }

    @Test
    void closeEndsAllThoughWithdrawalsFail() throws Exception {
        Lease held = other.lock("x").acquire();
        Lease own = client.lock("y").acquire();
        List<CompletableFuture<Lease>> waiting =
                List.of(client.lock("x").acquireAsync(), client.lock("x").acquireAsync());
        Running<Lease> blocked = inThread(() -> client.lock("x").acquire());
        awaitWaiters(other, "x", 3);
        failing.add("withdraw");
        client.close();
        assertThat(waiting)
                .allSatisfy(future -> assertThatThrownBy(future::join).hasCauseInstanceOf(ClientClosedException.class));
        assertThatThrownBy(blocked::get).hasCauseInstanceOf(ClientClosedException.class);
        assertThat(own.lost().toCompletableFuture().join().cause()).isEqualTo(LeaseLoss.Cause.CLIENT_CLOSED);
        assertThat(threadsOf("failing")).isEmpty();
        assertThat(waiters(other, "x"))
                .as("the engine withdrew them when it closed")
                .isZero();
        held.close();
        assertEmpty(other);
    }

    @Test
    void closeEndsTheRestThoughTheEngineFails() throws Exception {
        Lease own = client.lock("y").acquire();
        failing.add("close");
        client.close();
        assertThat(own.state()).isEqualTo(Lease.State.LOST);
        failing.clear();
        client.context().engine().close();
        assertThat(threadsOf("failing")).isEmpty();
    }

    @Test
    void aWaitEndsThoughItsWithdrawalFails() throws Exception {
        Lease held = other.lock("x").acquire();
        failing.add("withdraw");
        assertThat(client.lock("x").tryAcquire(Duration.ofMillis(500))).isEmpty();
        failing.clear();
        client.close();
        held.close();
    }

    @Test
    void aTransactionHearsOfARequestThatTheEngineThrowsOut() {
        failing.add("reacquire");
        TransactionView transaction =
                new TransactionView(client.context(), TransactionOptions.defaults(), LockOptions.none());
        Running<Boolean> locks = inThread(() -> {
            transaction.lock("x");
            return true;
        });
        assertThatThrownBy(locks::get).hasStackTraceContaining("reacquire fails");
        assertThat(transaction.status()).isEqualTo(LockTransaction.Status.NO_LOCKS);
        transaction.close();
    }

    /** Time may have passed: in each step is decided what that brings, also in one that refuses what its user asked. */
    @Test
    void whatAStepHasDecidedIsDoneThoughItThrows() {
        TransactionView transaction =
                new TransactionView(client.context(), TransactionOptions.defaults(), LockOptions.none());
        AtomicInteger done = new AtomicInteger();
        assertThatThrownBy(() -> transaction.decide(() -> {
                    transaction.then(done::incrementAndGet);
                    throw new IllegalStateException("refused");
                }))
                .hasMessage("refused");
        assertThat(done).hasValue(1);
        transaction.close();
    }

    @Test
    void whatFailedToStartIsToldAndNotKept() {
        failing.addAll(Set.of("submit", "submitWaiting"));
        CompletableFuture<Lease> future = client.lock("x").acquireAsync();
        assertThatThrownBy(future::join).hasMessageContaining("submit fails");
        assertThatThrownBy(() -> client.lock("x").tryAcquireAsync(Duration.ZERO).join())
                .hasMessageContaining("submit fails");
        assertThatThrownBy(() -> client.lock("x").acquire()).hasMessageContaining("submitWaiting fails");
        failing.add("reacquire");
        assertThatThrownBy(() -> client.lock("x").acquireAsync().join()).hasMessageContaining("reacquire fails");
        assertThat(client.context().pending().close()).isEmpty();
        client.close();
    }
}
