// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.MemberView.Expired;
import io.keyway.lock.peer.kernel.MemberView.Heard;
import io.keyway.lock.peer.kernel.MemberView.SessionEnded;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.SessionLayer.SessionTurn;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.session.SessionFrame.Data;
import io.keyway.lock.peer.session.SessionFrame.Hello;
import io.keyway.lock.peer.session.SessionFrame.Resume;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The live sessions of a member: what comes in over their links, what goes out, and what is over.
 *
 * <p><b>States</b> of a session: connected by one link, or not. <b>Events</b>: a frame (acknowledges, brings messages,
 * hears, stamps), a deadline (the smallest ttl of a grant, the longest of all, a message to be sent again), a link that
 * is bound or closed, the end. <b>Invariants</b>: a session that has something to say, or to be looked at, is dirty
 * until the next flush; its next deadline is listed, never too late; when it is over every key that had a grant, a wait
 * or an ear in it is called once.
 */
final class SessionTable {
    /** How long a session without a lease is kept. */
    private final long maxTtl;

    private final int algorithm;
    private final ServerHandshake handshake;
    private final Map<Long, MemberSession> sessions = new LinkedHashMap<>();
    private final Map<Long, MemberSession> byLink = new LinkedHashMap<>();
    /** The sessions that the next flush looks at, each once. */
    private final List<MemberSession> dirty = new ArrayList<>();

    /**
     * By the time at which each is to be looked at next. Deadlines move later, so a session is moved when it comes up,
     * not at each frame.
     */
    private final TreeSet<MemberSession> deadlines = new TreeSet<>((a, b) -> {
        long difference = a.listedAt - b.listedAt;
        return difference != 0 ? Long.signum(difference) : Long.compare(a.peer.session(), b.peer.session());
    });
    /** When the first of them is to be looked at. */
    private long nextLook = Turn.NEVER;

    private long lastSession;
    /** Who was asked for last: most of a turn is about one session. */
    private @Nullable MemberSession recent;
    /** How long this member stood still; of this input only. */
    private long stalled;
    /** The machines of members talk to each other. */
    private boolean echoesMayWait;
    /** What hears of the clients of this member where one member leads; null where none does. */
    private @Nullable LeaderLease leader;
    /** Who has a longer lease is told nothing. */
    private long longest = Long.MAX_VALUE;
    /** Somebody was told nothing for that. */
    private boolean heldBack;

    SessionTable(long maxTtl, int algorithm, ServerHandshake handshake) {
        this.maxTtl = maxTtl;
        this.algorithm = algorithm;
        this.handshake = handshake;
    }

    /** Echoes that nobody waits for may wait a little from now on. */
    void letEchoesWait() {
        echoesMayWait = true;
    }

    /** Clients hear of no lease before a majority knows of them. */
    void under(LeaderLease lease) {
        leader = lease;
    }

    void begin(SessionTurn turn) {
        if (stalled != 0) {
            putOff(turn.now());
        }
        while (Turn.due(nextLook, turn.now())) {
            look(deadlines.first(), turn);
        }
    }

    /** Ends what is over in a session, and lists it anew. */
    private void look(MemberSession session, SessionTurn turn) {
        long silence = turn.now() - session.heard;
        unlist(session);
        if (silence >= session.patience(maxTtl)) {
            turn.goal(SessionGoal.EXPIRED_SESSION);
            end(session, turn);
            return;
        }
        for (long ttl = session.smallestGranted(); ttl != 0 && silence >= ttl; ttl = session.smallestGranted()) {
            turn.goal(SessionGoal.EXPIRED_CLASS);
            for (MemberSession.Held held : session.expireSmallest()) {
                turn.call(held.key(), new Expired(session.peer, held.token()));
            }
        }
        if (session.connected() && session.stream.resendDue(turn.now())) {
            session.stream.resendLater(turn.now());
            if (session.stream.rewind()) {
                turn.goal(SessionGoal.RESENT);
            }
            touch(session);
        }
        if (session.connected() && session.owesNow(turn.now())) {
            session.echoBy = Turn.NEVER;
            touch(session);
        }
        list(session);
    }

    @Nullable
    MemberSession get(long number) {
        MemberSession last = recent;
        if (last != null && last.peer.session() == number) {
            return last;
        }
        last = sessions.get(number);
        recent = last;
        return last;
    }

    @Nullable
    MemberSession byLink(long link) {
        MemberSession last = recent;
        if (last != null && last.link == link && link != MemberSession.NO_LINK) {
            return last;
        }
        last = byLink.get(link);
        recent = last;
        return last;
    }

    Collection<MemberSession> all() {
        return sessions.values();
    }

    /** Adds all keys that wait. */
    void waiting(Set<Key> into) {
        sessions.values().forEach(session -> session.waiting(into));
    }

    /** How many sessions are those of others than that client. */
    long others(Incarnation client) {
        long others = 0;
        for (MemberSession session : sessions.values()) {
            others += session.client.equals(client) ? 0 : 1;
        }
        return others;
    }

    /** The number of the newest session. */
    long last() {
        return lastSession;
    }

    /** Something of that session is to be sent, or looked at, by the next flush. */
    void touch(MemberSession session) {
        if (!session.dirty) {
            session.dirty = true;
            dirty.add(session);
        }
    }

    void closed(long link) {
        MemberSession session = byLink.remove(link);
        if (session != null) {
            session.link = MemberSession.NO_LINK;
        }
    }

    void end(MemberSession session, SessionTurn turn) {
        sessions.remove(session.peer.session());
        recent = null;
        if (session.dirty) {
            session.dirty = false;
            dirty.remove(session);
        }
        unlist(session);
        if (session.connected()) {
            byLink.remove(session.link);
            turn.hangUp(session.link);
            session.link = MemberSession.NO_LINK;
        }
        handshake.ended(session.client, turn);
        if (leader != null && session.holding != 0) {
            leader.ended(session.peer, turn);
        }
        for (Key key : session.keys()) {
            turn.call(key, new SessionEnded(session.peer));
        }
    }

    /** Ends the sessions of all clients, and of no member. */
    void endClients(SessionTurn turn) {
        for (MemberSession session : List.copyOf(sessions.values())) {
            if (session.from.isEmpty()) {
                end(session, turn);
            }
        }
    }

    /** Ends the connections of all clients; their sessions live on. */
    void hangUpClients(SessionTurn turn) {
        for (MemberSession session : sessions.values()) {
            if (session.from.isEmpty() && session.connected()) {
                breakLink(session, turn);
            }
        }
        recent = null;
    }

    /** A fresh session; it ends the former one of that client. */
    MemberSession open(Hello hello, long heard, SessionTurn turn) {
        MemberSession former = sessions.get(handshake.session(hello.client()));
        if (former != null) {
            turn.goal(SessionGoal.SUPERSEDED_SESSION);
            end(former, turn);
        }
        Peer peer = new Peer(++lastSession);
        MemberSession session =
                new MemberSession(peer, hello.from(), hello.client(), hello.life(), hello.guard(), heard);
        sessions.put(lastSession, session);
        return session;
    }

    void resume(MemberSession session, Resume resume, SessionTurn turn) {
        turn.goal(SessionGoal.RESUMED);
        if (session.connected()) {
            turn.goal(SessionGoal.SUPERSEDED_LINK);
            byLink.remove(session.link);
            turn.hangUp(session.link);
        }
        session.stream.acknowledged(resume.received());
        session.stream.resendNever();
        if (session.stream.rewind()) {
            turn.goal(SessionGoal.RESENT);
        }
        if (session.stream.unsent()) {
            touch(session);
        }
    }

    /** From now on that link, and no other, is the session's. */
    void bind(MemberSession session, long link, long heard) {
        session.link = link;
        session.heard = heard - session.heard > 0 ? heard : session.heard;
        byLink.put(link, session);
        list(session);
    }

    void data(MemberSession session, Data frame, SessionTurn turn) {
        MessageStream stream = session.stream;
        MessageStream.Fit fit =
                frame.session() == session.peer.session() ? stream.fit(frame) : MessageStream.Fit.BROKEN;
        if (fit != MessageStream.Fit.FITS) {
            if (fit == MessageStream.Fit.GAP) {
                turn.goal(SessionGoal.GAP_DROPPED);
            } else {
                breakLink(session, turn);
            }
            return;
        }
        if (stream.acknowledged(frame.ack())) {
            stream.progress(turn.now(), resendDelay(session), stream.unacknowledged());
            if (stream.unsent()) {
                touch(session);
            }
        }
        long number = frame.seq();
        List<Message> messages = frame.messages();
        turn.atHand(frame.clock());
        for (int i = 0; i < messages.size(); i++) {
            Message message = messages.get(i);
            if (!stream.take(number++)) {
                turn.goal(SessionGoal.DUPLICATE_DROPPED);
            } else if (message instanceof Bye) {
                turn.goal(SessionGoal.BYE);
                if (leader != null) {
                    leader.spoken(session.client, turn);
                }
                turn.transmit(session.link, header(session, List.of(), false, turn));
                end(session, turn);
                return;
            } else if (message instanceof AllSaid) {
                if (leader != null) {
                    leader.spoken(session.client, turn);
                }
            } else if (message.key().algorithm() == algorithm) {
                turn.accept(session.peer, message);
            } else {
                breakLink(session, turn);
                return;
            }
        }
        turn.atHand(0);
        session.heard = turn.now();
        if (frame.stamped()) {
            if (echoesMayWait) {
                session.stampedWith(messages, frame.stamp(), resendDelay(session) / 4, turn.now());
            } else {
                session.stamped(frame.stamp());
            }
            touch(session);
        }
        if (!session.listeners.isEmpty()) {
            for (Key key : session.listeners) {
                turn.call(key, new Heard(session.peer));
            }
            session.listeners.clear();
        }
    }

    /** The peer does what no peer does. Its session ends by silence unless it comes back in its right mind. */
    private void breakLink(MemberSession session, SessionTurn turn) {
        byLink.remove(session.link);
        turn.hangUp(session.link);
        session.link = MemberSession.NO_LINK;
    }

    private long resendDelay(MemberSession session) {
        return MessageStream.resendDelay(session.smallest(maxTtl));
    }

    private static Data header(MemberSession session, List<Message> messages, boolean complete, SessionTurn turn) {
        MessageStream stream = session.stream;
        boolean echo = complete && session.stamped;
        return new Data(
                session.peer.session(),
                stream.next() - messages.size(),
                stream.received(),
                echo,
                echo ? session.stamp : 0,
                turn.shownClock(),
                messages);
    }

    /** Comes before {@link #begin}. */
    void stalled(long nanos) {
        stalled += nanos;
    }

    /** Nobody is heard later than now: whoever was read after the stall, in the same turn, has lost no time by it. */
    private void putOff(long now) {
        for (MemberSession session : sessions.values()) {
            long heard = session.heard + stalled;
            session.heard = heard - now > 0 ? now : heard;
        }
        stalled = 0;
    }

    /** When the last lease ends that a frame of this flush begins or extends; {@link Turn#NEVER} if none does. */
    long leasesEnd() {
        long until = Turn.NEVER;
        for (int i = 0; i < dirty.size(); i++) {
            MemberSession session = dirty.get(i);
            long ttl = session.largestGranted();
            if (ttl != 0 && (until == Turn.NEVER || session.heard + ttl - until > 0)) {
                until = session.heard + ttl;
            }
        }
        return until;
    }

    /** Who has a longer lease than that is told nothing from now on; who has not, what it was not told before. */
    void tellUpTo(long ttl) {
        longest = ttl;
        if (heldBack) {
            heldBack = false;
            sessions.values().forEach(this::touch);
        }
    }

    /** The client of that session may hear of leases that are as long as that. */
    void noted(Peer peer, long ttl) {
        MemberSession session = get(peer.session());
        if (session != null && session.noted < ttl) {
            session.noted = ttl;
            touch(session);
        }
    }

    /** The longest lease of a client; 0 if there is none. */
    long longestGranted() {
        long found = 0;
        for (MemberSession session : sessions.values()) {
            found = Math.max(found, session.from.isEmpty() ? session.largestGranted() : 0);
        }
        return found;
    }

    void flush(SessionTurn turn) {
        for (int i = 0; i < dirty.size(); i++) {
            dirty.get(i).dirty = false;
            transmit(dirty.get(i), turn);
        }
        dirty.clear();
    }

    private void transmit(MemberSession session, SessionTurn turn) {
        if (session.from.isEmpty() && session.largestGranted() > mayBeTold(session)) {
            turn.goal(LeaderGoal.LEASE_HELD_BACK);
            heldBack |= session.largestGranted() > longest;
            if (session.connected() && session.stream.received() != session.acknowledged) {
                turn.transmit(session.link, header(session, List.of(), false, turn)); // the link lives
                session.answered(false);
            }
        } else if (session.connected()) {
            MessageStream stream = session.stream;
            while (stream.unsent() && stream.room() > 0) {
                List<Message> messages = stream.send(Math.min(stream.room(), SessionFrame.MAX_MESSAGES));
                turn.transmit(session.link, header(session, messages, !stream.unsent(), turn));
                session.answered(!stream.unsent());
            }
            // An echo never overtakes a message.
            if (!stream.unsent() && session.owesNow(turn.now())) {
                session.answered(true);
                turn.transmit(session.link, header(session, List.of(), true, turn));
            }
            if (stream.inFlight()) {
                stream.sentAt(turn.now(), resendDelay(session));
            }
        }
        list(session);
    }

    private long mayBeTold(MemberSession session) {
        return leader == null ? longest : Math.min(longest, session.noted);
    }

    /** When it has something to do next. */
    long nextWork() {
        return nextLook;
    }

    /** Makes sure that the session is looked at in time. */
    private void list(MemberSession session) {
        long at = session.due(maxTtl);
        if (session.listedAt != Turn.NEVER && session.listedAt - at <= 0) {
            return;
        }
        unlist(session);
        session.listedAt = at;
        deadlines.add(session);
        nextLook = deadlines.first().listedAt;
    }

    private void unlist(MemberSession session) {
        if (session.listedAt != Turn.NEVER) {
            deadlines.remove(session);
            session.listedAt = Turn.NEVER;
            nextLook = deadlines.isEmpty() ? Turn.NEVER : deadlines.first().listedAt;
        }
    }

    SessionTable copy(ServerHandshake copiedHandshake, @Nullable LeaderLease copiedLease) {
        SessionTable copy = new SessionTable(maxTtl, algorithm, copiedHandshake);
        copy.leader = copiedLease;
        copy.lastSession = lastSession;
        copy.echoesMayWait = echoesMayWait;
        copy.longest = longest;
        copy.heldBack = heldBack;
        for (MemberSession session : sessions.values()) {
            MemberSession twin = session.copy();
            copy.sessions.put(twin.peer.session(), twin);
            if (twin.listedAt != Turn.NEVER) {
                copy.deadlines.add(twin);
            }
            if (twin.connected()) {
                copy.byLink.put(twin.link, twin);
            }
        }
        copy.nextLook = nextLook;
        for (MemberSession session : dirty) {
            MemberSession twin = copy.sessions.get(session.peer.session());
            if (twin != null) {
                copy.touch(twin);
            }
        }
        return copy;
    }

    void encode(StateEncoder out) {
        out.put(lastSession).put(longest).put(heldBack).put(sessions.size());
        for (MemberSession session : sessions.values()) {
            session.encode(out);
        }
        out.put(dirty.size());
        for (MemberSession session : dirty) {
            out.put(session.peer);
        }
    }
}
