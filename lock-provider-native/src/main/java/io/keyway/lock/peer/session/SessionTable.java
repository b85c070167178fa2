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
    private final SessionSettings settings;
    private final NewestLinks newestLinks;
    private final Map<Long, MemberSession> sessions = new LinkedHashMap<>();
    private final Map<Long, MemberSession> byLink = new LinkedHashMap<>();
    /** The sessions that the next flush looks at, each once. */
    private final List<MemberSession> dirty = new ArrayList<>();

    private final DeadlineQueue deadlines = new DeadlineQueue();
    private long lastSession;
    /** How long this member stood still; of this input only. */
    private long stalled;

    SessionTable(SessionSettings settings, NewestLinks newestLinks) {
        this.settings = settings;
        this.newestLinks = newestLinks;
    }

    void begin(SessionTurn turn) {
        if (stalled != 0) {
            putOff(turn.now());
        }
        for (long due = deadlines.due(turn.now()); due != 0; due = deadlines.due(turn.now())) {
            look(live(due), turn);
        }
    }

    /** Ends what is over in a session, and lists it anew. */
    private void look(MemberSession session, SessionTurn turn) {
        long silence = turn.now() - session.heard;
        deadlines.remove(session);
        if (silence >= session.patience(settings.maxTtl())) {
            turn.goal(SessionGoal.EXPIRED_SESSION);
            end(session, turn);
            return;
        }
        for (long ttl = session.classes.smallestGranted();
                ttl != 0 && silence >= ttl;
                ttl = session.classes.smallestGranted()) {
            turn.goal(SessionGoal.EXPIRED_CLASS);
            for (TtlClasses.Held held : session.classes.expireSmallest()) {
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
        deadlines.list(session, session.due(settings.maxTtl()));
    }

    private MemberSession live(long number) {
        MemberSession session = sessions.get(number);
        if (session == null) {
            throw new IllegalStateException("session " + number + " is listed and gone");
        }
        return session;
    }

    @Nullable
    MemberSession get(long number) {
        return sessions.get(number);
    }

    @Nullable
    MemberSession byLink(long link) {
        return byLink.get(link);
    }

    Collection<MemberSession> all() {
        return sessions.values();
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
        if (session.dirty) {
            session.dirty = false;
            dirty.remove(session);
        }
        deadlines.remove(session);
        if (session.connected()) {
            byLink.remove(session.link);
            turn.hangUp(session.link);
            session.link = MemberSession.NO_LINK;
        }
        newestLinks.ended(session.client, turn.now() + settings.proofTimeout());
        Set<Key> keys = session.classes.keys();
        keys.addAll(session.listeners);
        for (Key key : keys) {
            turn.call(key, new SessionEnded(session.peer));
        }
    }

    /** A fresh session; it ends the former one of that client. */
    MemberSession open(Hello hello, SessionTurn turn) {
        MemberSession former = sessions.get(newestLinks.session(hello.client()));
        if (former != null) {
            turn.goal(SessionGoal.SUPERSEDED_SESSION);
            end(former, turn);
        }
        Peer peer = new Peer(++lastSession);
        MemberSession session =
                new MemberSession(peer, hello.from(), hello.client(), hello.life(), hello.guard(), turn.now());
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
    void bind(MemberSession session, long link, SessionTurn turn) {
        session.link = link;
        session.heard = turn.now();
        byLink.put(link, session);
        deadlines.list(session, session.due(settings.maxTtl()));
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
        for (int i = 0; i < messages.size(); i++) {
            Message message = messages.get(i);
            if (!stream.take(number++)) {
                turn.goal(SessionGoal.DUPLICATE_DROPPED);
            } else if (message instanceof Bye) {
                turn.goal(SessionGoal.BYE);
                turn.transmit(session.link, header(session, List.of(), false));
                end(session, turn);
                return;
            } else if (message.key().algorithm() == settings.algorithm()) {
                turn.accept(session.peer, message);
            } else {
                breakLink(session, turn);
                return;
            }
        }
        session.heard = turn.now();
        if (frame.stamped()) {
            session.stamped(frame.stamp());
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
        return MessageStream.resendDelay(session.classes.smallest(settings.maxTtl()));
    }

    private Data header(MemberSession session, List<Message> messages, boolean complete) {
        MessageStream stream = session.stream;
        boolean echo = complete && session.stamped;
        return new Data(
                session.peer.session(),
                stream.next() - messages.size(),
                stream.received(),
                echo,
                echo ? session.stamp : 0,
                0,
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
            long ttl = session.classes.largestGranted();
            if (ttl != 0 && (until == Turn.NEVER || session.heard + ttl - until > 0)) {
                until = session.heard + ttl;
            }
        }
        return until;
    }

    void flush(SessionTurn turn) {
        for (int i = 0; i < dirty.size(); i++) {
            dirty.get(i).dirty = false;
            transmit(dirty.get(i), turn);
        }
        dirty.clear();
    }

    private void transmit(MemberSession session, SessionTurn turn) {
        if (session.connected()) {
            MessageStream stream = session.stream;
            while (stream.unsent() && stream.room() > 0) {
                List<Message> messages = stream.send(Math.min(stream.room(), SessionFrame.MAX_MESSAGES));
                turn.transmit(session.link, header(session, messages, !stream.unsent()));
                session.owes &= stream.unsent();
            }
            // An echo never overtakes a message.
            if (session.owes && !stream.unsent()) {
                session.owes = false;
                turn.transmit(session.link, header(session, List.of(), true));
            }
            if (stream.inFlight()) {
                stream.sentAt(turn.now(), resendDelay(session));
            }
        }
        deadlines.list(session, session.due(settings.maxTtl()));
    }

    long nextWork() {
        return deadlines.next();
    }

    SessionTable copy(NewestLinks copiedLinks) {
        SessionTable copy = new SessionTable(settings, copiedLinks);
        copy.lastSession = lastSession;
        for (MemberSession session : sessions.values()) {
            MemberSession twin = session.copy();
            copy.sessions.put(twin.peer.session(), twin);
            copy.deadlines.relist(twin);
            if (twin.connected()) {
                copy.byLink.put(twin.link, twin);
            }
        }
        for (MemberSession session : dirty) {
            copy.touch(copy.live(session.peer.session()));
        }
        return copy;
    }

    void encode(StateEncoder out) {
        out.put(lastSession).put(sessions.size());
        for (MemberSession session : sessions.values()) {
            session.encode(out);
        }
        out.put(dirty.size());
        for (MemberSession session : dirty) {
            out.put(session.peer);
        }
    }

    /**
     * When which session is to be looked at next. Deadlines only move later, so an entry is moved when it comes up, not
     * at each frame.
     */
    private static final class DeadlineQueue {
        private record Due(long at, long session) {}

        private final TreeSet<Due> list = new TreeSet<>((a, b) -> {
            long difference = a.at() - b.at();
            return difference != 0 ? Long.signum(difference) : Long.compare(a.session(), b.session());
        });

        /** Makes sure that the session is looked at by then. */
        void list(MemberSession session, long at) {
            if (session.listedAt != Turn.NEVER) {
                if (session.listedAt - at <= 0) {
                    return;
                }
                list.remove(new Due(session.listedAt, session.peer.session()));
            }
            session.listedAt = at;
            list.add(new Due(at, session.peer.session()));
        }

        void remove(MemberSession session) {
            if (session.listedAt != Turn.NEVER) {
                list.remove(new Due(session.listedAt, session.peer.session()));
                session.listedAt = Turn.NEVER;
            }
        }

        long next() {
            return list.isEmpty() ? Turn.NEVER : list.first().at();
        }

        /** The number of a session whose time has come; 0 if there is none. */
        long due(long now) {
            return list.isEmpty() || list.first().at() - now > 0
                    ? 0
                    : list.first().session();
        }

        /** To a copy of the sessions, which know their own times. */
        void relist(MemberSession session) {
            if (session.listedAt != Turn.NEVER) {
                list.add(new Due(session.listedAt, session.peer.session()));
            }
        }
    }
}
