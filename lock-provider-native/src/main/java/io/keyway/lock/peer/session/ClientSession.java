// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.Belief;
import io.keyway.lock.peer.kernel.ClientView;
import io.keyway.lock.peer.kernel.ClientView.Dismissed;
import io.keyway.lock.peer.kernel.ClientView.Disowned;
import io.keyway.lock.peer.kernel.Frame;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.SessionLayer;
import io.keyway.lock.peer.kernel.SessionLayer.SessionTurn;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.session.SessionFrame.Challenge;
import io.keyway.lock.peer.session.SessionFrame.Data;
import io.keyway.lock.peer.session.SessionFrame.Hello;
import io.keyway.lock.peer.session.SessionFrame.Refuse;
import io.keyway.lock.peer.session.SessionFrame.Resume;
import io.keyway.lock.peer.session.SessionFrame.Seen;
import io.keyway.lock.peer.session.SessionFrame.Welcome;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A client's session with one member: one machine with what it is made of, {@link ClientHandshake} (what is said before
 * the welcome), {@link Dialer} (the one link), {@link Beliefs} (until when which grants are believed in) and
 * {@link AckCallbacks} (who is told what the member has).
 *
 * <p><b>States.</b> No session; a session whose link is up; a session whose link is down, which is dialled again for as
 * long as somebody waits, holds, or wants it anyway. The link is down, dialled, greeted, proved, or up. Of former
 * incarnations of the member whose grants may still be believed in, the end of that belief is kept (frozen).
 *
 * <p><b>Messages</b>: HELLO and PROOF; DATA with what machines say, with a stamp alone (KEEP), or with an
 * acknowledgement; BYE last. The member answers with CHALLENGE, WELCOME or REFUSE, and with DATA.
 *
 * <p><b>Invariants.</b>
 *
 * <ul>
 *   <li>Every frame that goes out is stamped with the client's clock, and a grant is believed until the highest stamp
 *       that came back plus 3/4 ttl. The member hears a frame after it was stamped and lets a grant live for its whole
 *       ttl from there, so belief ends first, whatever was lost, late or sent twice.
 *   <li>A lapse is told before anything else of a turn; messages of a frame come before its echo, since one of them may
 *       end what the echo would extend.
 *   <li>A link that breaks ends nothing: the session is resumed over the next one. When the member has ended the
 *       session, everything of it is dropped before a fresh hello. When another incarnation of the member answers,
 *       beliefs stay as they are and move no more.
 *   <li>A member that does not prove itself is told nothing but the hello.
 *   <li>After BYE nothing is held, waited for or taken any more.
 * </ul>
 */
public final class ClientSession implements SessionLayer, ClientView {
    private final SessionSettings settings;
    private final ClientHandshake handshake;
    private AwaitedKeys awaited = new AwaitedKeys();
    private @Nullable OpenSession open;
    /** The goodbye is said; no machine has a session any more. */
    private boolean closing;

    private @Nullable SessionTurn turn;
    private Keepalive keepalive;
    private Dialer dialer = new Dialer();
    private @Nullable Unreachable trouble;
    /** Why the last session was over; empty before. */
    private String lastEnd = "";

    /**
     * A client that has not been connected yet.
     *
     * @param seen the highest epochs that this client's process knows of; at most one, which fits into a hello
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
            SessionSettings settings, Incarnation self, SessionTarget target, List<Seen> seen, long life, long guard) {
        this(settings, new ClientHandshake(settings, self, target, seen));
        handshake.lives(life, guard);
    }

    private ClientSession(SessionSettings settings, ClientHandshake handshake) {
        this.settings = settings;
        this.handshake = handshake;
        this.keepalive = new Keepalive(Turn.NEVER, Turn.NEVER, settings.maxTtl(), 0);
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
            } else if (dialer.phase() == Dialer.Phase.DOWN && now - session.forgetAt(settings.maxTtl()) >= 0) {
                over(session, false, "no answer for the longest lease", begun);
            }
        }
        if (dialer.opening() && Turn.due(dialer.next(), now)) {
            failed("no answer in time", false, begun);
        }
    }

    private void beginUp(OpenSession session, SessionTurn turn) {
        Keepalive keepalive = keepalive(session);
        if (session.silent(keepalive, turn.now())) {
            turn.goal(SessionGoal.SILENT_LINK);
            turn.hangUp(dialer.link());
            dialer.downForNow(turn);
            session.linkDown();
        } else {
            session.look(keepalive, turn);
        }
    }

    private Keepalive keepalive(OpenSession session) {
        long waited = Math.min(awaited.smallest(), handshake.attention());
        keepalive = keepalive.of(session.beliefs.smallest(), waited, dialer.roundTrip());
        return keepalive;
    }

    private void failed(String why, boolean lasting, SessionTurn turn) {
        turn.hangUp(dialer.link());
        dialer.down(true, turn);
        trouble = new Unreachable(why, lasting);
        awaited.unreachable(trouble, turn);
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
        Set<Key> keys = new LinkedHashSet<>(awaited.keys());
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
        Hello hello = handshake.hello(link, open == null ? null : open.resume(), turn);
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
        ClientHandshake.Objection objection = handshake.objection(hello, challenge, turn.now());
        if (objection != null) {
            failed(objection.why(), objection.lasting(), turn);
            return;
        }
        OpenSession session = open;
        if (session != null && !session.member.equals(challenge.member())) {
            freeze(session, turn);
        }
        dialer.proved(challenge.member(), turn.now());
        turn.transmit(link, handshake.proof(hello, challenge));
    }

    private void freeze(OpenSession session, SessionTurn turn) {
        long until = session.beliefs.lastLapse();
        if (until != Turn.NEVER) {
            turn.goal(SessionGoal.FROZEN);
            handshake.freeze(session.member, until);
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
        failed(handshake.why(refusal), refusal.code().lasting(), turn);
    }

    private void welcomed(Welcome welcome, SessionTurn turn) {
        OpenSession session = open;
        if (!handshake.expects(welcome)) {
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
            awaited.tell(new SessionOpen(session.peer, reasserting), turn);
        } else if (session.resumes(welcome)) {
            session.resumed(welcome, turn);
        } else {
            broken("the member resumed another session", turn);
            return;
        }
        dialer.welcomed(turn.now());
        awaited.reachable();
        trouble = null;
        handshake.welcomed(welcome, session.member);
        finish(session, turn);
    }

    private void data(OpenSession session, Data frame, SessionTurn turn) {
        String wrong = session.take(frame, settings.algorithm(), !closing, keepalive(session), turn);
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
        handshake.lives(newLife, newGuard);
        if (newLife == Input.Reborn.NO_LIFE) {
            awaited.unreachable(new Unreachable(why, true), turn);
        } else {
            awaited.reachable();
        }
        if (dialer.phase() != Dialer.Phase.DOWN) {
            turn.hangUp(dialer.link());
            dialer.downForNow(turn);
        }
        OpenSession session = open;
        if (session != null) {
            over(session, false, why, turn);
        }
        awaited.tell(new Disowned(why), turn);
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
        awaited.tell(new Dismissed(), turn);
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
            session.transmit(dialer.link(), keepalive(session), turn);
        }
        if (dialer.mayDial(turn.now()) && wanted()) {
            long patience = session == null
                    ? settings.proofTimeout()
                    : 3 * keepalive(session).silence();
            dialer.dial(patience, settings.proofTimeout(), turn);
        }
        turn.wake(nextWork());
    }

    // What machines ask and tell

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
    public void unawait(Key key, long ttl) {
        awaited.remove(key, ttl);
    }

    @Override
    public void receipt(Key key, long number) {
        OpenSession session = current();
        if (number <= session.acked()) {
            turn().call(key, new Received(number));
        } else {
            session.callbacks.receipt(key, number);
        }
    }

    @Override
    public void confirm(Key key) {
        current().callbacks.confirm(key);
        current().keepNow();
    }

    @Override
    public void afterEcho(Key key) {
        if (open != null && open.taking()) {
            open.callbacks.afterFrame(key);
        } else {
            turn().call(key, Echoed.ECHOED);
        }
    }

    @Override
    public long send(Peer to, Message message) {
        OpenSession session = open;
        if (session == null || closing || to.session() != session.peer.session()) {
            return 0;
        }
        return session.add(message);
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
        if (refused != null && refused.final_() && isAskedAgain && handshake.possible()) {
            awaited.reachable();
        }
        awaited.add(key, ttl, turn());
    }

    /** True if a link is to be up. */
    private boolean wanted() {
        return handshake.possible() && (open != null || (!closing && (!awaited.isEmpty() || handshake.demanded())));
    }

    private long nextWork() {
        OpenSession session = open;
        long next = dialer.opening() || wanted() ? dialer.next() : Turn.NEVER;
        if (session == null) {
            return next;
        }
        next = Turn.earlier(next, session.beliefs.next());
        Keepalive keepalive = keepalive(session);
        if (dialer.up()) {
            return Turn.earlier(next, session.nextWork(keepalive));
        }
        return dialer.phase() == Dialer.Phase.DOWN ? Turn.earlier(next, session.forgetAt(settings.maxTtl())) : next;
    }

    /** Which life of the member has proved itself on the current link; null if none has. */
    @Nullable
    Incarnation answering() {
        return dialer.up() || dialer.phase() == Dialer.Phase.PROVED ? dialer.member() : null;
    }

    /** The highest stamp of the open session that came back; {@link Turn#NEVER} if none did. */
    long highestEcho() {
        return open == null ? Turn.NEVER : open.beliefs.highestEcho();
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
        return handshake.greeting();
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
        ClientSession copy = new ClientSession(settings, handshake.copy());
        copy.awaited = awaited.copy();
        copy.dialer = dialer.copy();
        copy.trouble = trouble;
        copy.lastEnd = lastEnd;
        copy.open = open == null ? null : open.copy();
        copy.closing = closing;
        return copy;
    }

    @Override
    public void encode(StateEncoder out) {
        handshake.encode(out);
        awaited.encode(out);
        dialer.encode(out);
        out.put(closing).value(trouble).put(open != null);
        if (open != null) {
            open.encode(out);
        }
    }

    /**
     * The session with one incarnation of the member: what it takes, what it sends, and when it has to speak. It
     * outlives links.
     */
    private static final class OpenSession {
        final Peer peer;
        final Incarnation member;
        private MessageStream stream = new MessageStream();
        private ResendTimer retry = new ResendTimer();
        private Beliefs beliefs;
        private AckCallbacks callbacks = new AckCallbacks();
        /** When the last frame came. */
        private long heard;

        private boolean stamped;
        /** The last stamp sent, once {@link #stamped}. */
        private long stamp;
        /** Since when an echo is missing; {@link Turn#NEVER} if none is. */
        private long owedSince = Turn.NEVER;
        /** When the messages that came are to be acknowledged at the latest. */
        private long ackBy = Turn.NEVER;
        /**
         * A stamped frame is to be sent by the next flush: the first at once, since it says that all has been told that
         * was to be told. An acknowledgement is.
         */
        private boolean keepNow = true;

        private boolean ackNow;
        /**
         * The last message that was acknowledged. Only a count that no search reaches depends on it, so it is no part
         * of the encoding.
         */
        private long ackedReceived;

        private boolean taking;

        OpenSession(Peer peer, Incarnation member, long now) {
            this.peer = peer;
            this.member = member;
            heard = now;
            beliefs = new Beliefs(now);
        }

        /** Queues a message; returns its number. */
        long add(Message message) {
            return stream.add(message);
        }

        /** How to go on with it over another link. */
        Resume resume() {
            return new Resume(member, peer.session(), stream.received());
        }

        /** How many messages the member is known to have. */
        long acked() {
            return stream.acked();
        }

        /** True if the member has all that was said. */
        boolean allAcknowledged() {
            return !stream.unacknowledged();
        }

        /** When nothing of it is worth keeping: every lease of it is over by then, at the member too. */
        long forgetAt(long maxTtl) {
            return heard + maxTtl;
        }

        void keepNow() {
            keepNow = true;
        }

        /** True if an answer is missing for so long that another link is to be tried. */
        boolean silent(Keepalive keepalive, long now) {
            return owed() && now - owedSince >= keepalive.silence();
        }

        private boolean owed() {
            return owedSince != Turn.NEVER;
        }

        /** A turn begins while a link is up: what is due is sent by the next flush. */
        void look(Keepalive keepalive, SessionTurn turn) {
            long now = turn.now();
            if (retry.due(now)) {
                retry.again(now);
                sendAgain(turn);
            }
            keepNow |= now - lastStamp() >= keepalive.heartbeat();
            ackNow |= Turn.due(ackBy, now);
        }

        private void sendAgain(SessionTurn turn) {
            if (stream.rewind()) {
                turn.goal(SessionGoal.RESENT);
            }
            keepNow = true;
        }

        /** When the last stamp was sent, or a frame came if none was. */
        private long lastStamp() {
            return stamped ? stamp : heard;
        }

        /** False if the member speaks of another session, or of messages that can't be. */
        boolean resumes(Welcome welcome) {
            return welcome.session() == peer.session()
                    && welcome.received() >= stream.acked()
                    && welcome.received() <= stream.everSent();
        }

        /** Goes on over a new link. */
        void resumed(Welcome welcome, SessionTurn turn) {
            acknowledged(welcome.received(), turn);
            sendAgain(turn);
            heard = turn.now();
        }

        /** The link is gone. */
        void linkDown() {
            retry.stop();
            owedSince = Turn.NEVER;
            ackBy = Turn.NEVER;
        }

        void stalled(long nanos) {
            if (owed()) {
                owedSince += nanos;
            }
        }

        private boolean acknowledged(long upTo, SessionTurn turn) {
            boolean news = stream.acknowledged(upTo);
            if (news) {
                callbacks.acknowledged(stream.acked(), turn);
            }
            return news;
        }

        /**
         * Takes a frame: its acknowledgement, its messages in order, and then its echo, since a message may end what
         * the echo would extend.
         *
         * @param algorithm whose messages may come
         * @param open false after the goodbye: nothing that comes behind it can be kept
         * @return why the peer is out of its mind; null if it is not
         */
        @Nullable
        String take(Data frame, int algorithm, boolean open, Keepalive keepalive, SessionTurn turn) {
            MessageStream.Fit fit = frame.session() == peer.session() ? stream.fit(frame) : MessageStream.Fit.BROKEN;
            if (fit == MessageStream.Fit.GAP) {
                turn.goal(SessionGoal.GAP_DROPPED);
                return null;
            }
            if (fit == MessageStream.Fit.BROKEN || (frame.stamped() && (!stamped || frame.stamp() - stamp > 0))) {
                return "the member answers what was never sent";
            }
            heard = turn.now();
            boolean progress = acknowledged(frame.ack(), turn);
            if (!frame.messages().isEmpty()) {
                ackBy = Turn.earlier(ackBy, turn.now() + keepalive.acknowledgement());
            }
            if (!accept(frame, algorithm, open, turn)) {
                return "the member sends messages of another algorithm";
            }
            ackNow |= stream.received() - ackedReceived >= MessageStream.WINDOW / 2;
            if (frame.stamped() && beliefs.echoed(frame.stamp(), turn)) {
                turn.goal(SessionGoal.EXTENDED);
                progress = true;
            }
            owedSince = owed() && !beliefs.covers(stamp) ? turn.now() : Turn.NEVER;
            if (progress) {
                retry.progress(turn.now(), keepalive.retry(), owed() || stream.unacknowledged());
            }
            callbacks.echoed(beliefs, turn);
            return null;
        }

        private boolean accept(Data frame, int algorithm, boolean open, SessionTurn turn) {
            taking = true;
            boolean known = true;
            long number = frame.seq();
            List<Message> messages = frame.messages();
            for (int i = 0; i < messages.size(); i++) {
                Message message = messages.get(i);
                if (!stream.take(number++)) {
                    turn.goal(SessionGoal.DUPLICATE_DROPPED);
                } else if (message.key().algorithm() != algorithm) {
                    known = false;
                    break;
                } else if (open) {
                    turn.accept(peer, message);
                }
            }
            taking = false;
            return known;
        }

        /** True while the messages of a frame are being processed, and its echo is not. */
        boolean taking() {
            return taking;
        }

        /**
         * Sends what is queued, stamped, or an acknowledgement if one is due. The stamp is taken before encoding, and
         * goes with the last frame: only behind all that was said.
         */
        void transmit(long link, Keepalive keepalive, SessionTurn turn) {
            if (keepNow || stream.unsent()) {
                stamp(turn.now());
                do {
                    List<Message> messages = stream.send(SessionFrame.MAX_MESSAGES);
                    turn.transmit(link, frame(messages, !stream.unsent()));
                } while (stream.unsent());
                retry.sent(turn.now(), keepalive.retry());
            } else if (ackNow) {
                spoken();
                turn.transmit(link, frame(List.of(), false));
            }
        }

        private void stamp(long now) {
            stamped = true;
            stamp = now;
            if (!owed()) {
                owedSince = now;
            }
            callbacks.stamped(now);
            keepNow = false;
            spoken();
        }

        private void spoken() {
            ackedReceived = stream.received();
            ackBy = Turn.NEVER;
            ackNow = false;
        }

        private Data frame(List<Message> messages, boolean withStamp) {
            long seq = stream.next() - messages.size();
            return new Data(peer.session(), seq, stream.received(), withStamp, withStamp ? stamp : 0, 0, messages);
        }

        /** When it has something to do while a link is up. */
        long nextWork(Keepalive keepalive) {
            long next = Turn.earlier(retry.at(), ackBy);
            next = Turn.earlier(next, lastStamp() + keepalive.heartbeat());
            return owed() ? Turn.earlier(next, owedSince + keepalive.silence()) : next;
        }

        /** Nothing is believed or expected any more. */
        void leave(long now) {
            beliefs = new Beliefs(now);
            callbacks.clear();
        }

        /** All keys that must hear of its end, each once, and some that need not. */
        void keys(Set<Key> into) {
            beliefs.holders(into);
            callbacks.keys(into);
        }

        OpenSession copy() {
            OpenSession copy = new OpenSession(peer, member, heard);
            copy.stream = stream.copy();
            copy.retry = retry.copy();
            copy.beliefs = beliefs.copy();
            copy.callbacks = callbacks.copy();
            copy.stamped = stamped;
            copy.stamp = stamp;
            copy.owedSince = owedSince;
            copy.ackBy = ackBy;
            copy.keepNow = keepNow;
            copy.ackNow = ackNow;
            copy.ackedReceived = ackedReceived;
            return copy;
        }

        void encode(StateEncoder out) {
            out.put(peer).put(member.high()).put(member.low()).time(heard);
            out.put(stamped).time(stamped ? stamp : Turn.NEVER).time(owedSince).time(ackBy);
            out.put(keepNow).put(ackNow);
            stream.encode(out);
            retry.encode(out);
            beliefs.encode(out);
            callbacks.encode(out);
        }
    }
}
