// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.service;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.Belief;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.lease.LeaseKeys;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.tck.process.Patience;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class GrantHandleTest {
    private static final long TTL = 8_000;
    private static final Owner OWNER = new Owner("c", Map.of("job", "x"));

    private final Belief belief = new Belief(TTL, 6_000);

    private GrantHandle handle(long token, long hi) {
        Key key = LeaseKeys.lock("a");
        LockCall.Acquire request =
                new LockCall.Acquire(1, LockMode.EXCLUSIVE, 1, 1, TTL, OWNER, true, false, 0, 0, "first");
        return new GrantHandle(key, token, hi, request, 0, belief);
    }

    private static long reuse(GrantHandle handle, long now) {
        return handle.tryReuse(LockMode.EXCLUSIVE, 1, TTL, OWNER, "user", now);
    }

    @Test
    void aReleaseGoesThroughTheCellWhileTheWordIsAttended() {
        GrantHandle handle = handle(5, 100);
        assertThat(handle.tryRelease(5, 1)).isFalse();
        handle.attend(false);
        assertThat(handle.tryRelease(4, 1)).isFalse();
        assertThat(handle.tryRelease(5, 1)).isTrue();
        assertThat(handle.tryRelease(5, 1)).isFalse();
        assertThat(reuse(handle, 2)).isEqualTo(6);
        assertThat(reuse(handle, 2)).isZero();
        assertThat(handle.holds(6, 2)).isTrue();
        assertThat(handle.holds(5, 2)).isFalse();
    }

    @Test
    void itIsReusedOnlyByEqualRequestsWithEnoughBelief() {
        GrantHandle handle = handle(5, 100);
        handle.attend(false);
        handle.tryRelease(5, 1);
        assertThat(handle.tryReuse(LockMode.EXCLUSIVE, 1, TTL + 1, OWNER, "u", 2))
                .isZero();
        assertThat(handle.tryReuse(LockMode.SHARED, 1, TTL, OWNER, "u", 2)).isZero();
        assertThat(handle.tryReuse(LockMode.EXCLUSIVE, 1, TTL, new Owner("c", Map.of()), "u", 2))
                .isZero();
        assertThat(reuse(handle, 6_000 - TTL / 8 + 1)).isZero();
        assertThat(reuse(handle, 6_000 - TTL / 8)).isEqualTo(6);
    }

    @Test
    void beliefIsComputedAtEachQuestion() {
        GrantHandle handle = handle(5, 100);
        assertThat(handle.holds(5, 5_999)).isTrue();
        assertThat(handle.holds(5, 6_000)).isFalse();
        belief.echoed(1_000);
        assertThat(handle.deadline()).isEqualTo(7_000);
        assertThat(handle.holds(5, 6_000)).isTrue();
    }

    @Test
    void aClosedWordStaysClosed() {
        GrantHandle handle = handle(5, 100);
        assertThat(handle.closeIdle()).isFalse();
        assertThat(handle.closeActive(6)).isNull();
        assertThat(Objects.requireNonNull(handle.closeActive(5)).user()).isEqualTo("first");
        assertThat(handle.closed()).isTrue();
        assertThat(handle.used()).isEqualTo(5);
        assertThat(reuse(handle, 1)).isZero();
        assertThat(handle.tryRelease(5, 1)).isFalse();
        assertThat(handle.close()).isNull();
        assertThat(handle.attend(true)).isFalse();
    }

    @Test
    void theLastTokenOfARangeGoesBackThroughTheCell() {
        GrantHandle handle = handle(5, 6);
        handle.attend(false);
        assertThat(handle.tryRelease(5, 1)).isTrue();
        assertThat(reuse(handle, 2)).isEqualTo(6);
        assertThat(handle.tryRelease(6, 3)).isFalse();
    }

    @Test
    void aHandOverNeedsTheTokenInUse() {
        GrantHandle handle = handle(5, 100);
        assertThat(handle.handOver(4, "next", 1)).isZero();
        assertThat(handle.handOver(5, "next", 1)).isEqualTo(6);
        assertThat(Objects.requireNonNull(handle.close()).user()).isEqualTo("next");
    }

    /**
     * Users take and return the lock while the cell recalls it: no token twice, never two users, and none after the
     * close.
     */
    @Test
    void aRecallAndUserThreadsAgree() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(3);
        try {
            for (int round = 0; round < 60; round++) {
                GrantHandle handle = handle(1, Tokens.RANGE);
                handle.attend(false);
                handle.tryRelease(1, 1);
                Set<Long> tokens = ConcurrentHashMap.newKeySet();
                AtomicInteger inside = new AtomicInteger();
                AtomicInteger wrong = new AtomicInteger();
                CountDownLatch started = new CountDownLatch(2);
                List<Future<?>> users = new ArrayList<>();
                for (int user = 0; user < 2; user++) {
                    users.add(pool.submit(() -> {
                        started.countDown();
                        while (!handle.closed()) {
                            long token = reuse(handle, 2);
                            if (token != 0) {
                                if (!tokens.add(token) || inside.incrementAndGet() != 1) {
                                    wrong.incrementAndGet();
                                }
                                inside.decrementAndGet();
                                if (!handle.tryRelease(token, 3)) {
                                    // Attended, or the last token: the cell would release it, in a turn of its own.
                                    while (handle.active(token)) {
                                        handle.rest(token, 3);
                                    }
                                }
                            }
                        }
                    }));
                }
                Future<?> cell = pool.submit(() -> {
                    try {
                        started.await();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                    while (!handle.closeIdle()) {
                        handle.attend(true);
                    }
                    if (inside.get() > 0 && handle.current() != 0) {
                        wrong.incrementAndGet();
                    }
                });
                cell.get(Patience.seconds(60), TimeUnit.SECONDS);
                for (Future<?> user : users) {
                    user.get(Patience.seconds(60), TimeUnit.SECONDS);
                }
                assertThat(wrong).hasValue(0);
                assertThat(tokens).allMatch(token -> token <= handle.used());
            }
        } finally {
            pool.shutdownNow();
        }
    }
}
