// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.LockException;
import io.keyway.lock.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Those who wait until a transaction holds all that was asked for: each is told once. Guarded by the transaction's
 * lock, but for the waits themselves; what is returned as a task is done when that lock is free.
 */
final class TransactionWaiters {
    private final TimeSource time;
    private final List<CompletableFuture<Boolean>> all = new ArrayList<>();

    /** Why a request failed, if nobody waited who could be told. */
    private @Nullable Throwable untold;

    TransactionWaiters(TimeSource time) {
        this.time = time;
    }

    boolean isEmpty() {
        return all.isEmpty();
    }

    /** One more waits. */
    void add(CompletableFuture<Boolean> outcome) {
        all.add(outcome);
    }

    /** It does not wait any more, whatever it was told; false if it was told. */
    boolean remove(CompletableFuture<Boolean> outcome) {
        return all.removeIf(waiter -> waiter == outcome);
    }

    /** Why a request failed before anybody waited; null if none did, or somebody was told since. */
    @Nullable
    Throwable takeUntold() {
        Throwable failure = untold;
        untold = null;
        return failure;
    }

    /** All is held. */
    Runnable done() {
        List<CompletableFuture<Boolean>> told = takeAll();
        return () -> told.forEach(each -> each.complete(true));
    }

    /** Nothing more comes of it, for that reason. */
    Runnable failed(Throwable why) {
        List<CompletableFuture<Boolean>> told = takeAll();
        return () -> told.forEach(each -> each.completeExceptionally(why));
    }

    private List<CompletableFuture<Boolean>> takeAll() {
        List<CompletableFuture<Boolean>> taken = List.copyOf(all);
        all.clear();
        return taken;
    }

    /** A request failed, which who comes next hears if nobody waits now. */
    Runnable requestFailed(Throwable why) {
        LockException known = Failures.lockException(why);
        Throwable said = known == null ? why : known;
        untold = all.isEmpty() ? said : null;
        return failed(said);
    }

    /**
     * Waits until that one is told.
     *
     * @param leaves has it wait no more, under the transaction's lock, as {@link #remove} does
     * @throws InterruptedException if interrupted before it is told
     */
    void await(CompletableFuture<Boolean> outcome, Predicate<CompletableFuture<Boolean>> leaves)
            throws InterruptedException {
        try {
            time.await(outcome);
        } catch (ExecutionException e) {
            throw Failures.rethrow(e.getCause());
        } catch (InterruptedException e) {
            interrupted(outcome, leaves, e);
        }
    }

    /** As {@link #await(CompletableFuture, Predicate)}; false if the limit is over before it is told. */
    boolean await(CompletableFuture<Boolean> outcome, Duration limit, Predicate<CompletableFuture<Boolean>> leaves)
            throws InterruptedException {
        try {
            time.await(outcome, time.nanoTime() + Waits.nanos(limit));
        } catch (ExecutionException e) {
            throw Failures.rethrow(e.getCause());
        } catch (TimeoutException e) {
            if (leaves.test(outcome)) {
                return false;
            }
            hear(outcome);
        } catch (InterruptedException e) {
            interrupted(outcome, leaves, e);
        }
        return true;
    }

    private static void interrupted(
            CompletableFuture<Boolean> outcome,
            Predicate<CompletableFuture<Boolean>> leaves,
            InterruptedException interrupt)
            throws InterruptedException {
        if (leaves.test(outcome)) {
            throw interrupt;
        }
        Thread.currentThread().interrupt();
        hear(outcome);
    }

    /** What was told as it left: a failure is told once, so that nobody else would hear it. */
    private static void hear(CompletableFuture<Boolean> told) {
        try {
            told.join();
        } catch (CompletionException e) {
            throw Failures.rethrow(e.getCause());
        }
    }
}
