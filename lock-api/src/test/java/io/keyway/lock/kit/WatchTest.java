// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockSnapshot;
import io.keyway.lock.Subscription;
import io.keyway.lock.UnsupportedFeatureException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Watchers over a store that tells nothing by itself; what they see is judged by the compatibility kit too. */
class WatchTest extends ReferenceClients {
    private static final String REAL = "lock:reference://watch";
    private static final LockKey KEY = LockKey.lock("x");
    private static final Duration OFTEN = Duration.ofMillis(10);

    private final List<LockSnapshot> told = new CopyOnWriteArrayList<>();

    private boolean isFree() {
        return !told.isEmpty() && told.get(told.size() - 1).isFree();
    }

    @Test
    void whatCannotBeIsRefused() {
        LockClient a = open("a");
        assertThatThrownBy(() -> a.watch(KEY, Duration.ZERO, told::add)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> a.watch("", told::add)).isInstanceOf(IllegalArgumentException.class);
        LockClient blind = open("lock:reference://unseen?without=list", ClientOptions.defaults());
        assertThatThrownBy(() -> blind.watch("x", told::add)).isInstanceOf(UnsupportedFeatureException.class);
    }

    @Test
    void aSlowListenerIsToldTheNewest() throws Exception {
        LockClient holder = open(REAL, ClientOptions.defaults().withName("holder"));
        LockClient watcher = open(REAL, ClientOptions.defaults().withName("watcher"));
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        Lease last;
        try (Subscription watch = watcher.watch(KEY, OFTEN, now -> {
            told.add(now);
            begun.countDown();
            try {
                goOn.await(3, TimeUnit.MINUTES);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        })) {
            assertThat(begun.await(3, TimeUnit.MINUTES)).isTrue();
            for (int i = 0; i < 20; i++) {
                holder.lock("x").acquire().release();
            }
            last = holder.lock("x").acquire();
            assertThat(told).hasSize(1);
            goOn.countDown();
            await().atMost(PATIENCE)
                    .until(() -> told.get(told.size() - 1).status().holders().stream()
                            .anyMatch(each -> each.token().getAsLong() == last.token()));
        }
        assertThat(told.get(0).isFree()).isTrue();
        // One more at the most was found by the question that was under way.
        assertThat(told).hasSizeLessThan(5).extracting(LockSnapshot::version).isSorted();
        last.release();
    }

    @Test
    void aListenerThatThrowsIsToldTheNext() throws Exception {
        LockClient holder = open(REAL, ClientOptions.defaults().withName("holder"));
        try (Subscription watch = holder.watch(KEY, OFTEN, now -> {
            told.add(now);
            throw new IllegalStateException("of the test");
        })) {
            await().atMost(PATIENCE).until(this::isFree);
            Lease lease = holder.lock("x").acquire();
            await().atMost(PATIENCE).until(() -> !isFree());
            lease.release();
            await().atMost(PATIENCE).until(this::isFree);
        }
    }

    @Test
    void waitersOfOneNameAreToldApart() throws Exception {
        LockClient holder = open(REAL, ClientOptions.defaults().withName("holder"));
        LockClient one = open(REAL, ClientOptions.defaults().withName("twin"));
        LockClient other = open(REAL, ClientOptions.defaults().withName("twin"));
        Lease lease = holder.lock("x").acquire();
        try (Subscription watch = holder.watch(KEY, OFTEN, told::add)) {
            var first = one.lock("x").acquireAsync().toCompletableFuture();
            await().atMost(PATIENCE)
                    .until(() -> !told.isEmpty()
                            && told.get(told.size() - 1).status().waiters().size() == 1);
            var second = other.lock("x").acquireAsync().toCompletableFuture();
            await().atMost(PATIENCE)
                    .until(() -> told.get(told.size() - 1).status().waiters().size() == 2);
            first.cancel(true);
            second.cancel(true);
            await().atMost(PATIENCE)
                    .until(() -> told.get(told.size() - 1).status().waiters().isEmpty());
        }
        lease.release();
    }
}
