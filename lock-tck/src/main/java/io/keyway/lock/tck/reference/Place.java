// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.reference;

import io.keyway.lock.LockMode;
import io.keyway.lock.LockStatus;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Request;
import java.time.Duration;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** A request of one client, in the queue of an entry or among its holders. Times are of the store's clock. */
public final class Place {

    final Session session;
    final long since;
    Request request;

    /** Of a holder; 0 in the queue. */
    long token;

    /** When it is given up unless it is heard of before. */
    long expires;

    /** Why an operator ended it; it keeps its place until its holder has answered, or can believe no more. */
    @Nullable
    String broken;

    /** What an upgraded holder was, until its client has shown by a renewal that it knows of the upgrade. */
    private @Nullable Request before;

    private long tokenBefore;

    Place(Session session, Request request, long since) {
        this.session = session;
        this.request = request;
        this.since = since;
    }

    /** Returns whose it is. */
    public Session session() {
        return session;
    }

    /** Returns what was asked. */
    public Request request() {
        return request;
    }

    /** Returns when it joined the queue, or was granted. */
    public long since() {
        return since;
    }

    /** The same holder, by another request and token. */
    void become(Request wanted, long newToken) {
        before = request;
        tokenBefore = token;
        request = wanted;
        token = newToken;
    }

    void known() {
        before = null;
    }

    /** Becomes what it was before an upgrade that its client does not know of; false if there was none. */
    boolean undo() {
        Request reader = before;
        if (reader == null || request.mode() != LockMode.EXCLUSIVE) {
            return false;
        }
        request = reader;
        token = tokenBefore;
        before = null;
        return true;
    }

    boolean isOf(Session client, long id) {
        return session == client && request.id() == id;
    }

    boolean isOver(long now) {
        return now - expires >= 0;
    }

    /** Returns the grant of a holder. */
    public Grant grant() {
        return new Grant(request.id(), request.key(), token, request.ttl(), "");
    }

    LockStatus.Holder holder(long now) {
        return new LockStatus.Holder(
                request.owner().client(),
                request.mode(),
                request.permits(),
                OptionalLong.of(token),
                Duration.ofNanos(now - since),
                request.owner().metadata());
    }

    LockStatus.Waiter waiter(long now) {
        return new LockStatus.Waiter(
                request.owner().client(),
                request.mode(),
                request.permits(),
                OptionalLong.empty(),
                Duration.ofNanos(now - since),
                request.owner().metadata());
    }
}
