// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.Lease;
import io.keyway.lock.LockMode;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.spi.Request;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * A change of a grant's mode to a weaker one. Its user does without the rest from the start, since the authority lets
 * others in when it hears of it; the lease in the old mode lives until that in the new one takes its place. Both may be
 * released at any time: a change that is granted after that is given back by the request, one that was granted before
 * is the new lease's.
 *
 * @param client whose it is
 * @param from the lease in the old mode
 * @param to that in the new one
 * @param pending the request
 */
record Weakening(ClientContext client, HeldLease from, HeldLease to, PendingAcquire pending) implements Releasable {
    static Weakening of(ClientContext client, HeldLease from, LockMode mode, ResolvedOptions options) {
        HeldLease to = new HeldLease(client, from.key(), mode, 1, options);
        to.ofNodes(from.isOfNodes());
        Request request = new Request(
                client.nextRequestId(),
                from.key(),
                mode,
                1,
                1,
                options.ttl(),
                true,
                options.owner(),
                options.holdAtLeast());
        return new Weakening(client, from, to, new PendingAcquire(client, to, request, null, from));
    }

    CompletionStage<Optional<Lease>> send() {
        return pending.send();
    }

    @Override
    public ReleaseOutcome release() {
        ReleaseOutcome outcome = from.release();
        Lease successor = successor();
        return successor == null ? outcome : successor.release();
    }

    @Override
    public CompletionStage<ReleaseOutcome> sendRelease() {
        CompletionStage<ReleaseOutcome> outcome = from.sendRelease();
        if (isComing()) {
            return pending.outcome().thenCompose(lease -> lease.isPresent() ? to.sendRelease() : outcome);
        }
        return pending.isGranted() && !to.isAwaited() ? to.sendRelease() : outcome;
    }

    @Override
    public void close() {
        from.close();
        Lease successor = successor();
        if (successor != null) {
            successor.close();
        }
    }

    /** The new lease, if the old one has given way to it; null if there will be none, or it releases itself. */
    private @Nullable Lease successor() {
        if (isComing() && !client.events().isInside()) {
            pending.awaitOutcome();
        } else if (isComing()) {
            // This thread may be the one that brings it.
            sendRelease();
            return null;
        }
        return pending.isGranted() && !to.isAwaited() ? to : null;
    }

    /** Whether the old lease has given way and the new one is about to begin. */
    private boolean isComing() {
        return pending.isGranted() && to.isAwaited() && !pending.outcome().isDone();
    }
}
