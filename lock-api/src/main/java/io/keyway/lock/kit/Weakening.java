// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.Lease;
import io.keyway.lock.LockMode;
import io.keyway.lock.spi.Request;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * A change of a grant's mode to a weaker one. Its user does without the rest from the start, since the authority lets
 * others in when it hears of it; the lease in the old mode lives until that in the new one takes its place. Both may be
 * released at any time: a change that is granted after that is given back by the request, one that was granted before
 * is the new lease's.
 *
 * @param to the lease in the new mode
 * @param pending the request
 */
record Weakening(HeldLease to, PendingAcquire pending) {
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
        return new Weakening(to, new PendingAcquire(client, to, request, null, from));
    }

    CompletionStage<Optional<Lease>> send() {
        return pending.send();
    }
}
