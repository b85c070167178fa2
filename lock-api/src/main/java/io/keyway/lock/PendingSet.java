// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import io.keyway.lock.spi.ClientServices;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A set of locks on its way to a future, without a thread of its own.
 *
 * <p><b>States.</b> It asks for one lock at a time. Whoever learns what became of that asks for the next, so that the
 * leases are touched by one thread at a time. It is over when its future is complete: by us, with the set, empty or a
 * failure, or by anybody else.
 *
 * <p><b>Invariants.</b> Each request has one outcome, which comes here: when it is over by then, all that is held goes
 * back, what has just come included. Who ends it from outside withdraws the request under way; a request that is made
 * at that moment finds it over and is withdrawn by its maker.
 */
final class PendingSet<T> {
    private final List<DistributedLock> locks;
    private final @Nullable TimeLimit limit;
    private final boolean attempts;
    private final Function<Optional<LeaseSet>, T> shape;
    private final ClientServices services;
    private final GatheredLeases leases;
    private final CompletableFuture<T> told;
    private volatile @Nullable CompletableFuture<?> asked;

    /** {@code wait} is null for one without end; {@code shape} makes what the future has. */
    PendingSet(
            ClientServices services,
            List<DistributedLock> locks,
            @Nullable Duration wait,
            Function<Optional<LeaseSet>, T> shape) {
        this.services = services;
        this.locks = locks;
        this.attempts = wait != null && (wait.isNegative() || wait.isZero());
        this.limit = wait == null || attempts ? null : TimeLimit.in(wait, services.time());
        this.shape = shape;
        this.leases = new GatheredLeases(locks.size());
        this.told = services.future();
    }

    CompletableFuture<T> begin() {
        CompletionStage<T> seen = told;
        seen.whenComplete((result, failure) -> withdraw());
        ask();
        return told;
    }

    private void withdraw() {
        CompletableFuture<?> current = asked;
        if (current != null) {
            current.cancel(false);
        }
    }

    private void ask() {
        if (leases.complete()) {
            LeaseSet all = HeldSet.of(services, leases.all());
            if (!told.complete(shape.apply(Optional.of(all)))) {
                all.releaseAsync();
            }
            return;
        }
        DistributedLock lock = locks.get(leases.next());
        Duration left = attempts ? Duration.ZERO : limit == null ? null : limit.left();
        if (left == null) {
            CompletableFuture<Lease> next = lock.acquireAsync();
            under(next);
            CompletionStage<Lease> outcome = next;
            outcome.whenComplete((lease, failure) -> came(Optional.ofNullable(lease), failure));
        } else if (left.isZero() && !attempts) {
            came(Optional.empty(), null);
        } else {
            CompletableFuture<Optional<Lease>> next = lock.tryAcquireAsync(left);
            under(next);
            CompletionStage<Optional<Lease>> outcome = next;
            outcome.whenComplete((lease, failure) -> came(lease == null ? Optional.empty() : lease, failure));
        }
    }

    private void under(CompletableFuture<?> request) {
        asked = request;
        if (told.isDone()) {
            request.cancel(false);
        }
    }

    private void came(Optional<Lease> lease, @Nullable Throwable failure) {
        lease.ifPresent(leases::add);
        if (lease.isPresent() && !told.isDone()) {
            ask();
            return;
        }
        leases.giveBack(false);
        if (failure != null) {
            told.completeExceptionally(failure);
        } else {
            told.complete(shape.apply(Optional.empty()));
        }
    }
}
