// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.history;

import io.keyway.lock.Lease;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/** Futures that stand before a client's own and alter the lease. */
public final class LeaseFutures {
    private LeaseFutures() {}

    /** What the other comes to, altered. */
    public static CompletableFuture<Lease> lease(CompletableFuture<Lease> own, UnaryOperator<Lease> altered) {
        return follow(own, altered, Lease::releaseAsync);
    }

    /** What the other comes to, altered. */
    public static CompletableFuture<Optional<Lease>> found(
            CompletableFuture<Optional<Lease>> own, UnaryOperator<Lease> altered) {
        return follow(own, found -> found.map(altered), found -> found.ifPresent(Lease::releaseAsync));
    }

    /**
     * What {@code cancel} and {@code orTimeout} of the caller do must reach the client's own future, and a lease that
     * comes at the same time must not be left behind.
     */
    private static <T> CompletableFuture<T> follow(
            CompletableFuture<T> own, Function<T, T> altered, Consumer<T> unwanted) {
        CompletableFuture<T> shown = new CompletableFuture<>();
        CompletionStage<T> outcome = own;
        outcome.whenComplete((value, failure) -> {
            if (failure != null) {
                shown.completeExceptionally(failure);
                return;
            }
            T result = altered.apply(value);
            if (!shown.complete(result)) {
                unwanted.accept(result);
            }
        });
        CompletionStage<T> end = shown;
        end.whenComplete((value, failure) -> own.cancel(false));
        return shown;
    }
}
