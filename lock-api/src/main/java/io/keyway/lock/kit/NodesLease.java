// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LeaseLostException;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.NodeSet;
import io.keyway.lock.ReleaseOutcome;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The lease of a lock over nodes, which a transaction of its own has: that asks for further parts, and for those that
 * are lost, as long as enough are held.
 *
 * <pre>{@code
 * HELD      --too few parts are held--> a LeaseLoss, for good
 *           --release--> RELEASED
 * RELEASED  --the release finds that it was lost--> a LeaseLoss
 * }</pre>
 *
 * <p>HELD is no belief: each question asks the transaction. After a loss what is held of it goes back when the owner
 * says that it has stopped, by a release, or a quarter of the ttl later.
 */
final class NodesLease implements Lease {
    private enum Whole {
        HELD,
        RELEASED
    }

    private final ClientContext client;
    private final TransactionView transaction;
    private final LockName name;
    private final NodeSet nodes;
    private final List<HeldLease> first;
    private final long token;
    private final long since;
    private final AtomicReference<Object> state = new AtomicReference<>(Whole.HELD);
    private final AtomicBoolean ended = new AtomicBoolean();
    /** Completed by whatever thread brings the answer. */
    private final CompletableFuture<ReleaseOutcome> outcome;

    private final CompletableFuture<LeaseLoss> lost;

    /** {@code first}: the parts by which it was granted. It has what the transaction has, which it closes. */
    NodesLease(ClientContext client, TransactionView transaction, LockName name, NodeSet nodes, List<HeldLease> first) {
        this.client = client;
        this.transaction = transaction;
        this.name = name;
        this.nodes = nodes;
        this.first = List.copyOf(first);
        this.token = first.stream().mapToLong(HeldLease::token).max().orElseThrow();
        this.since = first.stream().mapToLong(HeldLease::since).max().orElseThrow();
        this.lost = ClockedFuture.on(client.time());
        this.outcome = ClockedFuture.on(client.time());
        transaction.lost().thenAccept(this::lose);
    }

    /** The parts by which it was granted. */
    List<HeldLease> first() {
        return first;
    }

    /** It has its token, at all the nodes that granted it first: from now on it outlives the loss of nodes. */
    void lasts() {
        transaction.lasts(name, token);
    }

    @Override
    public LockName name() {
        return name;
    }

    @Override
    public LockMode mode() {
        return LockMode.EXCLUSIVE;
    }

    @Override
    public int permits() {
        return 1;
    }

    @Override
    public long token() {
        return token;
    }

    @Override
    public Duration ttl() {
        return first.get(0).ttl();
    }

    @Override
    public State state() {
        Object seen = state.get();
        if (seen != Whole.HELD) {
            return seen instanceof LeaseLoss ? State.LOST : State.RELEASED;
        }
        State now = transaction.standing(name);
        if (now == State.LOST) {
            lose(transaction.lossOf(name).orElseGet(() -> gone("no renewal was confirmed in time")));
        }
        return state.get() == Whole.HELD ? now : state();
    }

    /** A loss of which no part says how it was. */
    private LeaseLoss gone(String detail) {
        return new LeaseLoss(
                LeaseLoss.Cause.EXPIRED,
                Duration.ofNanos(client.time().nanoTime() - since),
                first.get(0).hold().server(),
                detail);
    }

    @Override
    public Duration remaining() {
        return Duration.ofNanos(isHeld() ? transaction.leftOf(name) : 0);
    }

    @Override
    public boolean isHeld() {
        State seen = state();
        return seen == State.HELD || seen == State.DOUBTFUL;
    }

    @Override
    public void ensureHeld() {
        State seen = state();
        if (state.get() instanceof LeaseLoss loss) {
            throw new LeaseLostException(name, token, loss);
        } else if (seen == State.RELEASED) {
            throw new IllegalStateException(
                    "The lease of " + name + " with token " + token + " was released; acquire the lock again to go on");
        }
    }

    @Override
    public CompletionStage<LeaseLoss> lost() {
        state();
        return ClockedFuture.stage(lost);
    }

    /** Unless it is over otherwise. */
    private void lose(LeaseLoss loss) {
        if (state.compareAndSet(Whole.HELD, loss)) {
            long stopped = client.time().nanoTime() + ttl().toNanos() / 4;
            client.time().at(stopped, transaction::closeAsync);
            tell(loss);
        }
    }

    private void tell(LeaseLoss loss) {
        client.events().complete(() -> lost.complete(loss));
    }

    @Override
    public ReleaseOutcome release() {
        return end().join();
    }

    @Override
    public CompletionStage<ReleaseOutcome> releaseAsync() {
        CompletableFuture<ReleaseOutcome> told = ClockedFuture.on(client.time());
        CompletionStage<ReleaseOutcome> answer = end();
        answer.whenComplete((all, failure) -> client.events().complete(() -> told.complete(all)));
        return ClockedFuture.stage(told);
    }

    @Override
    public void close() {
        release();
    }

    /** Sends all releases, once. */
    private CompletableFuture<ReleaseOutcome> end() {
        state(); // sees a deadline that has passed
        state.compareAndSet(Whole.HELD, Whole.RELEASED);
        if (!ended.compareAndSet(false, true)) {
            return outcome;
        }
        transaction.release().whenComplete((answer, failure) -> {
            ReleaseOutcome all = failure == null ? answer : ReleaseOutcome.UNKNOWN;
            if (all == ReleaseOutcome.ALREADY_LOST) {
                LeaseLoss loss = gone("too few of its nodes still held it when the release arrived");
                if (state.compareAndSet(Whole.RELEASED, loss)) {
                    tell(loss);
                }
            }
            outcome.complete(state.get() instanceof LeaseLoss ? ReleaseOutcome.ALREADY_LOST : all);
        });
        return outcome;
    }

    @Override
    public String toString() {
        return "Lease[" + name + ", " + mode() + " at " + nodes + ", token " + token + ", " + state() + "]";
    }
}
