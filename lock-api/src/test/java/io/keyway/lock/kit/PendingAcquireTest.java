// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.Lease;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Option;
import io.keyway.lock.Renewal;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.LockEngine;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Request;
import io.keyway.lock.spi.TimeSource;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class PendingAcquireTest {
    private static final LockKey KEY = LockKey.lock(LockName.of("x"));
    private static final Duration TTL = Duration.ofSeconds(10);

    private final List<String> asked = new CopyOnWriteArrayList<>();
    private final List<Runnable> due = new CopyOnWriteArrayList<>();
    private @Nullable Error failing;
    private final ClientContext client = new ClientContext(
            (LockEngine) Proxy.newProxyInstance(
                    LockEngine.class.getClassLoader(),
                    new Class<?>[] {LockEngine.class},
                    (proxy, method, arguments) -> {
                        if (method.getName().equals("time")) {
                            return failingTime();
                        }
                        asked.add(method.getName());
                        return null;
                    }),
            Settings.of(
                    LockUrl.parse("lock:test://x"),
                    ClientOptions.defaults(),
                    new StillTime(),
                    PendingAcquireTest::byDefault),
            new EventDispatcher(Runnable::run));

    private TimeSource failingTime() {
        return new StillTime() {
            @Override
            public Scheduled at(long atNanos, Runnable task) {
                if (failing != null) {
                    throw failing;
                }
                due.add(task);
                return super.at(atNanos, task);
            }
        };
    }

    private static <T> T byDefault(Option<T> option) {
        return option.defaultValue().orElseThrow();
    }

    /** A failure there: the engine goes on, the caller gets it, and the store keeps nothing. */
    @Test
    void aGrantThatCannotBeginEndsItsRequestAndNothingElse() {
        Owner owner = new Owner("a", Map.of());
        Duration ages = Duration.ofSeconds(1);
        ResolvedOptions options = new ResolvedOptions(TTL, ages, null, Renewal.AUTO, owner, null, Duration.ZERO);
        failing = new OutOfMemoryError("on purpose");
        List<Long> abandoned = new ArrayList<>();
        LockEngine.Hold hold = hold(abandoned);
        HeldLease asked = new HeldLease(client, KEY, LockMode.EXCLUSIVE, 1, options);
        PendingAcquire pending = new PendingAcquire(
                client, asked, new Request(1, KEY, LockMode.EXCLUSIVE, 1, 1, TTL, true, owner), null);
        CompletionStage<Optional<Lease>> outcome = pending.send();

        asked.granted(hold, 7);

        assertThat(outcome.toCompletableFuture()).isCompletedExceptionally();
        assertThatThrownBy(() -> outcome.toCompletableFuture().join()).hasCause(failing);
        assertThat(asked.isHeld()).isFalse();

        HeldLease atHand = new HeldLease(client, KEY, LockMode.EXCLUSIVE, 1, options);
        atHand.granted(hold, 8);
        assertThat(atHand.isHeld()).isFalse();

        assertThat(abandoned).containsExactly(7L, 8L);
        assertThat(client.leases().close()).isEmpty();
    }

    /** "Taken" is what the store said last, or it is no answer. */
    @Test
    void whatTheStoreGrantsToNobodyIsNotTakenWhateverItSaidBefore() {
        Owner owner = new Owner("a", Map.of());
        ResolvedOptions options = new ResolvedOptions(TTL, null, null, Renewal.AUTO, owner, null, Duration.ZERO);
        Request request = new Request(1, KEY, LockMode.EXCLUSIVE, 1, 1, TTL, true, owner);
        for (boolean heldInTheEnd : new boolean[] {false, true}) {
            due.clear();
            HeldLease lease = new HeldLease(client, KEY, LockMode.EXCLUSIVE, 1, options);
            PendingAcquire pending = new PendingAcquire(client, lease, request, Duration.ofSeconds(1));
            CompletableFuture<Optional<Lease>> outcome = pending.send().toCompletableFuture();
            lease.waiting(OptionalInt.of(1), List.of());
            assertThat(pending.silentFor()).isEqualTo(-1);
            lease.closed("it was just started");
            assertThat(pending.isAnswered()).isFalse();
            assertThat(pending.silentFor()).isZero();
            if (heldInTheEnd) {
                lease.waiting(OptionalInt.of(1), List.of());
            }

            List.copyOf(due).forEach(Runnable::run);

            if (heldInTheEnd) {
                assertThat(outcome).isCompletedWithValue(Optional.empty());
            } else {
                assertThatThrownBy(outcome::join)
                        .hasCauseInstanceOf(LockUnavailableException.class)
                        .hasMessageContaining("it was just started");
            }
        }
    }

    private static LockEngine.Hold hold(List<Long> abandoned) {
        return (LockEngine.Hold) Proxy.newProxyInstance(
                LockEngine.class.getClassLoader(),
                new Class<?>[] {LockEngine.Hold.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "abandon" -> {
                        abandoned.add((Long) arguments[0]);
                        yield CompletableFuture.completedStage(Answer.DONE);
                    }
                    case "ttl" -> TTL;
                    case "deadlineNanos" -> TTL.toNanos() / 4 * 3;
                    case "server" -> Optional.empty();
                    default -> throw new AssertionError(method);
                });
    }

    /** As where one thread closes a transaction while another is about to send a request of it. */
    @Test
    void whatWasGivenUpBeforeItWasSentIsNotSentAndLeavesNothing() {
        Owner owner = new Owner("a", Map.of());
        ResolvedOptions options = new ResolvedOptions(TTL, null, null, Renewal.AUTO, owner, null, Duration.ZERO);
        HeldLease lease = new HeldLease(client, KEY, LockMode.EXCLUSIVE, 1, options);
        Request request = new Request(1, KEY, LockMode.EXCLUSIVE, 1, 1, TTL, true, owner);
        PendingAcquire pending = new PendingAcquire(client, lease, request, null);

        assertThat(pending.withdraw()).isTrue();
        assertThat(pending.send().toCompletableFuture()).isCancelled();

        assertThat(asked).doesNotContain("submit");
        assertThat(client.pending().close()).isEmpty();
    }
}
