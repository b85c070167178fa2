// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.Frame;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.MemberView;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.SessionLayer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The sessions of a member over links that lose nothing, so that a script can say what arrives when. A session is its
 * link.
 */
final class PlainMember implements SessionLayer, MemberView {
    private static final class Session {
        final Peer peer;
        long heard;
        long stamp = Turn.NEVER;
        long sent;
        long received;
        boolean owed;
        final List<Message> out = new ArrayList<>();
        final Map<Grant, Boolean> grants = new LinkedHashMap<>();
        final Map<Key, Integer> waits = new LinkedHashMap<>();
        final Set<Key> listeners = new LinkedHashSet<>();

        Session(long id, long now) {
            peer = new Peer(id);
            heard = now;
        }
    }

    private final TreeMap<Long, Session> sessions = new TreeMap<>();
    private final Set<Key> openers = new LinkedHashSet<>();
    private final long quarantine;
    private long opens;
    private long epoch;
    private long floor;
    private long now;

    PlainMember(long epoch, long opens, long quarantine) {
        this.epoch = epoch;
        this.opens = opens;
        this.quarantine = quarantine;
    }

    @Override
    public void begin(SessionTurn turn) {
        now = turn.now();
        if (opens != Turn.NEVER && now - opens >= 0) {
            opens = Turn.NEVER;
            tell(openers, new Opening(), turn);
        }
        for (Session session : List.copyOf(sessions.values())) {
            for (Grant grant : List.copyOf(session.grants.keySet())) {
                if (now - session.heard >= grant.ttl()) {
                    session.grants.remove(grant);
                    turn.call(grant.key(), new Expired(session.peer, grant.token()));
                }
            }
        }
        long due = opens;
        for (Session session : sessions.values()) {
            for (Grant grant : session.grants.keySet()) {
                due = Math.min(due, session.heard + grant.ttl());
            }
        }
        turn.wake(due);
    }

    private static void tell(Set<Key> keys, Call call, Turn turn) {
        List<Key> all = List.copyOf(keys);
        keys.clear();
        all.forEach(key -> turn.call(key, call));
    }

    @Override
    public void opened(long link, SessionTurn turn) {
        sessions.put(link, new Session(link, turn.now()));
    }

    @Override
    public void arrived(long link, Frame frame, SessionTurn turn) {
        Session session = sessions.get(link);
        if (session == null) {
            return;
        }
        PlainFrame plain = (PlainFrame) frame;
        for (Message message : plain.messages()) {
            session.received++;
            turn.accept(session.peer, message);
        }
        session.heard = turn.now();
        session.stamp = plain.stamp();
        session.owed = true;
        tell(session.listeners, new Heard(session.peer), turn);
    }

    /** Ends a session: its client said BYE, died, or was silent for long. */
    @Override
    public void died(long id, SessionTurn turn) {
        Session session = sessions.remove(id);
        if (session != null) {
            Set<Key> keys = new LinkedHashSet<>(session.waits.keySet());
            session.grants.keySet().forEach(grant -> keys.add(grant.key()));
            tell(keys, new SessionEnded(session.peer), turn);
        }
    }

    @Override
    public void closed(long link, String why, SessionTurn turn) {}

    @Override
    public void stalled(long nanos) {
        sessions.values().forEach(session -> session.heard += nanos);
    }

    @Override
    public void closing(SessionTurn turn) {}

    @Override
    public void forced(long ticket, SessionTurn turn) {}

    @Override
    public long send(Peer to, Message message) {
        Session session = sessions.get(to.session());
        if (session == null) {
            return 0;
        }
        session.out.add(message);
        return ++session.sent;
    }

    @Override
    public void flush(SessionTurn turn) {
        for (Session session : sessions.values()) {
            if (session.owed || !session.out.isEmpty()) {
                turn.transmit(
                        session.peer.session(),
                        new PlainFrame(
                                session.peer.session(), session.stamp, session.received, List.copyOf(session.out)));
                session.out.clear();
                session.owed = false;
            }
        }
    }

    @Override
    public long epoch() {
        return epoch;
    }

    @Override
    public boolean quarantined() {
        return opens != Turn.NEVER;
    }

    @Override
    public void awaitOpening(Key key) {
        openers.add(key);
    }

    @Override
    public long floor() {
        return floor;
    }

    @Override
    public void raiseFloor(long counter) {
        floor = Math.max(floor, counter);
    }

    @Override
    public void raiseEpoch(long higher, Turn turn) {
        epoch++;
        floor = 0;
    }

    @Override
    public boolean live(Peer peer) {
        return sessions.containsKey(peer.session());
    }

    @Override
    public long silence(Peer peer) {
        Session session = sessions.get(peer.session());
        return session == null ? Long.MAX_VALUE : now - session.heard;
    }

    @Override
    public void grant(Peer peer, Key key, long token, long ttl) {
        sessions.get(peer.session()).grants.put(new Grant(peer, key, token, ttl), true);
    }

    @Override
    public void ungrant(Peer peer, Key key, long token, long ttl) {
        Session session = sessions.get(peer.session());
        if (session != null) {
            session.grants.remove(new Grant(peer, key, token, ttl));
        }
    }

    @Override
    public void await(Peer peer, Key key, long ttl) {
        sessions.get(peer.session()).waits.merge(key, 1, Integer::sum);
    }

    @Override
    public void unawait(Peer peer, Key key, long ttl) {
        Session session = sessions.get(peer.session());
        if (session != null) {
            session.waits.computeIfPresent(key, (k, times) -> times == 1 ? null : times - 1);
        }
    }

    @Override
    public void listen(Peer peer, Key key) {
        Session session = sessions.get(peer.session());
        if (session != null) {
            session.listeners.add(key);
        }
    }

    /** Its quarantine covers that. */
    @Override
    public void keep(long until) {}

    @Override
    public long maxTtl() {
        return quarantine;
    }

    @Override
    public long quarantine() {
        return quarantine;
    }

    @Override
    public List<Grant> grants() {
        List<Grant> all = new ArrayList<>();
        sessions.values().forEach(session -> all.addAll(session.grants.keySet()));
        return all;
    }

    /** What is kept of waits, listeners and grants of all sessions. */
    int leftovers() {
        return sessions.values().stream()
                .mapToInt(session -> session.grants.size() + session.waits.size() + session.listeners.size())
                .sum();
    }

    @Override
    public PlainMember copy() {
        PlainMember copy = new PlainMember(epoch, opens, quarantine);
        copy.floor = floor;
        copy.now = now;
        copy.openers.addAll(openers);
        sessions.forEach((id, session) -> {
            Session twin = new Session(id, session.heard);
            twin.stamp = session.stamp;
            twin.sent = session.sent;
            twin.received = session.received;
            twin.owed = session.owed;
            twin.out.addAll(session.out);
            twin.grants.putAll(session.grants);
            twin.waits.putAll(session.waits);
            twin.listeners.addAll(session.listeners);
            copy.sessions.put(id, twin);
        });
        return copy;
    }

    @Override
    public void encode(StateEncoder out) {
        out.put(epoch).put(floor).time(opens).value(openers);
        sessions.values().forEach(session -> {
            out.put(session.peer)
                    .time(session.heard)
                    .time(session.stamp)
                    .put(session.sent)
                    .put(session.received);
            out.value(session.out).value(session.grants).value(session.waits).value(session.listeners);
        });
    }
}
