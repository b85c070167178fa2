// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import io.keyway.lock.LockKey;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Request;

/** What a mutant makes of a request: the same but for one thing. */
final class AlteredRequests {
    private AlteredRequests() {}

    static Request withId(Request request, long id) {
        return of(request, id, request.queue(), request.owner());
    }

    static Request withoutQueue(Request request) {
        return of(request, request.id(), false, request.owner());
    }

    static Request queued(Request request) {
        return of(request, request.id(), true, request.owner());
    }

    static Request by(Owner owner, Request request) {
        return of(request, request.id(), request.queue(), owner);
    }

    static Request of(LockKey key, Request request) {
        return of(key, request, request.id(), request.queue(), request.owner());
    }

    private static Request of(Request request, long id, boolean queue, Owner owner) {
        return of(request.key(), request, id, queue, owner);
    }

    private static Request of(LockKey key, Request request, long id, boolean queue, Owner owner) {
        return new Request(
                id,
                key,
                request.mode(),
                request.permits(),
                request.capacity(),
                request.ttl(),
                queue,
                owner,
                request.holdAtLeast(),
                request.perResource(),
                request.quiet());
    }
}
