// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.spi;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The clock and the timers that go with it; per client. */
public interface TimeSource {
    /** {@return the monotonic time in nanoseconds; compare by difference} */
    long nanoTime();

    /**
     * Runs the task, which must be short, at or after that time, on a thread of the source.
     *
     * @param atNanos when, on {@link #nanoTime()}; at once if that is over
     * @param task what to run; it must be short and not block
     * @return the means to drop it
     */
    Scheduled at(long atNanos, Runnable task);

    /**
     * Whether a test moves this time. Then the kit has no worker threads: a call of a store runs on the thread that
     * causes it, so that everything that is due has happened when the thread that moves the time returns.
     *
     * @return whether a test moves it; false unless said otherwise
     */
    default boolean manual() {
        return false;
    }

    /**
     * Waits for the outcome of a call, on the thread that made it. A source whose time a test moves may let time pass
     * here, and fails rather than wait for a time to which nobody moves it.
     *
     * @param <T> the type of the outcome
     * @param outcome what is waited for
     * @return the outcome
     * @throws IllegalStateException if no time passes; the message says how to let it pass
     * @throws InterruptedException if the waiting thread is interrupted
     * @throws ExecutionException if the outcome is a failure; its cause says which
     */
    default <T> T await(CompletableFuture<T> outcome) throws InterruptedException, ExecutionException {
        return outcome.get();
    }

    /**
     * As {@link #await(CompletableFuture)}, until that time at most. An outcome that is there is returned, however late
     * it is.
     *
     * <p>Nothing has to be armed for that: the thread that waits sees for itself that its time is up. Only where a test
     * moves the time is this a timer, for which whoever moves it stops.
     *
     * @param <T> the type of the outcome
     * @param outcome what is waited for; it is not changed
     * @param deadlineNanos until when, on {@link #nanoTime()}; if that is over, this does not wait
     * @return the outcome
     * @throws IllegalStateException if no time passes; the message says how to let it pass
     * @throws InterruptedException if the waiting thread is interrupted
     * @throws ExecutionException if the outcome is a failure; its cause says which
     * @throws TimeoutException if there is no outcome by then
     */
    default <T> T await(CompletableFuture<T> outcome, long deadlineNanos)
            throws InterruptedException, ExecutionException, TimeoutException {
        long left = deadlineNanos - nanoTime();
        if (manual() && left > 0 && !outcome.isDone()) {
            CompletableFuture<Boolean> end = outcome.handle((value, failure) -> true);
            Scheduled timer = at(deadlineNanos, () -> end.complete(false));
            try {
                await(end);
            } finally {
                timer.cancel();
            }
            left = 0;
        }
        while (left > 0 && !outcome.isDone()) {
            try {
                return outcome.get(left, TimeUnit.NANOSECONDS);
            } catch (TimeoutException e) {
                // By the machine's clock, of which this one may be another.
                left = deadlineNanos - nanoTime();
            }
        }
        if (!outcome.isDone()) {
            throw new TimeoutException("no outcome in time");
        }
        return outcome.get();
    }

    /** A task that is due later. */
    interface Scheduled {
        /** Drops the task unless it has started; idempotent, cheap, may be called from the task. */
        void cancel();
    }
}
