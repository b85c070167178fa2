// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.client;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.GrantHandle;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.service.Participant;
import io.keyway.lock.peer.service.ParticipantList;
import io.keyway.lock.spi.TreeModes;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A grant as its helper knows it. Whether it is in use and believed is in its handle. */
final class ClientGrant {
    /** In which it was granted, or confirmed after a restart of the member. */
    Peer session;

    final long request;
    final GrantHandle handle;
    /** Others wait: no caching, no local hand-over. Stays until the grant ends, even if they leave. */
    boolean wanted;
    /** The cache is full. */
    boolean evicted;
    /** The member restarted, or another one serves; belief stays where it was until the grant is re-asserted. */
    boolean frozen;
    /** The new member confirmed it, but the echo that thaws it has not been taken. */
    boolean reasserted;
    /** The token in use of the grant whose change of mode brought this one; 0 if none did. */
    long before;
    /** The weaker mode in which its user wants it, which has done without the rest since it asked; null if none. */
    @Nullable
    LockMode weaker;
    /** It reached nobody. */
    boolean unused;
    /** Too little belief is left for another use; a KEEP was sent. */
    boolean confirming;

    ClientGrant(Peer session, long request, GrantHandle handle) {
        this.session = session;
        this.request = request;
        this.handle = handle;
    }

    /** A grant of one token is never cached. */
    boolean cacheable() {
        return handle.hi() > handle.token();
    }

    boolean mustReturn() {
        return wanted || evicted || !cacheable() || handle.isUsedUp();
    }

    boolean fits(Waiter waiter) {
        LockCall.Acquire call = waiter.call;
        return call.atLeast() == 0
                && handle.fits(call.mode(), call.permits(), call.capacity(), call.ttl(), call.owner());
    }

    /** Whether it is of that ttl, and its belief moves with the session's. */
    boolean isBelieved(long ttl) {
        return !frozen && handle.ttl() == ttl;
    }

    boolean isExclusive() {
        return handle.mode().isAlone();
    }

    /** Its user wants it in another mode. */
    void wants(LockMode mode) {
        LockMode has = handle.mode();
        boolean isWeaker = (has.isTree() && mode.isTree()) ? TreeModes.covers(has, mode) : has == LockMode.EXCLUSIVE;
        weaker = isWeaker ? mode : null;
    }

    /** The present use, as a holder. */
    List<Participant> holder(long now) {
        return List.of(new Participant(
                handle.owner(), handle.mode(), handle.permits(), handle.current(), now - handle.since()));
    }

    /** An answer to a question of the manager: which of those grants are in use, and who waits at this client. */
    static void answer(
            Peer from, LockMessage.Query query, Iterable<ClientGrant> grants, WaiterList waiting, Turn turn) {
        ParticipantList all = new ParticipantList();
        for (ClientGrant grant : grants) {
            Participant holder = grant.holder(turn.now()).get(0);
            if (holder.token() != 0) {
                all.add(holder);
            }
        }
        waiting.participants(turn.now(), all);
        for (ParticipantList.Part part : all.parts()) {
            turn.send(
                    from,
                    new LockMessage.Use(
                            query.key(), query.query(), part.holders(), part.waiters(), part.more(), part.last()));
        }
    }

    /** Why it is over, for people. */
    static String why(LockMessage.Revoke revoke) {
        return switch (revoke.cause()) {
            case BROKEN -> revoke.reason().isEmpty() ? "broken by an administrator" : "broken: " + revoke.reason();
            case DENIED -> "the member that serves now did not take it over";
            default -> revoke.reason().isEmpty() ? "the member did not hear from this client in time" : revoke.reason();
        };
    }

    /** Tells the user that belief in it may end. */
    void doubt(String why, Turn turn) {
        GrantHandle.Use use = handle.use();
        if (use != null) {
            turn.tell(new LockNotice.Doubted(handle.key(), use.token(), why, use.user()));
        }
    }

    /** Tells the user that the doubt is over. */
    void certain(Turn turn) {
        GrantHandle.Use use = handle.use();
        if (use != null) {
            turn.tell(new LockNotice.Certain(handle.key(), use.token(), use.user()));
        }
    }

    LockMessage.Release release(Key key) {
        return new LockMessage.Release(key, handle.token(), used());
    }

    /** The last token that somebody had; below the first one if nobody had any. */
    long used() {
        return unused ? handle.token() - 1 : handle.used();
    }

    LockMessage.Reassert reassertion(Key key) {
        return new LockMessage.Reassert(
                key,
                request,
                handle.token(),
                handle.used(),
                handle.hi(),
                weaker == null ? handle.mode() : weaker,
                handle.permits(),
                handle.ttl(),
                handle.owner());
    }

    /** It is one of that session from here on. */
    void thaw(Peer to) {
        session = to;
        frozen = false;
        reasserted = false;
        confirming = false;
    }

    ClientGrant copy() {
        ClientGrant copy = new ClientGrant(session, request, handle.copy());
        copy.wanted = wanted;
        copy.evicted = evicted;
        copy.unused = unused;
        copy.frozen = frozen;
        copy.reasserted = reasserted;
        copy.confirming = confirming;
        copy.before = before;
        copy.weaker = weaker;
        return copy;
    }

    void encode(StateEncoder out) {
        out.put(session).put(request).put(wanted).put(evicted).put(unused);
        out.put(frozen).put(reasserted).put(confirming).put(before).put(weaker == null ? "" : weaker.name());
        handle.encode(out);
    }
}
