// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class FenceGuardTest {
    private static final LockName A = LockName.of("a");
    private static final LockName B = LockName.of("b");

    private final FenceGuard guard = FenceGuard.inMemory();

    @Test
    void refusesALowerTokenAndTakesAnEqualOne() {
        assertThat(guard.admits(A, 5)).isTrue();
        assertThat(guard.admits(A, 5)).isTrue();
        assertThat(guard.admits(A, 4)).isFalse();
        assertThat(guard.admits(A, 6)).isTrue();
        assertThat(guard.admits(A, 5)).isFalse();
        assertThat(guard.admits(B, 1)).isTrue();
        assertThat(guard.admits(LockName.of("c"), Long.MIN_VALUE)).isTrue();
    }

    @Test
    void runsEffectsInTheOrderOfTokens() throws Exception {
        HeapLock lock = new HeapLock();
        Lease first = lock.acquire();
        lock.lose();
        Lease second = lock.acquire();
        List<Long> effects = new ArrayList<>();

        assertThat(guard.run(first, lease -> effects.add(lease.token()))).isTrue();
        assertThat(guard.run(second, lease -> effects.add(lease.token()))).isTrue();
        assertThat(guard.run(second, lease -> effects.add(lease.token()))).isTrue();
        assertThat(guard.run(first, lease -> effects.add(lease.token()))).isFalse();
        assertThat(guard.admits(first)).isFalse();
        assertThat(guard.admits(second)).isTrue();
        assertThat(effects).containsExactly(1L, 2L, 2L);
    }

    @Test
    void noEffectIsOvertakenBetweenCheckAndEnd() throws Exception {
        HeapLock lock = new HeapLock();
        Lease first = lock.acquire();
        lock.lose();
        Lease second = lock.acquire();
        List<String> trace = Collections.synchronizedList(new ArrayList<>());
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        CompletableFuture<Void> slow = CompletableFuture.runAsync(() -> {
            try {
                guard.run(first, lease -> {
                    inside.countDown();
                    goOn.await();
                    trace.add("first");
                });
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        inside.await();
        CompletableFuture<Void> next =
                CompletableFuture.runAsync(() -> guard.run(second, lease -> trace.add("second")));

        assertThat(trace).isEmpty();
        goOn.countDown();
        slow.join();
        next.join();
        assertThat(trace).containsExactly("first", "second");
    }

    @Test
    void tokenOfAFailedEffectCounts() throws Exception {
        HeapLock lock = new HeapLock();
        Lease lease = lock.acquire();

        assertThatThrownBy(() -> guard.run(lease, held -> {
                    throw new IOException("disk");
                }))
                .isInstanceOf(IOException.class);
        assertThat(guard.admits(lock.name(), lease.token() - 1)).isFalse();
    }

    @Test
    void ordersExclusiveLeasesOnly() {
        Lease shared = (Lease) Proxy.newProxyInstance(
                Lease.class.getClassLoader(),
                new Class<?>[] {Lease.class},
                (proxy, method, args) -> switch (method.getName()) {
                    case "mode" -> LockMode.SHARED;
                    case "name" -> A;
                    default -> throw new AssertionError(method);
                });

        assertThatIllegalArgumentException()
                .isThrownBy(() -> guard.admits(shared))
                .withMessageContaining("SHARED");
        assertThatIllegalArgumentException().isThrownBy(() -> guard.run(shared, lease -> {}));
    }

    @Test
    void refusesFurtherNamesWhenFullRatherThanForget() {
        FenceGuard small = FenceGuard.inMemory(1);
        assertThat(small.admits(A, 5)).isTrue();

        assertThatIllegalStateException().isThrownBy(() -> small.admits(B, 1)).withMessageContaining("1 names");
        assertThat(small.admits(A, 4)).isFalse();
        small.forget(B);
        small.forget(A);
        assertThat(small.admits(B, 1)).isTrue();
        assertThatIllegalStateException().isThrownBy(() -> small.admits(A, 6));
        assertThatIllegalArgumentException().isThrownBy(() -> FenceGuard.inMemory(0));
    }

    @Test
    void highestWinsUnderContention() {
        List<CompletableFuture<Void>> threads = new ArrayList<>();
        List<Long> effects = Collections.synchronizedList(new ArrayList<>());
        for (int t = 0; t < 4; t++) {
            long start = t;
            threads.add(CompletableFuture.runAsync(() -> {
                for (long token = start; token < 20_000; token += 4) {
                    if (guard.admits(A, token)) {
                        effects.add(token);
                    }
                }
            }));
        }
        threads.forEach(CompletableFuture::join);

        assertThat(effects).doesNotHaveDuplicates().contains(19_999L);
        assertThat(guard.admits(A, 19_998)).isFalse();
    }
}
