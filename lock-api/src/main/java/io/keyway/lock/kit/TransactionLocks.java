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
import io.keyway.lock.NodeSet;
import io.keyway.lock.TransactionOptions;
import io.keyway.lock.spi.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Takes locks that are several grants, all or none, for users who have no transaction: by one that asks for all levels
 * of trees, or at nodes. So a transaction that waits in it is found where transactions wait for each other; it is never
 * aborted, since nobody was told of anything that it holds.
 *
 * @param <T> what users get
 */
final class TransactionLocks<T> {
    private final ClientContext client;
    private final List<LockRequest> requests;
    private final List<LockName> names;
    private final LockOptions options;
    private final TransactionOptions ofTransaction;
    private final Function<TransactionView, Optional<T>> handOver;
    private final Consumer<T> giveBack;

    /**
     * @param handOver what the user gets of a transaction that holds all; empty if it does not any more
     * @param giveBack for what no user takes
     */
    private TransactionLocks(
            ClientContext client,
            List<LockRequest> requests,
            LockOptions options,
            TransactionOptions ofTransaction,
            Function<TransactionView, Optional<T>> handOver,
            Consumer<T> giveBack) {
        this.client = client;
        this.requests = List.copyOf(requests);
        this.names = requests.stream().map(LockRequest::name).toList();
        this.options = options;
        this.ofTransaction = ofTransaction;
        this.handOver = handOver;
        this.giveBack = giveBack;
        transaction(); // refuses options that its locks cannot have
    }

    /** Locks of trees. */
    static TransactionLocks<LeaseSet> ofTrees(ClientContext client, List<LockRequest> requests, LockOptions options) {
        List<LockName> names = requests.stream().map(LockRequest::name).toList();
        return new TransactionLocks<>(
                client,
                requests,
                options,
                TransactionOptions.defaults().withTree(true),
                transaction -> {
                    List<Lease> leases = transaction.handOver();
                    return leases.isEmpty()
                            ? Optional.empty()
                            : Optional.of(LeaseSet.of(new ContextServices(client), leases, names));
                },
                LeaseSet::releaseAsync);
    }

    /** A lock over nodes, which waits for those that are away. Its transaction goes on, and has it. */
    static TransactionLocks<NodesLease> overNodes(
            ClientContext client, LockName name, NodeSet nodes, LockOptions options) {
        return new TransactionLocks<>(
                client,
                List.of(LockRequest.exclusive(name.value()).at(nodes)),
                options,
                TransactionOptions.defaults().withAwaitNodes(true),
                transaction -> {
                    List<HeldLease> parts = transaction.partsOf(name);
                    return parts.isEmpty()
                            ? Optional.empty()
                            : Optional.of(new NodesLease(client, transaction, name, nodes, parts));
                },
                NodesLease::releaseAsync);
    }

    private TransactionView transaction() {
        return new TransactionView(client, ofTransaction, options);
    }

    /** Of trees. {@code wait}: null to wait without end; zero or less asks once. */
    Optional<T> take(@Nullable Duration wait) throws InterruptedException {
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
                Optional<T> taken = handOver.apply(transaction);
                if (taken.isPresent()) {
                    return taken;
                }
            } catch (LeaseLostException e) {
                // The grant of one level ended before the last level was granted.
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

    /** As {@link #take}, without a thread; {@code shape} makes what the future has. */
    <R> CompletableFuture<R> takeAsync(@Nullable Duration wait, Function<Optional<T>, R> shape) {
        return takeAsync(wait, shape, client.events()::complete);
    }

    /** As above; {@code tells} completes the future, which is no user's unless that is on the event executor. */
    <R> CompletableFuture<R> takeAsync(
            @Nullable Duration wait, Function<Optional<T>, R> shape, Consumer<Runnable> tells) {
        CompletableFuture<R> told = ClockedFuture.on(client.time());
        boolean once = wait != null && wait.compareTo(Duration.ZERO) <= 0;
        take(told, wait, wait == null || once ? 0 : deadline(wait), once, shape, tells);
        return told;
    }

    /** Until {@code end}, if there is a limit. */
    private <R> void take(
            CompletableFuture<R> told,
            @Nullable Duration wait,
            long end,
            boolean once,
            Function<Optional<T>, R> shape,
            Consumer<Runnable> tells) {
        if (client.closed()) {
            told.completeExceptionally(new ClientClosedException(client.name(), names.get(0)));
            return;
        }
        TransactionView transaction = transaction();
        // The grant and the end of the time: the first of them decides.
        AtomicBoolean decided = new AtomicBoolean();
        // A user who completes the future takes no leases.
        AtomicBoolean handedOver = new AtomicBoolean();
        CompletionStage<R> seen = told;
        seen.whenComplete((result, failure) -> {
            if (!handedOver.get()) {
                transaction.closeAsync();
            }
        });
        try {
            CompletionStage<Boolean> all = transaction.begin(requests, !once);
            if (wait != null && !once) {
                TimeSource.Scheduled limit = client.time().at(end, () -> {
                    if (decided.compareAndSet(false, true)) {
                        ending(told, tells, () -> timeUp(transaction, wait, told, shape, tells));
                    }
                });
                seen.whenComplete((result, failure) -> limit.cancel());
            }
            all.whenComplete((held, failure) -> {
                if (decided.compareAndSet(false, true)) {
                    ending(told, tells, () -> {
                        Optional<T> taken = failure == null && held ? handOver.apply(transaction) : Optional.empty();
                        handedOver.set(taken.isPresent());
                        boolean lost =
                                failure == null ? held && taken.isEmpty() : failure instanceof LeaseLostException;
                        if (taken.isEmpty()) {
                            // Before its caller knows, who may ask again at once.
                            transaction.closeAsync();
                        }
                        boolean hasTime =
                                wait == null || (!once && end - client.time().nanoTime() > 0);
                        if (lost && hasTime && !told.isDone()) {
                            // The grant of one level ended before the last level was granted.
                            take(told, wait, end, false, shape, tells);
                        } else if (failure != null && !lost) {
                            tells.accept(() -> told.completeExceptionally(failure));
                        } else {
                            outcome(told, taken, shape, tells);
                        }
                    });
                }
            });
        } catch (RuntimeException | Error e) {
            told.completeExceptionally(e);
        }
    }

    /** Nobody else completes the future any more: what goes wrong does. */
    private static void ending(CompletableFuture<?> told, Consumer<Runnable> tells, Runnable step) {
        try {
            step.run();
        } catch (RuntimeException | Error e) {
            tells.accept(() -> told.completeExceptionally(e));
        }
    }

    private <R> void timeUp(
            TransactionView transaction,
            Duration wait,
            CompletableFuture<R> told,
            Function<Optional<T>, R> shape,
            Consumer<Runnable> tells) {
        LockUnavailableException silence = transaction.silence(wait);
        transaction.closeAsync();
        if (silence != null) {
            tells.accept(() -> told.completeExceptionally(silence));
        } else {
            outcome(told, Optional.empty(), shape, tells);
        }
    }

    private <R> void outcome(
            CompletableFuture<R> told, Optional<T> result, Function<Optional<T>, R> shape, Consumer<Runnable> tells) {
        tells.accept(() -> {
            boolean taken = false;
            try {
                taken = told.complete(shape.apply(result));
            } catch (RuntimeException | Error e) {
                told.completeExceptionally(e);
            }
            if (!taken) {
                result.ifPresent(giveBack);
            }
        });
    }
}
