// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.Frame;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.MemberView;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.PeerView;
import io.keyway.lock.peer.kernel.SessionLayer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.LockMessage;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The sessions of a member at the grain of calls: what the search of the sessions alone proves is taken as given. A
 * message comes once and in order as long as its session lives, a broken connection is not seen, a session ends when
 * its client was silent for the longest lease and the search says so. Other members are peers with numbers from
 * {@link #MEMBERS} on.
 */
public final class RpcMember implements SessionLayer, MemberView, PeerView {
    /** The peer and the link of the first member of the list. */
    public static final long MEMBERS = 1_000;

    /** Sessions of clients have numbers from here on, as nothing else in an encoding has. */
    private static final long SESSIONS = 0x5E55_0000_0000L;

    /** After so long without an answer another member is suspected, as in the sessions that ship. */
    private static final long ATTENTION = 2_000_000_000L;

    private static final int MOST_SESSIONS = 1 << 16;

    /** In an encoding, here begins what is known of one session; one may be written before another as well as after. */
    public static final long PART = SESSIONS + MOST_SESSIONS;

    public static final long END_OF_PARTS = PART + 1;

    private static final class Session {
        final Peer peer;
        long heard;
        int received;
        boolean owed;
        final List<Message> out = new ArrayList<>(2);
        final Map<Grant, Boolean> grants = new LinkedHashMap<>(2);
        final Map<Key, Integer> waits = new LinkedHashMap<>(2);
        final Set<Key> listeners = new LinkedHashSet<>(2);

        Session(long id, long now) {
            peer = new Peer(id);
            heard = now;
        }

        void encode(StateEncoder out) {
            out.put(peer).time(heard).put(grants.size());
            for (Grant grant : grants.keySet()) {
                out.put(grant.key()).put(grant.token()).put(grant.ttl());
            }
            out.put(waits.size());
            waits.forEach((key, times) -> out.put(key).put(times));
            out.put(listeners.size());
            listeners.forEach(out::put);
        }

        Session copy() {
            Session twin = new Session(peer.session(), heard);
            twin.grants.putAll(grants);
            twin.waits.putAll(waits);
            twin.listeners.addAll(listeners);
            return twin;
        }
    }

    private final List<String> members;
    private final int self;
    private final long maxTtl;
    private final long quarantine;
    private final TreeMap<Long, Session> sessions = new TreeMap<>();
    /** Those of the other members that have said something. */
    private final TreeMap<Long, Session> ofMembers = new TreeMap<>();

    /** Members that are cut off from this one, and since when they are not heard. */
    private final TreeMap<Long, Long> unheard = new TreeMap<>();

    private final Set<Long> suspected = new TreeSet<>();
    private final TreeMap<Long, List<Message>> toMembers = new TreeMap<>();
    private final Set<Key> openers = new LinkedHashSet<>();
    private final Set<Key> watchers = new LinkedHashSet<>();
    private final boolean firstUse;
    private long opens;
    private long epoch;
    private long floor;
    private long now;
    private @Nullable SessionTurn turn;

    /**
     * @param epoch 1 in its first life, in which the whole cluster is used for the first time
     * @param opens until when it grants nothing; {@link Turn#NEVER} if it may at once
     * @param quarantine how long a start of it grants nothing
     */
    public RpcMember(List<String> members, int self, long epoch, long opens, long maxTtl, long quarantine) {
        this(members, self, epoch == 1, epoch, opens, maxTtl, quarantine);
    }

    private RpcMember(
            List<String> members, int self, boolean firstUse, long epoch, long opens, long maxTtl, long quarantine) {
        this.members = members;
        this.self = self;
        this.firstUse = firstUse;
        this.epoch = epoch;
        this.opens = opens;
        this.maxTtl = maxTtl;
        this.quarantine = quarantine;
    }

    /** The session of that number, from 0 on. */
    public static long session(int number) {
        return SESSIONS + number;
    }

    public static boolean isSession(long word) {
        return word >= SESSIONS && word < SESSIONS + MOST_SESSIONS;
    }

    public static int number(long session) {
        return (int) (session - SESSIONS);
    }

    // The layer

    @Override
    public void begin(SessionTurn begun) {
        turn = begun;
        now = begun.now();
        due(begun);
    }

    private void due(SessionTurn turn) {
        if (Turn.due(opens, now)) {
            opens = Turn.NEVER;
            tell(openers, new Opening(), turn);
        }
        long due = opens;
        long attention = Math.min(ATTENTION, maxTtl);
        for (Map.Entry<Long, Long> each : unheard.entrySet()) {
            if (now - each.getValue() < attention) {
                due = Math.min(due, each.getValue() + attention);
            } else if (suspected.add(each.getKey())) {
                Call call = new PeerSuspected(memberOf(each.getKey()));
                watchers.forEach(key -> turn.call(key, call));
            }
        }
        List<Grant> over = new ArrayList<>();
        for (TreeMap<Long, Session> some : List.of(sessions, ofMembers)) {
            for (Session session : some.values()) {
                for (Grant grant : session.grants.keySet()) {
                    if (now - session.heard >= grant.ttl()) {
                        over.add(grant);
                    } else {
                        due = Math.min(due, session.heard + grant.ttl());
                    }
                }
            }
        }
        over.sort(Comparator.comparingLong(Grant::token)); // not by sessions: which has which number says nothing
        for (Grant grant : over) {
            session(grant.peer()).grants.remove(grant);
            turn.call(grant.key(), new Expired(grant.peer(), grant.token()));
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
        if (!isSession(link)) {
            unheard.remove(link);
            if (suspected.remove(link)) {
                Call call = new PeerTrusted(memberOf(link));
                watchers.forEach(key -> turn.call(key, call));
            }
            return;
        }
        sessions.put(link, new Session(link, turn.now()));
    }

    @Override
    public void arrived(long link, Frame frame, SessionTurn turn) {
        RpcFrame said = (RpcFrame) frame;
        if (!isSession(link)) {
            Session session = ofMembers.computeIfAbsent(link, fresh -> new Session(fresh, now));
            for (Message message : said.messages()) {
                turn.accept(session.peer, message);
            }
            session.heard = turn.now();
            tell(session.listeners, new Heard(session.peer), turn);
            return;
        }
        Session session = sessions.get(link);
        if (session == null) {
            return;
        }
        turn.atHand(said.clock());
        for (Message message : said.messages()) {
            session.received++;
            turn.accept(session.peer, message);
        }
        turn.atHand(0);
        session.heard = turn.now();
        session.owed = true;
        tell(session.listeners, new Heard(session.peer), turn);
    }

    /** The client was silent for the longest lease, or said goodbye; or another member has started anew. */
    @Override
    public void died(long id, SessionTurn turn) {
        Session session = (isSession(id) ? sessions : ofMembers).remove(id);
        if (session != null) {
            Set<Key> keys = new LinkedHashSet<>(session.waits.keySet());
            session.grants.keySet().forEach(grant -> keys.add(grant.key()));
            tell(keys, new SessionEnded(session.peer), turn);
        }
        if (!isSession(id)) {
            String member = memberOf(id);
            for (Key key : watchers) {
                turn.call(key, new PeerDown(member, true, "it was restarted"));
                turn.call(key, new PeerUp(member, true));
            }
        }
    }

    /** Another member is not heard any more, until its link is opened. */
    @Override
    public void closed(long link, String why, SessionTurn turn) {
        unheard.put(link, now);
    }

    private String memberOf(long link) {
        return members.get((int) (link - MEMBERS));
    }

    @Override
    public void stalled(long nanos) {}

    @Override
    public void closing(SessionTurn turn) {}

    @Override
    public void forced(long ticket, SessionTurn turn) {}

    @Override
    public long send(Peer to, Message message) {
        if (ofMembers.containsKey(to.session())) {
            return send(member(to), message);
        }
        Session session = sessions.get(to.session());
        if (session == null) {
            return 0;
        }
        session.out.add(plain(message));
        return 1;
    }

    /** Without what is only shown to people: for how long somebody has held says nothing to a machine. */
    private static Message plain(Message message) {
        if (message instanceof LockMessage.Place place) {
            return new LockMessage.Place(place.key(), place.request(), place.ahead(), List.of());
        } else if (message instanceof LockMessage.NotGranted no) {
            return new LockMessage.NotGranted(no.key(), no.request(), no.cause(), List.of());
        }
        return message;
    }

    @Override
    public void flush(SessionTurn turn) {
        for (Session session : sessions.values()) {
            if (session.owed || !session.out.isEmpty()) {
                turn.transmit(
                        session.peer.session(),
                        new RpcFrame(List.copyOf(session.out), session.received, turn.shownClock()));
                session.out.clear();
                session.owed = false;
                session.received = 0;
            }
        }
        toMembers.forEach((link, out) -> turn.transmit(link, new RpcFrame(List.copyOf(out), 0, 0)));
        toMembers.clear();
        due(turn);
    }

    // What managers see of it

    @Override
    public long epoch() {
        return epoch;
    }

    @Override
    public long lastEpoch() {
        return epoch + 100;
    }

    @Override
    public boolean quarantined() {
        return opens != Turn.NEVER;
    }

    @Override
    public boolean isFirstUse() {
        return firstUse;
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
        return known(peer) != null;
    }

    private @Nullable Session known(Peer peer) {
        return (isSession(peer.session()) ? sessions : ofMembers).get(peer.session());
    }

    @Override
    public long silence(Peer peer) {
        Session session = known(peer);
        return session == null ? Long.MAX_VALUE : now - session.heard;
    }

    private Session session(Peer peer) {
        Session session = known(peer);
        if (session == null) {
            throw new IllegalStateException("no session " + peer);
        }
        return session;
    }

    @Override
    public void grant(Peer peer, Key key, long token, long ttl) {
        session(peer).grants.put(new Grant(peer, key, token, ttl), true);
    }

    @Override
    public void ungrant(Peer peer, Key key, long token, long ttl) {
        Session session = known(peer);
        if (session != null) {
            session.grants.remove(new Grant(peer, key, token, ttl));
        }
    }

    @Override
    public void await(Peer peer, Key key, long ttl) {
        session(peer).waits.merge(key, 1, Integer::sum);
    }

    @Override
    public void unawait(Peer peer, Key key, long ttl) {
        Session session = known(peer);
        if (session != null) {
            session.waits.computeIfPresent(key, (k, times) -> times == 1 ? null : times - 1);
        }
    }

    @Override
    public void listen(Peer peer, Key key) {
        Session session = known(peer);
        if (session != null) {
            session.listeners.add(key);
        }
    }

    /** Its quarantine covers that. */
    @Override
    public void keep(long until) {}

    @Override
    public long maxTtl() {
        return maxTtl;
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

    /** Whether that session was silent for so long that it may be ended. */
    public boolean mayForget(long session, long at) {
        Session of = sessions.get(session);
        return of != null && at - of.heard >= maxTtl;
    }

    // Other members

    @Override
    public PeerView peers() {
        return this;
    }

    @Override
    public String self() {
        return members.get(self);
    }

    @Override
    public List<String> members() {
        return members;
    }

    @Override
    public boolean confirmed() {
        return true;
    }

    @Override
    public String member(Peer from) {
        return from.session() >= MEMBERS && !isSession(from.session()) ? memberOf(from.session()) : "";
    }

    @Override
    public boolean up(String member) {
        return true;
    }

    /** Members that are not cut off hear each other at all times: what is late between them is what they say. */
    @Override
    public long echo(String member) {
        return unheard.getOrDefault(MEMBERS + members.indexOf(member), now);
    }

    @Override
    public boolean suspected(String member) {
        return suspected.contains(MEMBERS + members.indexOf(member));
    }

    @Override
    public long send(String member, Message message) {
        toMembers
                .computeIfAbsent(MEMBERS + members.indexOf(member), link -> new ArrayList<>(2))
                .add(message);
        return 1;
    }

    @Override
    public void watch(Key key) {
        watchers.add(key);
        for (String member : members) {
            if (turn != null && !member.equals(self())) {
                turn.call(key, new PeerUp(member, false));
            }
        }
    }

    @Override
    public void unwatch(Key key) {
        watchers.remove(key);
    }

    // State

    @Override
    public RpcMember copy() {
        RpcMember copy = new RpcMember(members, self, firstUse, epoch, opens, maxTtl, quarantine);
        copy.floor = floor;
        copy.now = now;
        copy.openers.addAll(openers);
        copy.unheard.putAll(unheard);
        copy.suspected.addAll(suspected);
        copy.watchers.addAll(watchers);
        sessions.forEach((id, session) -> copy.sessions.put(id, session.copy()));
        ofMembers.forEach((id, session) -> copy.ofMembers.put(id, session.copy()));
        return copy;
    }

    @Override
    public void encode(StateEncoder out) {
        out.put(firstUse).put(epoch).put(floor).time(opens).value(openers).put(sessions.size());
        for (Session session : sessions.values()) {
            out.put(PART);
            session.encode(out);
        }
        out.put(END_OF_PARTS).put(ofMembers.size());
        ofMembers.values().forEach(session -> session.encode(out));
        out.put(unheard.size());
        unheard.forEach((link, since) -> out.put(link).time(since).put(suspected.contains(link)));
    }
}
