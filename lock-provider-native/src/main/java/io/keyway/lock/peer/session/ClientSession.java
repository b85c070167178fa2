// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.Belief;
import io.keyway.lock.peer.kernel.Canon;
import io.keyway.lock.peer.kernel.ClientView;
import io.keyway.lock.peer.kernel.Frame;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.SessionLayer;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.session.SessionFrame.Challenge;
import io.keyway.lock.peer.session.SessionFrame.Data;
import io.keyway.lock.peer.session.SessionFrame.Hello;
import io.keyway.lock.peer.session.SessionFrame.Refuse;
import io.keyway.lock.peer.session.SessionFrame.Seen;
import io.keyway.lock.peer.session.SessionFrame.Welcome;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A client's session with one member.
 *
 * <p>Every frame that goes out carries the client's clock, and a grant is believed until the highest stamp that came back plus 3/4 ttl. The member hears a frame after it was stamped and lets a grant live
 * for its whole ttl from there, so belief ends first, whatever was lost, late or sent twice. A lapse is told before anything else of a turn; messages of a frame come before its echo, since one of them may
 * end what the echo would extend. A link that breaks ends nothing: the session is resumed over the next one. When the member has ended the session, everything of it is dropped before a fresh hello; when
 * another incarnation of the member answers, beliefs stay as they are and move no more.
 */
public final class ClientSession implements SessionLayer, ClientView {
    /** The most epochs that a hello tells of. */
    public static final int MAX_SEEN = 2;

    private static final int WAKE = 0;

    private final SessionSettings settings;
    private final Set<Key> afterEcho = new LinkedHashSet<>();
    private final Introduction introduction;
    private Waits waits = new Waits();
    private Dialer dialer = new Dialer();
    private @Nullable OpenSession open;
    private @Nullable Unreachable trouble;
    private boolean accepting;
    private boolean closing;
    private @Nullable SessionTurn turn;

    /**
     * A client that has not been connected yet.
     *
     * @param seen the highest epochs that this client's process knows of; at most {@value #MAX_SEEN}, which fit into a hello
     */
    public ClientSession(SessionSettings settings, Incarnation self, List<Seen> seen) {
        this(settings, self, seen, 0, 0);
    }

    /**
     * @param life the byte of the machine's lock file that this client keeps locked; 0 where there is none
     * @param guard the byte of a process that works under this client's leases; 0 if there is none
     */
    public ClientSession(SessionSettings settings, Incarnation self, List<Seen> seen, long life, long guard) {
        this.settings = settings;
        this.introduction = new Introduction(settings, self, seen);
        introduction.lives(life, guard);
    }

    private ClientSession(SessionSettings settings, Introduction introduction) {
        this.settings = settings;
        this.introduction = introduction;
    }

    @Override
    public void begin(SessionTurn begun) {
        turn = begun;
        long now = begun.now();
        OpenSession session = open;
        if (session != null) {
            session.beliefs.lapse(begun);
            if (dialer.up()) {
                beginUp(session, begun);
            } else if (dialer.phase() == Dialer.Phase.DOWN
                    && now - forgetAt(session) >= 0
                    && pace(session).idle()) {
                over(session, false, "no answer for the longest lease, and nothing is held", begun);
            }
        }
        if (dialer.opening() && Clocks.due(dialer.next(), now)) {
            failed("no answer in time", false, begun);
        }
    }

    private void beginUp(OpenSession session, SessionTurn turn) {
        long now = turn.now();
        if (session.owed() && now - session.owedSince >= pace(session).silence()) {
            turn.goal(SessionGoal.SILENT_LINK);
            turn.hangUp(dialer.link());
            down(session);
            return;
        }
        if (session.retry.due(now)) {
            session.retry.again(now);
            if (session.stream.rewind()) {
                turn.goal(SessionGoal.RESENT);
            }
            session.keepNow = true;
        }
        session.keepNow |= now - session.lastStamp() >= pace(session).heartbeat();
        session.ackNow |= Clocks.due(session.ackBy, now);
    }

    private Pace pace(OpenSession session) {
        return new Pace(session.beliefs.smallest(), waits.smallest(), settings.maxTtl(), dialer.roundTrip());
    }

    private long forgetAt(OpenSession session) {
        return session.heard + settings.maxTtl();
    }

    /** The link of an open session is gone. */
    private void down(OpenSession session) {
        dialer.downForNow();
        session.retry.stop();
        session.owedSince = Turn.NEVER;
        session.ackBy = Turn.NEVER;
    }

    private void failed(String why, boolean lasting, SessionTurn turn) {
        turn.hangUp(dialer.link());
        dialer.down(true, turn);
        Unreachable now = new Unreachable(why, lasting);
        if (!now.equals(trouble)) {
            trouble = now;
            for (Key key : waits.keys()) {
                turn.call(key, now);
            }
        }
    }

    /** Drops everything of a session; its keys hear of it in this turn. */
    private void over(OpenSession session, boolean restarted, String why, SessionTurn turn) {
        open = null;
        if (!closing) {
            tellGone(session, restarted, why, turn);
        }
    }

    private void tellGone(OpenSession session, boolean restarted, String why, SessionTurn turn) {
        Set<Key> keys = new LinkedHashSet<>(waits.keys());
        session.keys(keys);
        keys.addAll(afterEcho);
        afterEcho.clear();
        SessionGone gone = new SessionGone(session.peer, restarted, why);
        for (Key key : keys) {
            turn.call(key, gone);
        }
    }

    @Override
    public void opened(long link, SessionTurn turn) {
        if (!dialer.is(link) || dialer.phase() != Dialer.Phase.DIALING) {
            turn.hangUp(link);
            return;
        }
        Hello hello = introduction.hello(link, open, turn);
        dialer.greeted(hello);
        turn.transmit(link, hello);
    }

    @Override
    public void closed(long link, String why, SessionTurn turn) {
        if (!dialer.is(link)) {
            return;
        }
        OpenSession session = open;
        if (dialer.up() && session != null) {
            down(session);
            dialer.down(false, turn);
        } else {
            failed(why, false, turn);
        }
    }

    @Override
    public void arrived(long link, Frame frame, SessionTurn turn) {
        if (!dialer.is(link)) {
            return; // an older link: what it still delivers belongs to nobody
        }
        OpenSession session = open;
        if (frame instanceof Data data) {
            if (dialer.up() && session != null) {
                data(session, data, turn);
            }
        } else if (frame instanceof Challenge challenge) {
            if (dialer.phase() == Dialer.Phase.GREETED) {
                challenged(link, challenge, turn);
            }
        } else if (frame instanceof Welcome welcome) {
            if (dialer.phase() == Dialer.Phase.PROVED) {
                welcomed(welcome, turn);
            }
        } else if (frame instanceof Refuse refusal) {
            if (dialer.opening()) {
                refused(refusal, turn);
            }
        } else {
            broken("the member sends what only clients send", turn);
        }
    }

    /** The peer does what no peer does: its session lives on, but over another link. */
    private void broken(String why, SessionTurn turn) {
        OpenSession session = open;
        if (session != null && dialer.up()) {
            down(session);
        }
        failed(why, false, turn);
    }

    private void challenged(long link, Challenge challenge, SessionTurn turn) {
        Hello hello = dialer.hello();
        Introduction.Objection objection = introduction.objection(hello, challenge, turn.now());
        if (objection != null) {
            failed(objection.why(), objection.lasting(), turn);
            return;
        }
        OpenSession session = open;
        if (session != null && !session.member.equals(challenge.member())) {
            freeze(session, turn);
        }
        dialer.proved(challenge.member(), turn.now());
        turn.transmit(link, introduction.proof(hello, challenge));
    }

    private void freeze(OpenSession session, SessionTurn turn) {
        long until = session.beliefs.lastLapse();
        if (until != Turn.NEVER) {
            turn.goal(SessionGoal.FROZEN);
            introduction.freeze(session.member, until);
        }
        over(session, true, "the member was restarted", turn);
    }

    private void refused(Refuse refusal, SessionTurn turn) {
        OpenSession session = open;
        boolean proved = dialer.phase() == Dialer.Phase.PROVED;
        if (refusal.code() == RefuseCode.UNKNOWN_SESSION && proved && session != null) {
            turn.hangUp(dialer.link());
            over(session, false, "the member has ended the session", turn);
            dialer.downForNow();
            return;
        }
        failed(Introduction.why(refusal), refusal.code().lasting(), turn);
    }

    private void welcomed(Welcome welcome, SessionTurn turn) {
        OpenSession session = open;
        if (session == null) {
            if (welcome.session() == 0 || welcome.received() != 0) {
                broken("the member opened session " + welcome.session() + " in the middle", turn);
                return;
            }
            session = new OpenSession(new Peer(welcome.session()), dialer.member(), turn.now());
            open = session;
            if (closing) {
                session.stream.add(new Bye());
            }
            boolean reasserting = welcome.quarantine() > 0;
            if (reasserting) {
                turn.goal(SessionGoal.REASSERT_WINDOW);
            }
            SessionOpen call = new SessionOpen(session.peer, reasserting);
            for (Key key : waits.keys()) {
                turn.call(key, call);
            }
        } else if (welcome.session() != session.peer.session()
                || welcome.received() < session.stream.acked()
                || welcome.received() > session.stream.everSent()) {
            broken("the member resumed another session", turn);
            return;
        } else {
            acknowledged(session, welcome.received(), turn);
            if (session.stream.rewind()) {
                turn.goal(SessionGoal.RESENT);
            }
            session.keepNow = true;
        }
        session.heard = turn.now();
        dialer.welcomed(turn.now());
        trouble = null;
        introduction.welcomed(welcome, session.member);
        finish(session, turn);
    }

    private boolean acknowledged(OpenSession session, long upTo, SessionTurn turn) {
        if (!session.stream.acknowledged(upTo)) {
            return false;
        }
        for (Map.Entry<Long, List<Key>> next = session.received(); next != null; next = session.received()) {
            Received call = new Received(next.getKey());
            for (Key key : next.getValue()) {
                turn.call(key, call);
            }
        }
        return true;
    }

    private void data(OpenSession session, Data frame, SessionTurn turn) {
        Stream stream = session.stream;
        Stream.Fit fit = frame.session() == session.peer.session() ? stream.fit(frame) : Stream.Fit.BROKEN;
        if (fit == Stream.Fit.GAP) {
            turn.goal(SessionGoal.GAP_DROPPED);
            return;
        }
        if (fit == Stream.Fit.BROKEN || (frame.stamped() && (!session.stamped || frame.stamp() - session.stamp > 0))) {
            broken("the member answers what was never sent", turn);
            return;
        }
        session.heard = turn.now();
        boolean progress = acknowledged(session, frame.ack(), turn);
        accepting = true;
        long number = frame.seq();
        for (Message message : frame.messages()) {
            session.ackBy =
                    Clocks.earlier(session.ackBy, turn.now() + pace(session).acknowledgement());
            if (!stream.take(number++)) {
                turn.goal(SessionGoal.DUPLICATE_DROPPED);
            } else if (message.key().algorithm() != settings.algorithm()) {
                accepting = false;
                broken("a message for algorithm " + message.key().algorithm(), turn);
                return;
            } else if (!closing) { // nothing that comes behind the goodbye can be kept
                turn.accept(session.peer, message);
            }
        }
        accepting = false;
        if (frame.stamped() && session.beliefs.echoed(frame.stamp())) {
            turn.goal(SessionGoal.EXTENDED);
            progress = true;
        }
        session.owedSince = session.owed() && !session.beliefs.covers(session.stamp) ? turn.now() : Turn.NEVER;
        if (progress) {
            session.retry.progress(turn.now(), pace(session).retry(), session.outstanding());
        }
        session.confirmed(afterEcho);
        for (Key key : afterEcho) {
            turn.call(key, new Echoed());
        }
        afterEcho.clear();
        finish(session, turn);
    }

    /** A goodbye that the member has is the end. */
    private void finish(OpenSession session, SessionTurn turn) {
        if (closing && !session.stream.unacknowledged()) {
            turn.hangUp(dialer.link());
            dialer.downForNow();
            over(session, false, "closed", turn);
        }
    }

    @Override
    public void died(long session, SessionTurn turn) {}

    @Override
    public void stalled(long nanos) {
        OpenSession session = open;
        if (session != null && session.owed()) {
            session.owedSince += nanos;
        }
        dialer.stalled(nanos);
    }

    @Override
    public void reborn(long newLife, long newGuard, String why, SessionTurn turn) {
        introduction.lives(newLife, newGuard);
        if (newLife == Input.Reborn.NO_LIFE) {
            trouble = new Unreachable(why, true);
            for (Key key : waits.keys()) {
                turn.call(key, trouble);
            }
        }
        if (dialer.phase() != Dialer.Phase.DOWN) {
            turn.hangUp(dialer.link());
            dialer.downForNow();
        }
        OpenSession session = open;
        if (session != null) {
            over(session, false, why, turn);
        }
    }

    @Override
    public void closing(SessionTurn turn) {
        // Everything of the session is dropped here and now: the member ends it as soon as it reads the goodbye.
        if (closing) {
            return;
        }
        OpenSession session = open;
        if (session != null) {
            tellGone(session, false, "closed", turn);
            session.leave(turn.now());
            session.stream.add(new Bye());
        }
        closing = true;
        if (session == null && dialer.phase() != Dialer.Phase.DOWN) {
            turn.hangUp(dialer.link());
            dialer.downForNow();
        }
    }

    /** True once a closing client has nothing left to tell its member. */
    public boolean closed() {
        return closing && open == null;
    }

    @Override
    public void forced(long ticket, SessionTurn turn) {}

    @Override
    public long send(Peer to, Message message) {
        OpenSession session = open;
        if (session == null || closing || to.session() != session.peer.session()) {
            return 0;
        }
        return session.stream.add(message);
    }

    @Override
    public void flush(SessionTurn turn) {
        OpenSession session = open;
        if (session != null && dialer.up()) {
            transmit(session, turn);
        }
        if (dialer.mayDial(turn.now()) && wanted()) {
            long patience = session == null
                    ? settings.proofTimeout()
                    : 3 * pace(session).silence();
            dialer.dial(patience, settings.proofTimeout(), turn);
        }
        turn.timer(WAKE, nextWork());
    }

    private void transmit(OpenSession session, SessionTurn turn) {
        Stream stream = session.stream;
        if (session.keepNow || stream.unsent()) {
            long stamp = turn.clock();
            session.stamped(stamp, turn.now());
            do {
                List<Message> messages = stream.send(MemberSessions.MAX_MESSAGES);
                boolean last = !stream.unsent();
                turn.transmit(dialer.link(), frame(session, messages, last, last ? stamp : 0));
            } while (stream.unsent());
            session.retry.sent(turn.now(), pace(session).retry());
        } else if (session.ackNow) {
            session.ackNow = false;
            session.ackBy = Turn.NEVER;
            turn.transmit(dialer.link(), frame(session, List.of(), false, 0));
        }
    }

    private static Data frame(OpenSession session, List<Message> messages, boolean stamped, long stamp) {
        Stream stream = session.stream;
        long seq = stream.next() - messages.size();
        return new Data(session.peer.session(), seq, stream.received(), stamped, stamp, 0, messages);
    }

    /** True if a link is to be up. */
    private boolean wanted() {
        return introduction.possible() && (open != null || (!waits.isEmpty() && !closing));
    }

    private long nextWork() {
        OpenSession session = open;
        long next = dialer.opening() || wanted() ? dialer.next() : Turn.NEVER;
        if (session == null) {
            return next;
        }
        next = Clocks.earlier(next, session.beliefs.nextLapse());
        if (!dialer.up()) {
            boolean forgotten =
                    dialer.phase() == Dialer.Phase.DOWN && pace(session).idle();
            return forgotten ? Clocks.earlier(next, forgetAt(session)) : next;
        }
        next = Clocks.earlier(next, session.retry.at());
        next = Clocks.earlier(next, session.ackBy);
        next = Clocks.earlier(next, session.lastStamp() + pace(session).heartbeat());
        return session.owed()
                ? Clocks.earlier(next, session.owedSince + pace(session).silence())
                : next;
    }

    /** Whose session it is that is open, for searches. */
    Incarnation member() {
        return current().member;
    }

    private SessionTurn turn() {
        if (turn == null) {
            throw new IllegalStateException("no turn has begun");
        }
        return turn;
    }

    private OpenSession current() {
        if (open == null || closing) {
            throw new IllegalStateException("there is no session; ask exists() first");
        }
        return open;
    }

    @Override
    public Peer session() {
        return open == null || closing ? new Peer(0) : open.peer;
    }

    @Override
    public boolean exists() {
        return open != null && !closing;
    }

    @Override
    public boolean connected() {
        return exists() && dialer.up();
    }

    @Override
    public Belief belief(long ttl) {
        return current().beliefs.belief(ttl);
    }

    @Override
    public void hold(Key key, long ttl) {
        current().beliefs.hold(key, ttl);
    }

    @Override
    public void unhold(Key key, long ttl) {
        if (open != null) {
            open.beliefs.unhold(key, ttl);
        }
    }

    @Override
    public void await(Key key, long ttl) {
        waits.add(key, ttl);
        if (trouble != null) {
            turn().call(key, trouble);
        }
    }

    @Override
    public void unawait(Key key, long ttl) {
        waits.remove(key, ttl);
    }

    @Override
    public void receipt(Key key, long number) {
        OpenSession session = current();
        if (number <= session.stream.acked()) {
            turn().call(key, new Received(number));
        } else {
            session.receipt(key, number);
        }
    }

    @Override
    public void confirm(Key key) {
        current().confirm(key);
    }

    @Override
    public void afterEcho(Key key) {
        if (accepting) {
            afterEcho.add(key);
        } else {
            turn().call(key, new Echoed());
        }
    }

    @Override
    public ClientSession copy() {
        ClientSession copy = new ClientSession(settings, introduction.copy());
        copy.waits = waits.copy();
        copy.dialer = dialer.copy();
        copy.open = open == null ? null : open.copy();
        copy.trouble = trouble;
        copy.closing = closing;
        return copy;
    }

    @Override
    public void encode(Canon out) {
        introduction.encode(out);
        waits.encode(out);
        dialer.encode(out);
        out.value(trouble).put(closing).put(open != null);
        if (open != null) {
            open.encode(out);
        }
    }
}
