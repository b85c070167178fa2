// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LeaseLoss.Cause;
import io.keyway.lock.LockEvent;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Option;
import io.keyway.lock.Renewal;
import io.keyway.lock.spi.LockEngine;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.TimeSource;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** An end that comes while a grant is being handed out is told, once, after it. */
class LeaseStateTest {

    private static final Duration TTL = Duration.ofSeconds(10);

    private final ClientContext client = new ClientContext(
            engine(),
            Settings.of(
                    LockUrl.parse("lock:test://x"),
                    ClientOptions.defaults(),
                    new StillTime(),
                    LeaseStateTest::byDefault),
            new EventDispatcher(Runnable::run));

    private static <T> T byDefault(Option<T> option) {
        return option.defaultValue().orElseThrow();
    }

    private static TestHold hold() {
        return new TestHold(TTL, () -> TTL.toNanos() / 4 * 3);
    }

    private static LockEngine engine() {
        TimeSource time = new StillTime();
        return (LockEngine) Proxy.newProxyInstance(
                LockEngine.class.getClassLoader(), new Class<?>[] {LockEngine.class}, (proxy, method, arguments) -> {
                    assertThat(method.getName())
                            .as("all that a lease asks of its engine")
                            .isEqualTo("time");
                    return time;
                });
    }

    private HeldLease lease() {
        return new HeldLease(
                client,
                LockKey.lock(LockName.of("x")),
                LockMode.EXCLUSIVE,
                1,
                new ResolvedOptions(TTL, null, null, Renewal.AUTO, new Owner("a", Map.of()), null, Duration.ZERO));
    }

    @Test
    void anEndBeforeTheBeginningIsKeptForIt() {
        List<LockEvent.Type> told = told();
        HeldLease lease = lease();

        lease.ended(Cause.BROKEN, "for a test");

        assertThat(lease.phase()).isEqualTo(HeldLease.Phase.PENDING);
        assertThat(told).isEmpty();
        lease.granted(hold(), 7);
        assertThat(lease.phase()).isEqualTo(HeldLease.Phase.LOST);
        assertThat(lease.loss()).isEqualTo(new LeaseLoss(Cause.BROKEN, Duration.ZERO, Optional.empty(), "for a test"));
        assertThat(told).containsExactly(LockEvent.Type.GRANTED, LockEvent.Type.LOST);
    }

    @Test
    void aSecondGrantIsReleasedByItsTokenAndTheFirstStays() {
        HeldLease lease = lease();
        TestHold first = hold();
        TestHold second = hold();

        lease.granted(first, 7);
        lease.granted(second, 8);

        assertThat(lease.isHeld()).isTrue();
        assertThat(lease.token()).isEqualTo(7);
        assertThat(first.released).isEmpty();
        assertThat(second.released).containsExactly(8L);
    }

    @Test
    void anEndThatMeetsTheBeginningIsToldOnce() throws Exception {
        for (int i = 0; i < 100; i++) {
            List<LockEvent.Type> told = told();
            HeldLease lease = lease();
            CountDownLatch both = new CountDownLatch(2);
            CompletableFuture<Void> end = CompletableFuture.runAsync(() -> {
                meet(both);
                lease.ended(Cause.BROKEN, "");
            });
            meet(both);
            lease.granted(hold(), 7);
            end.get();

            assertThat(lease.phase()).isEqualTo(HeldLease.Phase.LOST);
            assertThat(told).containsOnlyOnce(LockEvent.Type.LOST);
        }
    }

    private List<LockEvent.Type> told() {
        List<LockEvent.Type> told = new CopyOnWriteArrayList<>();
        client.addListener(event -> told.add(event.type()));
        return told;
    }

    private static void meet(CountDownLatch both) {
        both.countDown();
        while (both.getCount() > 0) {
            Thread.onSpinWait();
        }
    }
}
