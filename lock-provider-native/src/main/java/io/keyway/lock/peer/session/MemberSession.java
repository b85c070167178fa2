// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.MemberView.Grant;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One live session at its member, and the grants and waits in it by ttl: one deadline serves all grants of a ttl.
 */
final class MemberSession {
    /** No link has this number. */
    static final long NO_LINK = -1;

    /** A grant of this session. */
    record Held(Key key, long token) {
        @Override
        public boolean equals(Object other) {
            return other instanceof Held held && token == held.token && key.equals(held.key);
        }

        @Override
        public int hashCode() {
            return key.hashCode() * 31 + Long.hashCode(token);
        }
    }

    /** The grants and waits of one ttl. */
    private static final class TtlClass {
        final long ttl;
        final Set<Held> grants = new LinkedHashSet<>(4);
        /** How often each key waits. */
        final Map<Key, Integer> waits = new LinkedHashMap<>(4);

        TtlClass(long ttl) {
            this.ttl = ttl;
        }

        boolean isEmpty() {
            return grants.isEmpty() && waits.isEmpty();
        }
    }

    final Peer peer;
    /** The id of the member that the client is; empty if it is none. */
    final String from;

    final Incarnation client;
    final long life;
    final long guard;
    MessageStream stream = new MessageStream();
    final Set<Key> listeners = new LinkedHashSet<>(4);
    /** The smallest ttl first. One that is in use no more stays until room is made for another. */
    private final List<TtlClass> classes = new ArrayList<>(1);
    /** The link that was admitted last, or {@link #NO_LINK}. */
    long link = NO_LINK;
    /** When the last frame came: every grant lives for its ttl from here. */
    long heard;

    boolean stamped;
    /** The highest stamp processed, once {@link #stamped}. */
    long stamp;
    /** A stamp was taken that is not echoed yet. */
    boolean owes;
    /** When it has to be, if the other side is not waiting for it; {@link Turn#NEVER} if it is. */
    long echoBy = Turn.NEVER;
    /** The last message that a frame has acknowledged. */
    long acknowledged;
    /** The next flush looks at it. */
    boolean dirty;
    /** The longest ttl with which its client is noted by a majority, where one leads; and with which it was to be. */
    long noted;

    long holding;

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
        for (int i = classes.size() - 1; i >= 0; i--) {
            if (!classes.get(i).isEmpty()) {
                return Math.max(idle, classes.get(i).ttl);
            }
        }
        return idle;
    }

    /** The next time at which something of it ends or is sent again. */
    long due(long idle) {
        long due = heard + patience(idle);
        long smallest = smallestGranted();
        if (smallest != 0 && heard + smallest - due < 0) {
            due = heard + smallest;
        }
        return connected() ? Turn.earlier(Turn.earlier(due, stream.resendAt()), echoBy) : due;
    }

    void stamped(long newer) {
        if (!stamped || newer - stamp > 0) {
            stamp = newer;
        }
        stamped = true;
        owes = true;
    }

    /**
     * A stamp came with those messages. Another member hears answers on the session that is dialled towards it, and a
     * client that asks for something in a message of its own: all that they wait for besides is to know that the link
     * lives, and that they need not send again.
     */
    void stampedWith(List<Message> messages, long newer, long nanos, long now) {
        boolean waitedFor = owes && echoBy == Turn.NEVER;
        stamped(newer);
        if (!from.isEmpty() || (!waitedFor && areAnswered(messages))) {
            echoBy = echoBy == Turn.NEVER ? now + nanos : echoBy;
        } else {
            echoBy = Turn.NEVER;
        }
    }

    private static boolean areAnswered(List<Message> messages) {
        for (int i = 0; i < messages.size(); i++) {
            if (!messages.get(i).isAnswered()) {
                return false;
            }
        }
        return !messages.isEmpty();
    }

    /** Whether there is an echo to be sent now. */
    boolean owesNow(long now) {
        return owes
                && (echoBy == Turn.NEVER
                        || now - echoBy >= 0
                        || stream.received() - acknowledged >= MessageStream.WINDOW / 2);
    }

    /** A frame goes out that acknowledges all that came. */
    void answered(boolean echoed) {
        acknowledged = stream.received();
        if (echoed) {
            owes = false;
            echoBy = Turn.NEVER;
        }
    }

    // Grants and waits

    void grant(Key key, long token, long ttl) {
        of(ttl).grants.add(new Held(key, token));
    }

    void ungrant(Key key, long token, long ttl) {
        TtlClass of = find(ttl);
        if (of != null) {
            of.grants.remove(new Held(key, token));
        }
    }

    void await(Key key, long ttl) {
        of(ttl).waits.merge(key, 1, Integer::sum);
    }

    void unawait(Key key, long ttl) {
        TtlClass of = find(ttl);
        if (of != null) {
            of.waits.computeIfPresent(key, (same, times) -> times == 1 ? null : times - 1);
        }
    }

    private @Nullable TtlClass find(long ttl) {
        for (int i = 0; i < classes.size(); i++) {
            if (classes.get(i).ttl == ttl) {
                return classes.get(i);
            }
        }
        return null;
    }

    private TtlClass of(long ttl) {
        TtlClass known = find(ttl);
        if (known != null) {
            return known;
        }
        classes.removeIf(TtlClass::isEmpty);
        int place = 0;
        while (place < classes.size() && classes.get(place).ttl < ttl) {
            place++;
        }
        TtlClass fresh = new TtlClass(ttl);
        classes.add(place, fresh);
        return fresh;
    }

    /** The smallest ttl in use, or that one if none is. */
    long smallest(long otherwise) {
        for (int i = 0; i < classes.size(); i++) {
            if (!classes.get(i).isEmpty()) {
                return classes.get(i).ttl;
            }
        }
        return otherwise;
    }

    /** The smallest ttl of a grant; 0 if there is none. */
    long smallestGranted() {
        for (int i = 0; i < classes.size(); i++) {
            if (!classes.get(i).grants.isEmpty()) {
                return classes.get(i).ttl;
            }
        }
        return 0;
    }

    /** The largest ttl of a grant; 0 if there is none. */
    long largestGranted() {
        for (int i = classes.size() - 1; i >= 0; i--) {
            if (!classes.get(i).grants.isEmpty()) {
                return classes.get(i).ttl;
            }
        }
        return 0;
    }

    /** Takes out all grants of the smallest ttl that has any, in the order in which they were given. */
    List<Held> expireSmallest() {
        Set<Held> grants = of(smallestGranted()).grants;
        List<Held> over = List.copyOf(grants);
        grants.clear();
        return over;
    }

    /** All keys with a grant, a wait or an ear, each once. */
    Set<Key> keys() {
        Set<Key> keys = new LinkedHashSet<>();
        for (TtlClass of : classes) {
            for (Held held : of.grants) {
                keys.add(held.key());
            }
            keys.addAll(of.waits.keySet());
        }
        keys.addAll(listeners);
        return keys;
    }

    /** All keys with a wait. */
    void waiting(Set<Key> into) {
        for (TtlClass of : classes) {
            into.addAll(of.waits.keySet());
        }
    }

    void grants(List<Grant> into) {
        for (TtlClass of : classes) {
            for (Held held : of.grants) {
                into.add(new Grant(peer, held.key(), held.token(), of.ttl));
            }
        }
    }

    MemberSession copy() {
        MemberSession copy = new MemberSession(peer, from, client, life, guard, heard);
        copy.stream = stream.copy();
        copy.listeners.addAll(listeners);
        for (TtlClass of : classes) {
            if (!of.isEmpty()) {
                TtlClass twin = new TtlClass(of.ttl);
                twin.grants.addAll(of.grants);
                twin.waits.putAll(of.waits);
                copy.classes.add(twin);
            }
        }
        copy.link = link;
        copy.stamped = stamped;
        copy.stamp = stamp;
        copy.owes = owes;
        copy.echoBy = echoBy;
        copy.acknowledged = acknowledged;
        copy.noted = noted;
        copy.holding = holding;
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
        out.put(stamped).put(owes).time(echoBy).put(noted).put(holding);
        out.put(stream.received() != acknowledged);
        if (stamped) {
            out.time(stamp);
        }
        out.time(listedAt).put(listeners.size());
        for (Key key : listeners) {
            out.put(key);
        }
        stream.encode(out);
        for (TtlClass of : classes) {
            if (!of.isEmpty()) {
                encode(of, out);
            }
        }
        out.put(0);
    }

    private static void encode(TtlClass of, StateEncoder out) {
        out.put(of.ttl).put(of.grants.size());
        for (Held held : of.grants) {
            out.put(held.key()).put(held.token());
        }
        out.put(of.waits.size());
        for (Map.Entry<Key, Integer> wait : of.waits.entrySet()) {
            out.put(wait.getKey()).put(wait.getValue());
        }
    }
}
