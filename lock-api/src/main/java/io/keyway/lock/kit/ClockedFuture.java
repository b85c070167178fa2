// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.spi.TimeSource;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;

/**
 * A future of a client whose time a test moves: who waits for it without a limit of his own waits as in a call that
 * blocks, by {@link TimeSource#await}. So do those who wait for what is chained to it.
 */
final class ClockedFuture<T> extends CompletableFuture<T> {

    private final TimeSource time;

    private ClockedFuture(TimeSource time) {
        this.time = time;
    }

    /** Returns a future for the user of a client; a plain one on the machine's clock. */
    static <T> CompletableFuture<T> on(TimeSource time) {
        return time.manual() ? new ClockedFuture<>(time) : new CompletableFuture<>();
    }

    /** Returns the stage that the user may see of that future, which he cannot complete. */
    static <T> CompletionStage<T> stage(CompletableFuture<T> future) {
        return future instanceof ClockedFuture<?> ? future.copy() : future.minimalCompletionStage();
    }

    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
        return new ClockedFuture<>(time);
    }

    @Override
    public T get() throws InterruptedException, ExecutionException {
        waitForEnd();
        return super.get();
    }

    @Override
    public T join() {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    waitForEnd();
                    return super.join();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void waitForEnd() throws InterruptedException {
        if (isDone()) {
            return;
        }
        CompletableFuture<Boolean> end = new CompletableFuture<>();
        CompletionStage<T> watched = this;
        watched.whenComplete((value, failure) -> end.complete(true));
        try {
            time.await(end);
        } catch (ExecutionException e) {
            throw new IllegalStateException("the end of a future cannot fail", e);
        }
    }
}
