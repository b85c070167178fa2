// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.reference;

import io.keyway.lock.LockMode;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Request;
import org.jspecify.annotations.Nullable;

/** A request of one client, in the queue or among the holders. */
final class Place {

    final ReferenceStore.Session session;
    final long since;
    Request request;
    long token;
    long expires;

    /** What an upgraded holder was, until its client has shown that it knows of the upgrade. */
    private @Nullable Grant before;

    Place(ReferenceStore.Session session, Request request, long now) {
        this.session = session;
        this.request = request;
        this.since = now;
    }

    boolean is(ReferenceStore.Session owner, long id) {
        return session == owner && request.id() == id;
    }

    /** The same holder, by another request and token. */
    void become(Request wanted, long newToken) {
        before = grant();
        request = wanted;
        token = newToken;
    }

    /** The client knows what it holds. */
    void known() {
        before = null;
    }

    /** Becomes what it was before an upgrade; false if there was none to undo. */
    boolean undo() {
        Grant old = before;
        if (old == null || request.mode() != LockMode.EXCLUSIVE) {
            return false;
        }
        request = new Request(old.id(), old.key(), LockMode.SHARED, 1, 1, old.ttl(), request.queue(), request.owner());
        token = old.token();
        before = null;
        return true;
    }

    Grant grant() {
        return new Grant(request.id(), request.key(), token, request.ttl(), "");
    }

    Attempt granted() {
        return new Attempt.Granted(grant());
    }
}
