// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.DistributedLock;
import io.keyway.lock.Lease;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockRequest;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.NodeSet;
import io.keyway.lock.spi.NodeParts;
import io.keyway.lock.spi.RaisingEngine;
import java.time.Duration;
import java.util.List;
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
 * granted after that: its highest token is higher.
 */
final class NodesView implements DistributedLock {
    private final ClientContext client;
    private final RaisingEngine engine;
    private final LockRequest request;
    private final NodeSet nodes;
    private final LockOptions given;
    private final TransactionLocks locks;

    NodesView(ClientContext client, RaisingEngine engine, LockName name, NodeSet nodes, LockOptions given) {
        this.client = client;
        this.engine = engine;
        this.request = new LockRequest(name, LockMode.EXCLUSIVE, Optional.of(nodes));
        this.nodes = nodes;
        this.given = given;
        this.locks = TransactionLocks.overNodes(client, request, given);
    }

    @Override
    public LockName name() {
        return request.name();
    }

    @Override
    public DistributedLock with(LockOptions upper) {
        client.ensureOpen(name());
        return new NodesView(client, engine, name(), nodes, given.overlaidBy(upper));
    }

    @Override
    public Lease acquire() throws InterruptedException {
        return await(acquireAsync(), Lease::releaseAsync);
    }

    @Override
    public Optional<Lease> tryAcquire() throws InterruptedException {
        return tryAcquire(Duration.ZERO);
    }

    @Override
    public Optional<Lease> tryAcquire(Duration wait) throws InterruptedException {
        return await(tryAcquireAsync(wait), lease -> lease.ifPresent(Lease::releaseAsync));
    }

    @Override
    public CompletableFuture<Lease> acquireAsync() {
        return take(null, Optional::orElseThrow);
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration wait) {
        return take(wait, lease -> lease);
    }

    /** As of {@link TransactionLocks#takeAsync}. */
    private <T> CompletableFuture<T> take(@Nullable Duration wait, Function<Optional<Lease>, T> shape) {
        CompletableFuture<T> told = ClockedFuture.on(client.time());
        CompletableFuture<Optional<TransactionLocks.Taken>> taken = locks.takeAsync(wait, grants -> grants);
        CompletionStage<T> ends = told;
        ends.whenComplete((lease, failure) -> taken.cancel(false));
        CompletionStage<Optional<TransactionLocks.Taken>> came = taken;
        came.whenComplete((grants, failure) -> {
            if (failure != null) {
                told.completeExceptionally(failure);
            } else if (grants.isPresent()) {
                raise(grants.get(), told, shape);
            } else {
                told.complete(shape.apply(Optional.empty()));
            }
        });
        return told;
    }

    /** Has the nodes go on above the highest token, and gives the lock to its user. */
    private <T> void raise(
            TransactionLocks.Taken taken, CompletableFuture<T> told, Function<Optional<Lease>, T> shape) {
        List<HeldLease> parts = taken.leases().stream()
                .map(HeldLease.class::cast)
                .filter(lease -> isPart(lease.name()))
                .toList();
        long token = parts.stream().mapToLong(HeldLease::token).max().orElseThrow();
        CompletableFuture<Boolean> all = CompletableFuture.completedFuture(true);
        for (HeldLease part : parts) {
            CompletableFuture<Boolean> raised = engine.raise(
                            part.key(), part.hold(), part.token(), token, client.requestTimeout())
                    .toCompletableFuture();
            all = all.thenCombine(raised, Boolean::logicalAnd);
        }
        CompletionStage<Boolean> answered = all;
        answered.whenComplete((raised, failure) -> client.events().complete(() -> {
            // Asked now: what was held at its node until then was there before whatever that grants next.
            boolean has = failure == null && raised && taken.set().isHeld();
            Lease lease = new JoinedLease(name(), LockMode.EXCLUSIVE, token, taken.set(), "at " + nodes);
            if (!has) {
                told.completeExceptionally(unconfirmed(failure));
            }
            if (!has || !told.complete(shape.apply(Optional.of(lease)))) {
                lease.releaseAsync();
            }
        }));
    }

    private boolean isPart(LockName name) {
        return nodes.nodes().stream()
                .anyMatch(node -> NodeParts.part(name(), node).equals(name));
    }

    private LockUnavailableException unconfirmed(@Nullable Throwable cause) {
        return new LockUnavailableException(
                name() + " was granted at " + nodes + " and given back: not all of these nodes have said that their"
                        + " tokens go on above it. Try again.",
                name(),
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
        return "DistributedLock[" + name() + " at " + nodes + "]";
    }
}
