// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.Canon;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.Turn;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The session of a client with one incarnation of its member. */
final class OpenSession {
    final Peer peer;
    final Incarnation member;
    Stream stream = new Stream();
    Retry retry = new Retry();
    Beliefs beliefs;
    /** When the last frame came. */
    long heard;

    boolean stamped;
    /** The last stamp sent, once {@link #stamped}. */
    long stamp;
    /** Since when an echo is missing; {@link Turn#NEVER} if none is. */
    long owedSince = Turn.NEVER;
    /** When the messages that came are to be acknowledged at the latest. */
    long ackBy = Turn.NEVER;
    /** A stamped frame is to be sent by the next flush; an acknowledgement is. */
    boolean keepNow;

    boolean ackNow;
    private final TreeMap<Long, List<Key>> receipts = new TreeMap<>();
    private final Set<Key> unstampedConfirms = new LinkedHashSet<>();
    private final Map<Key, Long> confirms = new LinkedHashMap<>();

    OpenSession(Peer peer, Incarnation member, long now) {
        this.peer = peer;
        this.member = member;
        heard = now;
        beliefs = new Beliefs(now);
    }

    /** When the last stamp was sent, or the session was opened. */
    long lastStamp() {
        return stamped ? stamp : heard;
    }

    void stamped(long clock, long now) {
        stamped = true;
        stamp = clock;
        if (owedSince == Turn.NEVER) {
            owedSince = now;
        }
        for (Key key : unstampedConfirms) {
            confirms.put(key, clock);
        }
        unstampedConfirms.clear();
        keepNow = false;
        ackBy = Turn.NEVER;
        ackNow = false;
    }

    void confirm(Key key) {
        unstampedConfirms.add(key);
        keepNow = true;
    }

    /** Takes the keys whose confirmation has come. */
    void confirmed(Set<Key> into) {
        if (confirms.isEmpty()) {
            return;
        }
        Set<Key> done = new LinkedHashSet<>();
        for (Map.Entry<Key, Long> entry : confirms.entrySet()) {
            if (beliefs.covers(entry.getValue())) {
                done.add(entry.getKey());
            }
        }
        for (Key key : done) {
            confirms.remove(key);
        }
        into.addAll(done);
    }

    void receipt(Key key, long number) {
        receipts.computeIfAbsent(number, fresh -> new ArrayList<>(1)).add(key);
    }

    /** Takes the receipts of the first message that is acknowledged; null if there is none. */
    Map.@Nullable Entry<Long, List<Key>> received() {
        return receipts.isEmpty() || receipts.firstKey() > stream.acked() ? null : receipts.pollFirstEntry();
    }

    /** Nothing is believed or expected any more. */
    void leave(long now) {
        beliefs = new Beliefs(now);
        receipts.clear();
        unstampedConfirms.clear();
        confirms.clear();
    }

    boolean owed() {
        return owedSince != Turn.NEVER;
    }

    /** True if something that was sent is not answered. */
    boolean outstanding() {
        return owed() || stream.unacknowledged();
    }

    /** All keys that must hear of its end, each once, and some that need not. */
    void keys(Set<Key> into) {
        beliefs.holders(into);
        for (List<Key> waiting : receipts.values()) {
            into.addAll(waiting);
        }
        into.addAll(unstampedConfirms);
        into.addAll(confirms.keySet());
    }

    OpenSession copy() {
        OpenSession copy = new OpenSession(peer, member, heard);
        copy.stream = stream.copy();
        copy.retry = retry.copy();
        copy.beliefs = beliefs.copy();
        copy.stamped = stamped;
        copy.stamp = stamp;
        copy.owedSince = owedSince;
        copy.ackBy = ackBy;
        copy.keepNow = keepNow;
        copy.ackNow = ackNow;
        for (Map.Entry<Long, List<Key>> entry : receipts.entrySet()) {
            copy.receipts.put(entry.getKey(), new ArrayList<>(entry.getValue()));
        }
        copy.unstampedConfirms.addAll(unstampedConfirms);
        copy.confirms.putAll(confirms);
        return copy;
    }

    void encode(Canon out) {
        out.put(peer).put(member.high()).put(member.low()).time(heard);
        out.put(stamped).time(stamped ? stamp : Turn.NEVER).time(owedSince).time(ackBy);
        out.put(keepNow).put(ackNow);
        stream.encode(out);
        retry.encode(out);
        beliefs.encode(out);
        for (Map.Entry<Long, List<Key>> entry : receipts.entrySet()) {
            out.put(entry.getKey()).value(entry.getValue());
        }
        out.value(unstampedConfirms).put(confirms.size());
        for (Map.Entry<Key, Long> entry : confirms.entrySet()) {
            out.put(entry.getKey()).time(entry.getValue());
        }
    }
}
