// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** One live session at its member. */
final class MemberSession {
    /** No link has this number. */
    static final long NO_LINK = -1;

    final Peer peer;
    /** The id of the member that the client is; empty if it is none. */
    final String from;

    final Incarnation client;
    final long life;
    final long guard;
    MessageStream stream = new MessageStream();
    TtlClasses classes = new TtlClasses();
    final Set<Key> listeners = new LinkedHashSet<>();
    /** The link that was admitted last, or {@link #NO_LINK}. */
    long link = NO_LINK;
    /** When the last frame came: every grant lives for its ttl from here. */
    long heard;

    boolean stamped;
    /** The highest stamp processed, once {@link #stamped}. */
    long stamp;
    /** A stamp was taken that is not echoed yet. */
    boolean owes;
    /** The next flush looks at it. */
    boolean dirty;

    /**
     * The time under which this session stands in the list of dues; {@link Turn#NEVER} if it does not. Never later than
     * it should.
     */
    long listedAt = Turn.NEVER;

    MemberSession(Peer peer, String from, Incarnation client, long life, long guard, long heard) {
        this.peer = peer;
        this.from = from;
        this.client = client;
        this.life = life;
        this.guard = guard;
        this.heard = heard;
    }

    List<Long> bytes() {
        if (life == 0) {
            return List.of();
        }
        return guard == 0 ? List.of(life) : List.of(life, guard);
    }

    boolean connected() {
        return link != NO_LINK;
    }

    /** How long the session may be silent. */
    long patience(long idle) {
        return classes.largest(idle);
    }

    /** The next time at which something of it ends or is sent again. */
    long due(long idle) {
        long due = heard + patience(idle);
        long smallest = classes.smallestGranted();
        if (smallest != 0 && heard + smallest - due < 0) {
            due = heard + smallest;
        }
        if (connected()) {
            due = Turn.earlier(due, stream.resendAt());
        }
        return due;
    }

    void stamped(long newer) {
        if (!stamped || newer - stamp > 0) {
            stamp = newer;
        }
        stamped = true;
        owes = true;
    }

    MemberSession copy() {
        MemberSession copy = new MemberSession(peer, from, client, life, guard, heard);
        copy.stream = stream.copy();
        copy.classes = classes.copy();
        copy.listeners.addAll(listeners);
        copy.link = link;
        copy.stamped = stamped;
        copy.stamp = stamp;
        copy.owes = owes;
        copy.listedAt = listedAt;
        return copy;
    }

    void encode(StateEncoder out) {
        out.put(peer)
                .put(client.high())
                .put(client.low())
                .put(life)
                .put(guard)
                .put(link)
                .time(heard);
        out.put(stamped).put(owes);
        if (stamped) {
            out.time(stamp);
        }
        out.time(listedAt).put(listeners.size());
        for (Key key : listeners) {
            out.put(key);
        }
        stream.encode(out);
        classes.encode(out);
    }
}
