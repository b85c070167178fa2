// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.reference;

import io.keyway.lock.LockMode;
import io.keyway.lock.LockStatus;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Request;
import java.time.Duration;
import java.util.Optional;
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

    /**
     * Until when a holder stays after its release, and after the end of its term, if it was to be held at least so
     * long.
     */
    long keptUntil;

    long outlastsTermUntil;

    /** It is no grant any more, and stays for what is left of that time. */
    boolean kept;

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
        return now - leaves() >= 0;
    }

    /** Whether it holds, and nothing has ended that yet. */
    boolean holds(Session client, long id) {
        return !kept && isOf(client, id);
    }

    /** A holder was released; false if nothing keeps its place. */
    boolean keep(long now) {
        kept = now - keptUntil < 0;
        return kept;
    }

    /** The term of a holder has ended. */
    void outlastTerm() {
        keptUntil = outlastsTermUntil;
        kept = true;
    }

    /** When it leaves unless it is heard of before. */
    long leaves() {
        if (token == 0 || broken != null) {
            return expires;
        }
        if (kept) {
            return keptUntil;
        }
        return outlastsTermUntil - expires > 0 ? outlastsTermUntil : expires;
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
                request.owner().metadata(),
                kept || now - expires >= 0 ? Optional.of(Duration.ofNanos(leaves() - now)) : Optional.empty());
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
