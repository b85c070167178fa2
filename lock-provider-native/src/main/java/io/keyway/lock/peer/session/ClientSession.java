// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.ClientView.Dismissed;
import io.keyway.lock.peer.kernel.ClientView.Disowned;
import io.keyway.lock.peer.kernel.Frame;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.session.SessionFrame.Challenge;
import io.keyway.lock.peer.session.SessionFrame.Data;
import io.keyway.lock.peer.session.SessionFrame.Hello;
import io.keyway.lock.peer.session.SessionFrame.Refuse;
import io.keyway.lock.peer.session.SessionFrame.Seen;
import io.keyway.lock.peer.session.SessionFrame.Welcome;
import java.util.LinkedHashSet;
import java.util.List;
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
public final class ClientSession extends ClientSide {
    /** The most epochs that a hello tells of. */
    public static final int MAX_SEEN = 1;

    private static final int WAKE = 0;

    private final SessionSettings settings;
    private final ClientHandshake introduction;
    private Keepalive pace;
    private Dialer dialer = new Dialer();
    private @Nullable Unreachable trouble;
    /** Why the last session was over; empty before. */
    private String lastEnd = "";

    /**
     * A client that has not been connected yet.
     *
     * @param seen the highest epochs that this client's process knows of; at most {@value #MAX_SEEN}, which fit into a hello
     */
    public ClientSession(SessionSettings settings, Incarnation self, List<Seen> seen) {
        this(settings, self, SessionTarget.ONLY_MEMBER, seen, 0, 0);
    }

    /**
     * A client that has not been connected yet.
     *
     * @param seen as above
     * @param life the byte of the machine's lock file that this client keeps locked; 0 where there is none
     * @param guard the byte of a process that works under this client's leases; 0 if there is none
     */
    public ClientSession(
            SessionSettings settings, Incarnation self, SessionTarget aim, List<Seen> seen, long life, long guard) {
        this(settings, new ClientHandshake(settings, self, aim, seen));
        introduction.lives(life, guard);
    }

    private ClientSession(SessionSettings settings, ClientHandshake introduction) {
        this.settings = settings;
        this.introduction = introduction;
        this.pace = new Keepalive(Turn.NEVER, Turn.NEVER, settings.maxTtl(), 0);
    }

    @Override
    public void begin(SessionTurn begun) {
        turnBegins(begun);
        long now = begun.now();
        OpenSession session = open;
        if (session != null) {
            session.beliefs().lapse(begun);
            if (dialer.up()) {
                beginUp(session, begun);
            } else if (dialer.phase() == Dialer.Phase.DOWN && now - session.forgetAt(settings.maxTtl()) >= 0) {
                over(session, false, "no answer for the longest lease", begun);
            }
        }
        if (dialer.opening() && Clocks.due(dialer.next(), now)) {
            failed("no answer in time", false, begun);
        }
    }

    private void beginUp(OpenSession session, SessionTurn turn) {
        Keepalive pace = pace(session);
        if (session.silent(pace, turn.now())) {
            turn.goal(SessionGoal.SILENT_LINK);
            turn.hangUp(dialer.link());
            dialer.downForNow(turn);
            session.linkDown();
        } else {
            session.look(pace, turn);
        }
    }

    private Keepalive pace(OpenSession session) {
        long waited = Math.min(waits.smallest(), introduction.attention());
        pace = pace.of(session.beliefs().smallest(), waited, dialer.roundTrip());
        return pace;
    }

    private void failed(String why, boolean lasting, SessionTurn turn) {
        turn.hangUp(dialer.link());
        dialer.down(true, turn);
        trouble = new Unreachable(why, lasting);
        waits.unreachable(trouble, turn);
    }

    /** Drops everything of a session; its keys hear of it in this turn. */
    private void over(OpenSession session, boolean restarted, String why, SessionTurn turn) {
        open = null;
        lastEnd = why;
        if (!closing) {
            tellGone(session, restarted, why, turn);
        }
    }

    private void tellGone(OpenSession session, boolean restarted, String why, SessionTurn turn) {
        Set<Key> keys = new LinkedHashSet<>(waits.keys());
        session.keys(keys);
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
            session.linkDown();
            dialer.down(false, turn);
        } else {
            failed(why, false, turn);
        }
    }

    @Override
    public void unfit(long link, String why, SessionTurn turn) {
        if (dialer.is(link) && dialer.opening()) {
            failed(why, true, turn);
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
            session.linkDown();
        }
        failed(why, false, turn);
    }

    private void challenged(long link, Challenge challenge, SessionTurn turn) {
        Hello hello = dialer.hello();
        ClientHandshake.Objection objection = introduction.objection(hello, challenge, turn.now());
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
        long until = session.beliefs().lastLapse();
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
            dialer.downForNow(turn);
            return;
        }
        failed(introduction.why(refusal), refusal.code().lasting(), turn);
    }

    private void welcomed(Welcome welcome, SessionTurn turn) {
        OpenSession session = open;
        if (!introduction.expects(welcome)) {
            broken("it is " + welcome.node() + " that answers", turn);
            return;
        }
        if (session == null) {
            if (welcome.session() == 0 || welcome.received() != 0) {
                broken("the member opened session " + welcome.session() + " in the middle", turn);
                return;
            }
            session = new OpenSession(new Peer(welcome.session()), dialer.member(), turn.now());
            open = session;
            if (closing) {
                session.add(new Bye());
            }
            boolean reasserting = welcome.quarantine() > 0;
            if (reasserting) {
                turn.goal(SessionGoal.REASSERT_WINDOW);
            }
            waits.tell(new SessionOpen(session.peer, reasserting), turn);
        } else if (session.resumes(welcome)) {
            session.resumed(welcome, turn);
        } else {
            broken("the member resumed another session", turn);
            return;
        }
        dialer.welcomed(turn.now());
        waits.reachable();
        trouble = null;
        introduction.welcomed(welcome, session.member);
        finish(session, turn);
    }

    private void data(OpenSession session, Data frame, SessionTurn turn) {
        String wrong = session.take(frame, settings.algorithm(), !closing, pace(session), turn);
        if (wrong != null) {
            broken(wrong, turn);
        } else {
            finish(session, turn);
        }
    }

    /** A goodbye that the member has is the end. */
    private void finish(OpenSession session, SessionTurn turn) {
        if (closing && session.allAcknowledged()) {
            turn.hangUp(dialer.link());
            dialer.downForNow(turn);
            over(session, false, "closed", turn);
        }
    }

    @Override
    public void died(long session, SessionTurn turn) {}

    @Override
    public void stalled(long nanos) {
        OpenSession session = open;
        if (session != null) {
            session.stalled(nanos);
        }
        dialer.stalled(nanos);
    }

    @Override
    public void reborn(long newLife, long newGuard, String why, SessionTurn turn) {
        introduction.lives(newLife, newGuard);
        if (newLife == Input.Reborn.NO_LIFE) {
            waits.unreachable(new Unreachable(why, true), turn);
        } else {
            waits.reachable();
        }
        if (dialer.phase() != Dialer.Phase.DOWN) {
            turn.hangUp(dialer.link());
            dialer.downForNow(turn);
        }
        OpenSession session = open;
        if (session != null) {
            over(session, false, why, turn);
        }
        waits.tell(new Disowned(why), turn);
    }

    /** Another life of the member has shown itself elsewhere: what this one still says belongs to nobody. */
    void overtaken(SessionTurn turn) {
        if (dialer.phase() != Dialer.Phase.DOWN) {
            turn.hangUp(dialer.link());
            dialer.downForNow(turn);
        }
        OpenSession session = open;
        if (session != null) {
            over(session, true, "the member was restarted", turn);
        }
    }

    @Override
    public void dismissed(SessionTurn turn) {
        waits.tell(new Dismissed(), turn);
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
            session.add(new Bye());
        }
        closing = true;
        if (session == null && dialer.phase() != Dialer.Phase.DOWN) {
            turn.hangUp(dialer.link());
            dialer.downForNow(turn);
        }
    }

    /** True once a closing client has nothing left to tell its member. */
    public boolean closed() {
        return closing && open == null;
    }

    @Override
    public void forced(long ticket, SessionTurn turn) {}

    @Override
    public void flush(SessionTurn turn) {
        OpenSession session = open;
        if (session != null && dialer.up()) {
            session.transmit(dialer.link(), pace(session), turn);
        }
        if (dialer.mayDial(turn.now()) && wanted()) {
            long patience = session == null
                    ? settings.proofTimeout()
                    : 3 * pace(session).silence();
            dialer.dial(patience, settings.proofTimeout(), turn);
        }
        turn.timer(WAKE, nextWork());
    }

    /**
     * A refusal that is to last fails whoever waits, so that nobody is left for whom the member would be dialled. Its
     * operator may have mended it since: so whoever comes after the distance between two attempts has the member asked
     * again.
     */
    @Override
    public void await(Key key, long ttl) {
        Unreachable refused = trouble;
        boolean isAskedAgain = dialer.opening() || dialer.mayDial(turn().now());
        if (refused != null && refused.final_() && isAskedAgain && introduction.possible()) {
            waits.reachable();
        }
        super.await(key, ttl);
    }

    /** True if a link is to be up. */
    private boolean wanted() {
        return introduction.possible() && (open != null || (!closing && (!waits.isEmpty() || introduction.demanded())));
    }

    private long nextWork() {
        OpenSession session = open;
        long next = dialer.opening() || wanted() ? dialer.next() : Turn.NEVER;
        if (session == null) {
            return next;
        }
        next = Clocks.earlier(next, session.beliefs().next());
        Keepalive pace = pace(session);
        if (dialer.up()) {
            return Clocks.earlier(next, session.nextWork(pace));
        }
        return dialer.phase() == Dialer.Phase.DOWN ? Clocks.earlier(next, session.forgetAt(settings.maxTtl())) : next;
    }

    /** Which life of the member has proved itself on the current link; null if none has. */
    @Nullable
    Incarnation answering() {
        return dialer.up() || dialer.phase() == Dialer.Phase.PROVED ? dialer.member() : null;
    }

    /** The highest stamp of the open session that came back; {@link Turn#NEVER} if none did. */
    long highestEcho() {
        return open == null ? Turn.NEVER : open.beliefs().highestEcho();
    }

    /** Nanoseconds from the last proof to its welcome. */
    long roundTrip() {
        return dialer.roundTrip();
    }

    /** Why the last session was over. */
    String lastEnd() {
        return lastEnd;
    }

    /** Whose session it is that is open, for searches. */
    Incarnation member() {
        return current().member;
    }

    /** What the last welcome said; null before the first. */
    public @Nullable WelcomeInfo greeting() {
        return introduction.greeting();
    }

    /** Why the last attempt to connect failed; null if it did not, or if there was none. */
    public @Nullable Unreachable trouble() {
        return trouble;
    }

    @Override
    public boolean connected() {
        return exists() && dialer.up();
    }

    @Override
    public ClientSession copy() {
        ClientSession copy = new ClientSession(settings, introduction.copy());
        copy.waits = waits.copy();
        copy.dialer = dialer.copy();
        copy.trouble = trouble;
        copy.lastEnd = lastEnd;
        copy.open = open == null ? null : open.copy();
        copy.closing = closing;
        return copy;
    }

    @Override
    public void encode(StateEncoder out) {
        introduction.encode(out);
        waits.encode(out);
        dialer.encode(out);
        out.put(closing).value(trouble).put(open != null);
        if (open != null) {
            open.encode(out);
        }
    }
}
