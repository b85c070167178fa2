// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.Canon;
import io.keyway.lock.peer.kernel.Frame;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.MemberView;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.SessionLayer;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.session.SessionFrame.Data;
import io.keyway.lock.peer.session.SessionFrame.Hello;
import io.keyway.lock.peer.session.SessionFrame.Refuse;
import io.keyway.lock.peer.session.SessionFrame.Resume;
import io.keyway.lock.peer.session.SessionFrame.Seen;
import io.keyway.lock.peer.session.SessionFrame.Welcome;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The sessions of a member, and the only judge of what expires.
 *
 * <p>A session is heard when a frame of it was read, whatever is in it, and every grant in it lives for its ttl from there. Messages, the stamp and the time of hearing change in one step, and the echo
 * of a stamp leaves only behind every message that was queued before it: a client that sees its belief extended has seen first what ended (the echo of a split batch is on its last frame, and a frame after a
 * gap is dropped whole). Links come and go without effect. Nothing is kept for a link before it has proved itself but its hello and a nonce.
 */
public final class MemberSessions implements SessionLayer, MemberView {
    /** Messages in one frame, at most. */
    public static final int MAX_MESSAGES = 1024;

    private static final int WAKE = 0;
    private static final long LARGEST_EPOCH = 0xFFFF_FFFFL;

    private final SessionSettings settings;
    private final String node;
    private final Incarnation self;
    private final Map<Long, MemberSession> sessions = new LinkedHashMap<>();
    private final Map<Long, MemberSession> byLink = new LinkedHashMap<>();
    private final Set<MemberSession> dirty = new LinkedHashSet<>();
    private final Set<Key> awaitOpening = new LinkedHashSet<>();
    private final Dues dues = new Dues();
    private Doorkeeper door;
    private Promises promises;
    private long epoch;
    private long floor;
    private boolean quarantined = true;
    private long quarantineUntil;
    private boolean closing;
    private long lastSession;
    private @Nullable SessionTurn turn;

    /**
     * @param node the member's id in its cluster
     * @param epoch of 32 bits, forced to disk by the driver, higher than all epochs before
     * @param quarantineUntil on the cell's clock; a time that has passed lets the member grant at once
     */
    public MemberSessions(
            SessionSettings settings,
            String node,
            Incarnation self,
            long epoch,
            long quarantineUntil,
            Horizon horizon) {
        this.settings = settings;
        this.node = checkedNode(node);
        this.self = self;
        this.epoch = checkedEpoch(epoch);
        this.quarantineUntil = quarantineUntil;
        this.door = new Doorkeeper(settings, self);
        this.promises = new Promises(horizon);
    }

    private static String checkedNode(String node) {
        if (node.isEmpty() || node.getBytes(StandardCharsets.UTF_8).length > SessionSettings.MAX_NODE) {
            throw new IllegalArgumentException("node " + node + ": 1 to " + SessionSettings.MAX_NODE + " bytes");
        }
        return node;
    }

    private static long checkedEpoch(long epoch) {
        if (epoch < 0 || epoch > LARGEST_EPOCH) {
            throw new IllegalArgumentException("epoch " + epoch + " has not 32 bits");
        }
        return epoch;
    }

    @Override
    public void begin(SessionTurn begun) {
        turn = begun;
        long now = begun.now();
        if (quarantined && now - quarantineUntil >= 0) {
            open(begun);
        }
        door.begin(begun);
        for (long due = dues.due(now); due != 0; due = dues.due(now)) {
            look(live(due), begun);
        }
    }

    private void open(SessionTurn turn) {
        quarantined = false;
        for (Key key : awaitOpening) {
            turn.call(key, new Opening());
        }
        awaitOpening.clear();
    }

    @Override
    public void proved(SessionTurn turn) {
        if (quarantined) {
            open(turn);
        }
    }

    /**
     * A live session, as the operating system may prove something of it.
     *
     * @param bytes of the machine's lock file that stand for the client: while one of them is locked, it lives; empty if it named none
     * @param told the client has told all that it had to tell when the session was opened, re-assertions included
     */
    public record Life(Peer peer, List<Long> bytes, boolean told) {}

    /** How many sessions live. */
    public int size() {
        return sessions.size();
    }

    /** All live sessions. */
    public List<Life> lives() {
        List<Life> lives = new ArrayList<>();
        for (MemberSession session : sessions.values()) {
            lives.add(life(session));
        }
        return lives;
    }

    /** The session that owns a link; null if none does. */
    public @Nullable Life life(long link) {
        MemberSession session = byLink.get(link);
        return session == null ? null : life(session);
    }

    private static Life life(MemberSession session) {
        return new Life(session.peer, session.bytes(), session.stamped);
    }

    /** Ends what is over in a session, and lists it anew. */
    private void look(MemberSession session, SessionTurn turn) {
        long silence = turn.now() - session.heard;
        dues.remove(session);
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
        if (session.connected() && session.retry.due(turn.now())) {
            session.retry.again(turn.now());
            if (session.stream.rewind()) {
                turn.goal(SessionGoal.RESENT);
            }
            dirty.add(session);
        }
        dues.list(session, session.due(settings.maxTtl()));
    }

    private MemberSession live(long number) {
        MemberSession session = sessions.get(number);
        if (session == null) {
            throw new IllegalStateException("session " + number + " is listed and gone");
        }
        return session;
    }

    private void end(MemberSession session, SessionTurn turn) {
        sessions.remove(session.peer.session());
        dirty.remove(session);
        dues.remove(session);
        if (session.connected()) {
            byLink.remove(session.link);
            turn.hangUp(session.link);
            session.link = MemberSession.NO_LINK;
        }
        door.admissions().ended(session.client, turn.now() + settings.proofTimeout());
        Set<Key> keys = session.classes.keys();
        keys.addAll(session.listeners);
        for (Key key : keys) {
            turn.call(key, new SessionEnded(session.peer));
        }
    }

    @Override
    public void opened(long link, SessionTurn turn) {
        door.opened(link, turn);
    }

    @Override
    public void closed(long link, String why, SessionTurn turn) {
        door.closed(link);
        MemberSession session = byLink.remove(link);
        if (session != null) {
            session.link = MemberSession.NO_LINK;
        }
    }

    @Override
    public void arrived(long link, Frame frame, SessionTurn turn) {
        MemberSession session = byLink.get(link);
        if (session != null) {
            if (frame instanceof Data data) {
                data(session, data, turn);
            }
            return; // a hello or proof again: the network's duplicate
        }
        Hello hello = door.arrived(link, frame, turn);
        if (hello == null) {
            return;
        }
        if (closing) {
            door.refuse(link, new Refuse(RefuseCode.CLOSING, "member", "ends", ""), turn);
        } else if (heardOfOneself(hello, turn)) {
            admit(link, hello, turn);
        } else {
            door.refuse(link, Handshake.refuse(RefuseCode.PROTOCOL, "epoch", epoch, LARGEST_EPOCH), turn);
        }
    }

    /**
     * A client has seen an epoch of this member that this member does not know: its disk went back in time, or it was cloned. What it granted itself stands; it goes on above that epoch and grants no more
     * until all leases that it may have forgotten are over. False if the epoch can't be.
     */
    private boolean heardOfOneself(Hello hello, SessionTurn turn) {
        for (Seen seen : hello.seen()) {
            boolean higher = seen.epoch() > epoch
                    || (seen.epoch() == epoch && !seen.incarnation().equals(self));
            if (!seen.node().equals(node) || !higher) {
                continue;
            }
            if (seen.epoch() >= LARGEST_EPOCH) {
                return false;
            }
            turn.goal(SessionGoal.EPOCH_ADOPTED);
            for (MemberSession session : sessions.values()) {
                session.classes.waiting(awaitOpening);
            }
            quarantined = true;
            quarantineUntil = turn.now() + settings.quarantine();
            promises.reach(quarantineUntil);
            newEpoch(seen.epoch() + 1, turn);
        }
        return true;
    }

    private void admit(long link, Hello hello, SessionTurn turn) {
        Resume resume = hello.resume();
        MemberSession session;
        if (resume != null && resume.member().equals(self)) {
            session = sessions.get(resume.session());
            if (session == null || !session.client.equals(hello.client())) {
                turn.goal(SessionGoal.UNKNOWN_SESSION_REFUSED);
                door.refuse(link, Handshake.refuse(RefuseCode.UNKNOWN_SESSION, "session", 0, resume.session()), turn);
                return;
            }
            if (resume.received() < 0 || resume.received() > session.stream.everSent()) {
                door.refuse(
                        link,
                        Handshake.refuse(RefuseCode.PROTOCOL, "received", session.stream.everSent(), resume.received()),
                        turn);
                return;
            }
            resume(session, resume, turn);
        } else {
            MemberSession former = sessions.get(door.admissions().session(hello.client()));
            if (former != null) {
                turn.goal(SessionGoal.SUPERSEDED_SESSION);
                end(former, turn);
            }
            session =
                    new MemberSession(new Peer(++lastSession), hello.client(), hello.life(), hello.guard(), turn.now());
            sessions.put(lastSession, session);
        }
        door.admitted(link, hello, session.peer.session());
        session.link = link;
        session.heard = turn.now();
        byLink.put(link, session);
        dues.list(session, session.due(settings.maxTtl()));
        long left = quarantined ? quarantineUntil - turn.now() : 0;
        turn.transmit(
                link, new Welcome(session.peer.session(), session.stream.received(), node, epoch, Math.max(0, left)));
    }

    private void resume(MemberSession session, Resume resume, SessionTurn turn) {
        turn.goal(SessionGoal.RESUMED);
        if (session.connected()) {
            turn.goal(SessionGoal.SUPERSEDED_LINK);
            byLink.remove(session.link);
            turn.hangUp(session.link);
        }
        session.stream.acknowledged(resume.received());
        session.retry.stop();
        if (session.stream.rewind()) {
            turn.goal(SessionGoal.RESENT);
        }
        if (session.stream.unsent()) {
            dirty.add(session);
        }
    }

    private void data(MemberSession session, Data frame, SessionTurn turn) {
        Stream stream = session.stream;
        Stream.Fit fit = frame.session() == session.peer.session() ? stream.fit(frame) : Stream.Fit.BROKEN;
        if (fit != Stream.Fit.FITS) {
            if (fit == Stream.Fit.GAP) {
                turn.goal(SessionGoal.GAP_DROPPED);
            } else {
                breakLink(session, turn);
            }
            return;
        }
        if (stream.acknowledged(frame.ack())) {
            session.retry.progress(turn.now(), retryBase(session), stream.unacknowledged());
        }
        long number = frame.seq();
        for (Message message : frame.messages()) {
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
            dirty.add(session);
        }
        for (Key key : session.listeners) {
            turn.call(key, new Heard(session.peer));
        }
        session.listeners.clear();
    }

    /** The peer does what no peer does. Its session ends by silence unless it comes back in its right mind. */
    private void breakLink(MemberSession session, SessionTurn turn) {
        byLink.remove(session.link);
        turn.hangUp(session.link);
        session.link = MemberSession.NO_LINK;
    }

    private long retryBase(MemberSession session) {
        return Retry.base(session.classes.smallest(settings.maxTtl()));
    }

    private Data header(MemberSession session, List<Message> messages, boolean complete) {
        Stream stream = session.stream;
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

    @Override
    public void died(long number, SessionTurn turn) {
        MemberSession session = sessions.get(number);
        if (session != null) {
            end(session, turn);
        }
    }

    @Override
    public void stalled(long nanos) {
        for (MemberSession session : sessions.values()) {
            session.heard += nanos;
        }
        if (quarantined) {
            quarantineUntil += nanos;
        }
        door.stalled(nanos);
    }

    @Override
    public void closing(SessionTurn turn) {
        closing = true;
    }

    @Override
    public void forced(long ticket, SessionTurn turn) {
        promises.forced(ticket);
    }

    @Override
    public long send(Peer to, Message message) {
        MemberSession session = sessions.get(to.session());
        if (session == null) {
            return 0;
        }
        dirty.add(session);
        return session.stream.add(message);
    }

    @Override
    public void flush(SessionTurn turn) {
        long until = leasesEnd();
        if (until != Turn.NEVER) {
            promises.need(until, epoch, turn);
        }
        for (MemberSession session : dirty) {
            transmit(session, turn);
        }
        dirty.clear();
        if (until != Turn.NEVER) {
            promises.ahead(until, epoch, turn);
        }
        turn.timer(WAKE, nextWork());
    }

    /** When the last lease ends that a frame of this flush begins or extends; {@link Turn#NEVER} if none does. */
    private long leasesEnd() {
        long until = Turn.NEVER;
        for (MemberSession session : dirty) {
            long ttl = session.classes.largestGranted();
            if (ttl != 0 && (until == Turn.NEVER || session.heard + ttl - until > 0)) {
                until = session.heard + ttl;
            }
        }
        return until;
    }

    private void transmit(MemberSession session, SessionTurn turn) {
        if (session.connected()) {
            Stream stream = session.stream;
            while (stream.unsent()) {
                List<Message> messages = stream.send(MAX_MESSAGES);
                turn.transmit(session.link, header(session, messages, !stream.unsent()));
                session.owes &= stream.unsent();
            }
            if (session.owes) {
                session.owes = false;
                turn.transmit(session.link, header(session, List.of(), true));
            }
            if (stream.inFlight()) {
                session.retry.sent(turn.now(), retryBase(session));
            }
        }
        dues.list(session, session.due(settings.maxTtl()));
    }

    private long nextWork() {
        long next = dues.next();
        if (quarantined) {
            next = Clocks.earlier(next, quarantineUntil);
        }
        return Clocks.earlier(next, door.nextWork());
    }

    private SessionTurn turn() {
        if (turn == null) {
            throw new IllegalStateException("no turn has begun");
        }
        return turn;
    }

    @Override
    public long epoch() {
        return epoch;
    }

    /** Also true once the member is closing: it grants no more. */
    @Override
    public boolean quarantined() {
        return quarantined || closing;
    }

    @Override
    public void awaitOpening(Key key) {
        awaitOpening.add(key);
    }

    @Override
    public long maxTtl() {
        return settings.maxTtl();
    }

    @Override
    public long quarantine() {
        return settings.quarantine();
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
    public void nextEpoch(Turn turn) {
        newEpoch(epoch + 1, turn);
    }

    private void newEpoch(long next, Turn turn) {
        epoch = checkedEpoch(next);
        floor = 0;
        turn.force(new MemberRecord(epoch, promises.horizon()));
    }

    @Override
    public boolean live(Peer peer) {
        return sessions.containsKey(peer.session());
    }

    /** {@link Turn#NEVER} if the session is over. */
    @Override
    public long silence(Peer peer) {
        MemberSession session = sessions.get(peer.session());
        return session == null ? Turn.NEVER : turn().now() - session.heard;
    }

    /** A session that is over takes none: its {@link SessionEnded} is on its way to the key, or has come. */
    @Override
    public void grant(Peer peer, Key key, long token, long ttl) {
        MemberSession session = sessions.get(peer.session());
        if (session != null) {
            session.classes.grant(key, token, ttl);
            dirty.add(session);
        }
    }

    @Override
    public void ungrant(Peer peer, Key key, long token, long ttl) {
        MemberSession session = sessions.get(peer.session());
        if (session != null) {
            session.classes.ungrant(key, token, ttl);
        }
    }

    @Override
    public void await(Peer peer, Key key, long ttl) {
        MemberSession session = sessions.get(peer.session());
        if (session != null) {
            session.classes.await(key, ttl);
        }
    }

    @Override
    public void unawait(Peer peer, Key key, long ttl) {
        MemberSession session = sessions.get(peer.session());
        if (session != null) {
            session.classes.unawait(key, ttl);
        }
    }

    @Override
    public void listen(Peer peer, Key key) {
        MemberSession session = sessions.get(peer.session());
        if (session != null) {
            session.listeners.add(key);
        }
    }

    @Override
    public List<Grant> grants() {
        List<Grant> grants = new ArrayList<>();
        for (MemberSession session : sessions.values()) {
            session.classes.list(session.peer, grants);
        }
        return grants;
    }

    /** A live session, for searches; null if it is over. */
    @Nullable
    MemberSession session(long number) {
        return sessions.get(number);
    }

    /** The number of the newest session. */
    long lastSession() {
        return lastSession;
    }

    /** The incarnation of the client behind a live session; null if it is over. For oracles. */
    public @Nullable Incarnation client(long session) {
        MemberSession live = sessions.get(session);
        return live == null ? null : live.client;
    }

    @Override
    public MemberSessions copy() {
        MemberSessions copy = new MemberSessions(settings, node, self, epoch, quarantineUntil, Horizon.NONE);
        copy.door = door.copy();
        copy.promises = promises.copy();
        copy.floor = floor;
        copy.quarantined = quarantined;
        copy.closing = closing;
        copy.lastSession = lastSession;
        copy.awaitOpening.addAll(awaitOpening);
        for (MemberSession session : sessions.values()) {
            MemberSession twin = session.copy();
            copy.sessions.put(twin.peer.session(), twin);
            copy.dues.relist(twin);
            if (twin.connected()) {
                copy.byLink.put(twin.link, twin);
            }
        }
        for (MemberSession session : dirty) {
            copy.dirty.add(copy.live(session.peer.session()));
        }
        return copy;
    }

    @Override
    public void encode(Canon out) {
        out.put(self.high()).put(self.low()).put(epoch).put(floor).put(closing).put(lastSession);
        out.put(quarantined).time(quarantined ? quarantineUntil : Turn.NEVER).put(awaitOpening.size());
        for (Key key : awaitOpening) {
            out.put(key);
        }
        door.encode(out);
        promises.encode(out);
        out.put(sessions.size());
        for (MemberSession session : sessions.values()) {
            session.encode(out);
        }
        out.put(dirty.size());
        for (MemberSession session : dirty) {
            out.put(session.peer);
        }
    }
}
