// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.ClientClosedException;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLostException;
import io.keyway.lock.LeaseSet;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockRequest;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.TransactionOptions;
import io.keyway.lock.spi.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Takes locks that are several grants, all or none, for users who have no transaction: by one that asks for all levels
 * of trees, or at all nodes, and ends when all are held. So whoever waits in it is found where transactions wait for
 * each other; it is never aborted, since nobody was told of anything that it holds.
 */
final class TransactionLocks {
    /**
     * What is held.
     *
     * @param set all of it
     * @param leases its grants, from the root down
     */
    record Taken(LeaseSet set, List<Lease> leases) {}

    private final ClientContext client;
    private final List<LockRequest> requests;
    private final List<LockName> names;
    private final LockOptions options;
    private final TransactionOptions ofTransaction;

    private TransactionLocks(
            ClientContext client, List<LockRequest> requests, LockOptions options, TransactionOptions ofTransaction) {
        this.client = client;
        this.requests = List.copyOf(requests);
        this.names = requests.stream().map(LockRequest::name).toList();
        this.options = options;
        this.ofTransaction = ofTransaction;
        transaction(); // refuses options that its locks cannot have
    }

    /** Locks of trees. */
    static TransactionLocks ofTrees(ClientContext client, List<LockRequest> requests, LockOptions options) {
        return new TransactionLocks(
                client, requests, options, TransactionOptions.defaults().withTree(true));
    }

    /** A lock over nodes, which waits for those that are away. */
    static TransactionLocks overNodes(ClientContext client, LockRequest request, LockOptions options) {
        return new TransactionLocks(
                client, List.of(request), options, TransactionOptions.defaults().withAwaitNodes(true));
    }

    private TransactionView transaction() {
        return new TransactionView(client, ofTransaction, options);
    }

    /** {@code wait}: null to wait without end; zero or less asks once. */
    Optional<Taken> take(@Nullable Duration wait) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException("interrupted before asking for " + names);
        }
        client.ensureOpen(names.get(0));
        boolean once = wait != null && wait.compareTo(Duration.ZERO) <= 0;
        long end = wait == null || once ? 0 : deadline(wait);
        Duration left = wait;
        while (true) {
            try (TransactionView transaction = transaction()) {
                if (once ? !transaction.tryAll(requests, Duration.ZERO) : !isHeld(transaction, wait, left)) {
                    return Optional.empty();
                }
                List<Lease> leases = transaction.handOver();
                if (!leases.isEmpty()) {
                    return Optional.of(taken(leases));
                }
            } catch (LeaseLostException e) {
                // The grant of one level was over before that of the last one came.
                client.ensureOpen(names.get(0));
            }
            if (once) {
                return Optional.empty();
            }
            left = wait == null ? null : Duration.ofNanos(end - client.time().nanoTime());
            if (left != null && left.compareTo(Duration.ZERO) <= 0) {
                return Optional.empty();
            }
        }
    }

    /** Asks for all, and waits for {@code left} of the limit; without a limit for null. */
    private boolean isHeld(TransactionView transaction, @Nullable Duration limit, @Nullable Duration left)
            throws InterruptedException {
        boolean held = transaction.lockAll(requests, left);
        LockUnavailableException silence = held || limit == null ? null : transaction.silence(limit);
        if (silence != null) {
            throw silence;
        }
        return held;
    }

    private long deadline(Duration wait) {
        return client.time().nanoTime() + Waits.nanos(wait);
    }

    private Taken taken(List<Lease> leases) {
        return new Taken(LeaseSet.of(new ContextServices(client), leases, shown(leases)), leases);
    }

    /** A lock over nodes has no grant of its own name. */
    private List<LockName> shown(List<Lease> leases) {
        List<LockName> granted = leases.stream().map(Lease::name).toList();
        return granted.containsAll(names) ? names : granted;
    }

    /** As {@link #take}, without a thread; {@code shape} makes what the future has. */
    <T> CompletableFuture<T> takeAsync(@Nullable Duration wait, Function<Optional<Taken>, T> shape) {
        CompletableFuture<T> told = ClockedFuture.on(client.time());
        boolean once = wait != null && wait.compareTo(Duration.ZERO) <= 0;
        take(told, wait, wait == null || once ? 0 : deadline(wait), once, shape);
        return told;
    }

    /** Until {@code end}, if there is a limit. */
    private <T> void take(
            CompletableFuture<T> told,
            @Nullable Duration wait,
            long end,
            boolean once,
            Function<Optional<Taken>, T> shape) {
        if (client.closed()) {
            told.completeExceptionally(new ClientClosedException(client.name(), names.get(0)));
            return;
        }
        TransactionView transaction = transaction();
        // Whoever completes it, but us: nobody will take the leases.
        CompletionStage<T> seen = told;
        seen.whenComplete((result, failure) -> transaction.closeAsync());
        try {
            CompletionStage<Boolean> all = transaction.begin(requests, !once);
            if (wait != null && !once) {
                TimeSource.Scheduled limit = client.time().at(end, () -> timeUp(transaction, wait, told, shape));
                seen.whenComplete((result, failure) -> limit.cancel());
            }
            all.whenComplete((held, failure) -> {
                List<Lease> leases = failure == null && held ? transaction.handOver() : List.of();
                boolean lost = failure == null ? held && leases.isEmpty() : failure instanceof LeaseLostException;
                if (lost && !once && !told.isDone()) {
                    // The grant of one level was over before that of the last one came.
                    transaction.closeAsync();
                    take(told, wait, end, false, shape);
                } else if (failure != null && !lost) {
                    client.events().complete(() -> told.completeExceptionally(failure));
                } else {
                    outcome(told, leases.isEmpty() ? Optional.empty() : Optional.of(taken(leases)), shape);
                }
            });
        } catch (RuntimeException | Error e) {
            told.completeExceptionally(e);
        }
    }

    private <T> void timeUp(
            TransactionView transaction, Duration wait, CompletableFuture<T> told, Function<Optional<Taken>, T> shape) {
        LockUnavailableException silence = transaction.silence(wait);
        if (silence != null) {
            client.events().complete(() -> told.completeExceptionally(silence));
        } else {
            outcome(told, Optional.empty(), shape);
        }
    }

    private <T> void outcome(CompletableFuture<T> told, Optional<Taken> result, Function<Optional<Taken>, T> shape) {
        client.events().complete(() -> {
            boolean taken = false;
            try {
                taken = told.complete(shape.apply(result));
            } catch (RuntimeException | Error e) {
                told.completeExceptionally(e);
            }
            if (!taken) {
                result.ifPresent(each -> each.set().releaseAsync());
            }
        });
    }
}
