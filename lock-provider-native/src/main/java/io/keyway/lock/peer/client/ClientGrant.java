// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.client;

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
import io.keyway.lock.spi.Owner;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A grant as its helper knows it. Whether it is in use and believed is in its handle. */
final class ClientGrant {
    private static final Owner NOBODY = new Owner("", Map.of());

    final Peer session;
    final long request;
    final GrantHandle handle;
    /** Others wait: no caching, no local hand-over. Stays until the grant ends, even if they leave. */
    boolean wanted;
    /** The cache is full. */
    boolean evicted;
    /** The member restarted; belief stays where it was until the grant is re-asserted. */
    boolean frozen;
    /** The new member confirmed it, but the echo that thaws it has not been taken. */
    boolean reasserted;
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
        return wanted || evicted || !cacheable() || handle.used() >= handle.hi();
    }

    boolean fits(Waiter waiter) {
        LockCall.Acquire call = waiter.call;
        return call.atLeast() == 0 && handle.fits(call.mode(), call.permits(), call.ttl(), call.owner());
    }

    /** The present use, as a holder. */
    List<Participant> holder(long now) {
        return List.of(new Participant(
                handle.owner(), handle.mode(), handle.permits(), handle.current(), now - handle.since()));
    }

    /** An answer to a question of the manager: what is in use of it, and who waits at this client. */
    static void answer(
            Peer from, LockMessage.Query query, @Nullable ClientGrant asked, ParticipantList waiting, Turn turn) {
        GrantHandle handle = asked == null ? null : asked.handle;
        List<List<Participant>> parts = waiting.parts();
        for (int i = 0; i < parts.size(); i++) {
            boolean last = i == parts.size() - 1;
            turn.send(
                    from,
                    new LockMessage.Use(
                            query.key(),
                            query.query(),
                            query.token(),
                            handle == null ? 0 : handle.current(),
                            handle == null ? 0 : turn.now() - handle.since(),
                            handle == null ? NOBODY : handle.owner(),
                            parts.get(i),
                            last ? waiting.more() : 0,
                            last));
        }
    }

    /** Why it is over, for people. */
    static String why(LockMessage.Revoke revoke) {
        return switch (revoke.cause()) {
            case BROKEN -> revoke.reason().isEmpty() ? "broken by an administrator" : "broken: " + revoke.reason();
            case DENIED -> "the member restarted and refused it";
            default -> "the member did not hear from this client in time";
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
                handle.mode(),
                handle.permits(),
                handle.ttl(),
                handle.owner());
    }

    /** The same grant in another session. */
    ClientGrant thawed(Peer to) {
        ClientGrant thawed = new ClientGrant(to, request, handle);
        thawed.wanted = wanted;
        thawed.evicted = evicted;
        return thawed;
    }

    ClientGrant copy() {
        ClientGrant copy = new ClientGrant(session, request, handle.copy());
        copy.wanted = wanted;
        copy.evicted = evicted;
        copy.unused = unused;
        copy.frozen = frozen;
        copy.reasserted = reasserted;
        copy.confirming = confirming;
        return copy;
    }

    void encode(StateEncoder out) {
        out.put(session).put(request).put(wanted).put(evicted).put(unused);
        out.put(frozen).put(reasserted).put(confirming);
        handle.encode(out);
    }
}
