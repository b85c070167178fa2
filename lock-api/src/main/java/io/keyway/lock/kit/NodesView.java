// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.DistributedLock;
import io.keyway.lock.Lease;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.NodeSet;
import io.keyway.lock.spi.RaisingEngine;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * An exclusive lock over nodes with one token, for users who have no transaction: a name, nodes and options.
 *
 * <p>Each node has tokens of its own, and of a majority the highest one need not rise from holder to holder: after {a:
 * 100, b: 5} may come {b: 6, c: 1}. So whoever has been granted the lock has each of its nodes go on above the highest
 * of its tokens, and has it when all have said so. Two holders have a node in common, at which the later one was
 * granted after that: its highest token is higher. That is so whatever parts the holder has later: each majority has a
 * node in common with the one that granted it the lock first, and that node grants only above its token since.
 */
final class NodesView implements DistributedLock {
    private final ClientContext client;
    private final RaisingEngine engine;
    private final LockName name;
    private final NodeSet nodes;
    private final LockOptions given;
    private final TransactionLocks<NodesLease> locks;

    NodesView(ClientContext client, RaisingEngine engine, LockName name, NodeSet nodes, LockOptions given) {
        this.client = client;
        this.engine = engine;
        this.name = name;
        this.nodes = nodes;
        this.given = given;
        this.locks = TransactionLocks.overNodes(client, name, nodes, given);
    }

    @Override
    public LockName name() {
        return name;
    }

    @Override
    public DistributedLock with(LockOptions upper) {
        client.ensureOpen(name);
        return new NodesView(client, engine, name, nodes, given.overlaidBy(upper));
    }

    @Override
    public Lease acquire() throws InterruptedException {
        return await(take(null, Optional::orElseThrow, Runnable::run), Lease::releaseAsync);
    }

    @Override
    public Optional<Lease> tryAcquire() throws InterruptedException {
        return tryAcquire(Duration.ZERO);
    }

    @Override
    public Optional<Lease> tryAcquire(Duration wait) throws InterruptedException {
        return await(take(wait, lease -> lease, Runnable::run), lease -> lease.ifPresent(Lease::releaseAsync));
    }

    @Override
    public CompletableFuture<Lease> acquireAsync() {
        return take(null, Optional::orElseThrow, client.events()::complete);
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration wait) {
        return take(wait, lease -> lease, client.events()::complete);
    }

    /** As of {@link TransactionLocks#takeAsync}; a thread that blocks may be the one that completes users' futures. */
    private <T> CompletableFuture<T> take(
            @Nullable Duration wait, Function<Optional<Lease>, T> shape, Consumer<Runnable> tells) {
        CompletableFuture<T> told = ClockedFuture.on(client.time());
        CompletableFuture<Optional<NodesLease>> taken = locks.takeAsync(wait, lease -> lease, Runnable::run);
        CompletionStage<T> ends = told;
        ends.whenComplete((lease, failure) -> taken.cancel(false));
        CompletionStage<Optional<NodesLease>> came = taken;
        came.whenComplete((lease, failure) -> {
            if (failure != null) {
                tells.accept(() -> told.completeExceptionally(failure));
            } else if (lease.isPresent()) {
                raise(lease.get(), told, shape, tells);
            } else {
                tells.accept(() -> told.complete(shape.apply(Optional.empty())));
            }
        });
        return told;
    }

    /** Has the nodes go on above the highest token, and gives the lock to its user. */
    private <T> void raise(
            NodesLease lease, CompletableFuture<T> told, Function<Optional<Lease>, T> shape, Consumer<Runnable> tells) {
        CompletionStage<Boolean> answered;
        try {
            answered = raise(lease);
        } catch (RuntimeException | Error e) {
            answered = CompletableFuture.failedStage(e);
        }
        answered.whenComplete((raised, failure) -> tells.accept(() -> {
            // Asked now: what was held at its node until then was there before whatever that grants next.
            boolean has =
                    failure == null && raised && lease.first().stream().allMatch(HeldLease::isHeld) && lease.isHeld();
            if (has) {
                lease.lasts();
            }
            if (!has || !told.complete(shape.apply(Optional.of(lease)))) {
                lease.releaseAsync();
                told.completeExceptionally(unconfirmed(failure));
            }
        }));
    }

    /** Whether all nodes that granted it first have said so. */
    private CompletionStage<Boolean> raise(NodesLease lease) {
        CompletableFuture<Boolean> all = CompletableFuture.completedFuture(true);
        for (HeldLease part : lease.first()) {
            CompletableFuture<Boolean> raised = engine.raise(
                            part.key(), part.hold(), part.token(), lease.token(), client.requestTimeout())
                    .toCompletableFuture();
            all = all.thenCombine(raised, Boolean::logicalAnd);
        }
        return all;
    }

    private LockUnavailableException unconfirmed(@Nullable Throwable cause) {
        return new LockUnavailableException(
                name + " was granted at " + nodes + " and given back: not all of these nodes have said that their"
                        + " tokens go on above it. Try again.",
                name,
                client.server(),
                cause);
    }

    /** Waits for it; who is interrupted does not get it. */
    private <T> T await(CompletableFuture<T> outcome, Consumer<T> giveBack) throws InterruptedException {
        try {
            return client.time().await(outcome);
        } catch (InterruptedException e) {
            if (!outcome.cancel(false)) {
                CompletionStage<T> late = outcome;
                late.thenAccept(giveBack);
            }
            throw e;
        } catch (ExecutionException e) {
            throw Failures.rethrow(e.getCause());
        }
    }

    @Override
    public String toString() {
        return "DistributedLock[" + name + " at " + nodes + "]";
    }
}
