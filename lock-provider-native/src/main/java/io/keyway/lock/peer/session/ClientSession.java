// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.Belief;
import io.keyway.lock.peer.kernel.Call;
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
import io.keyway.lock.peer.session.SessionFrame.Seen;
import io.keyway.lock.peer.session.SessionFrame.Wait;
import io.keyway.lock.peer.session.SessionFrame.Welcome;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A client's session with one member: the one link, who waits, and what is made of it, {@link ClientHandshake} (what is
 * said before the welcome) and {@link OpenSession} (what is said after it, and until when which grants are believed
 * in).
 *
 * <p><b>States.</b> No session; a session whose link is up; a session whose link is down, which is dialled again for as
 * long as somebody waits, holds, or wants it anyway. The link is down, dialled, asked to prove itself (the hello is
 * sent), proved, or up; links are numbered by attempt. Of former incarnations of the member whose grants may still be
 * believed in, the end of that belief is kept (frozen).
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
    private static final long FIRST_DISTANCE = 10_000_000L;
    private static final long LONGEST_DISTANCE = 1_000_000_000L;
    private static final long SHORTEST_PATIENCE = 500_000_000L;
    /** So often all members are asked within half a second who leads, since a leader is replaced in little more. */
    private static final int QUICK_SEARCHES = 8;

    /** How far the link is. */
    private enum Phase {
        /** No link; the next attempt is not before its time. */
        DOWN,
        /** Asked for; not open. */
        DIALING,
        /** The hello is sent. */
        HELLO_SAID,
        /** The proof is sent. */
        PROVED,
        /** Welcomed. */
        UP
    }

    private final SessionSettings settings;
    private final ClientHandshake handshake;
    private final int algorithm;
    private final long attention;

    private @Nullable OpenSession open;
    /** The goodbye is said; no machine has a session any more. */
    private boolean closing;

    private @Nullable SessionTurn turn;

    private Phase phase = Phase.DOWN;
    /** The number of the current link, which is also that of the attempt. */
    private long link;
    /** When to give up what goes on, or to dial again; {@link Turn#NEVER} if there is no such time. */
    private long next = Turn.NEVER;

    private int failures;
    /** Attempts that nobody answered in time, since a link was good. */
    private int unanswered;
    /** How many members are asked in turn whether they lead; 1 while none has refused for that. */
    private int candidates = 1;
    /** {@link AllSaid} is to be sent, once all users have had their time to stop whose grants have ended. */
    private boolean saying;

    /** When the last of them has had its time; {@link Turn#NEVER} if all have. */
    private long stopsAt = Turn.NEVER;
    /** What was said on the current link, until the welcome. */
    private @Nullable Hello hello;
    /** Who answers on the current link, once it has. */
    private @Nullable Incarnation answering;

    private List<String> referral = List.of();
    /** When the proof was sent; {@link Turn#NEVER} once it is answered. */
    private long provedAt = Turn.NEVER;

    private long upSince;
    /** When the member closed the last link that was up; {@link Turn#NEVER} if it did not, and while one is up. */
    private long brokenAt = Turn.NEVER;
    /** It has refused a link since. */
    private boolean gone;
    /** Nanoseconds from the last proof to its answer; 0 before the first. */
    private long roundTrip;

    /** The keys that wait, each with one ttl. They outlive sessions. */
    private final Map<Key, Long> awaited = new LinkedHashMap<>();
    /** The smallest of their ttls, {@link Turn#NEVER} if none waits, and how many have it. */
    private long smallestAwaited = Turn.NEVER;

    private int atSmallest;
    /** What they were told of the member; null while it counts as reachable. */
    private @Nullable Unreachable told;

    private @Nullable Unreachable trouble;
    /** What the last welcome said; null before the first. */
    private @Nullable WelcomeInfo lastWelcome;
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
        this.algorithm = settings.algorithm();
        this.attention = handshake.attention();
    }

    @Override
    public void begin(SessionTurn begun) {
        turn = begun;
        long now = begun.now();
        stopsAt = Turn.due(stopsAt, now) ? Turn.NEVER : stopsAt;
        OpenSession session = open;
        if (session != null) {
            session.beliefs().lapse(begun);
            if (phase == Phase.UP) {
                beginUp(session, begun);
            } else if (phase == Phase.DOWN && now - session.forgetAt() >= 0) {
                over(session, false, "no answer for the longest lease", begun);
            }
        }
        if (opening() && Turn.due(next, now)) {
            unanswered++;
            failed("no answer in time", false, begun);
        }
    }

    private void beginUp(OpenSession session, SessionTurn turn) {
        if (session.silent(turn.now())) {
            turn.goal(SessionGoal.SILENT_LINK);
            hangUp(turn);
            session.linkDown();
        } else {
            session.look(turn);
        }
    }

    private void failed(String why, boolean lasting, SessionTurn turn) {
        turn.hangUp(link);
        down(true, turn);
        trouble = new Unreachable(why, lasting);
        unreachable(trouble, turn);
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
        Set<Key> keys = new LinkedHashSet<>(awaited.keySet());
        session.keys(keys);
        SessionGone gone = new SessionGone(session.peer, restarted, why);
        for (Key key : keys) {
            turn.call(key, gone);
        }
    }

    @Override
    public void opened(long link, SessionTurn turn) {
        if (link != this.link || phase != Phase.DIALING) {
            turn.hangUp(link);
            return;
        }
        Hello said = handshake.hello(link, open == null ? null : open.resume(), turn);
        phase = Phase.HELLO_SAID;
        hello = said;
        turn.transmit(link, said);
    }

    @Override
    public void closed(long link, String why, SessionTurn turn) {
        if (!isCurrent(link)) {
            return;
        }
        OpenSession session = open;
        if (phase == Phase.UP && session != null) {
            session.linkDown();
            brokenAt = turn.now();
            down(false, turn);
        } else {
            gone |= phase == Phase.DIALING && brokenAt != Turn.NEVER;
            failed(why, false, turn);
        }
    }

    @Override
    public void unfit(long link, String why, SessionTurn turn) {
        if (isCurrent(link) && opening()) {
            failed(why, true, turn);
        }
    }

    @Override
    public void arrived(long link, Frame frame, SessionTurn turn) {
        if (!isCurrent(link)) {
            return; // an older link: what it still delivers belongs to nobody
        }
        OpenSession session = open;
        if (frame instanceof Data data) {
            if (phase == Phase.UP && session != null) {
                data(session, data, turn);
            }
        } else if (frame instanceof Challenge challenge) {
            if (phase == Phase.HELLO_SAID) {
                challenged(link, challenge, turn);
            }
        } else if (frame instanceof Welcome welcome) {
            if (phase == Phase.PROVED) {
                welcomed(welcome, turn);
            }
        } else if (frame instanceof Wait wait) {
            if (phase == Phase.PROVED) {
                answered(turn);
                next = turn.now() + Math.min(settings.proofTimeout(), wait.nanos()) + SHORTEST_PATIENCE;
            }
        } else if (frame instanceof Refuse refusal) {
            if (opening()) {
                refused(refusal, turn);
            }
        } else {
            broken("the member sends what only clients send", turn);
        }
    }

    /** The peer does what no peer does: its session lives on, but over another link. */
    private void broken(String why, SessionTurn turn) {
        OpenSession session = open;
        if (session != null && phase == Phase.UP) {
            session.linkDown();
        }
        failed(why, false, turn);
    }

    private void challenged(long link, Challenge challenge, SessionTurn turn) {
        Hello said = hello;
        if (said == null) {
            throw new IllegalStateException("no hello was said on link " + link);
        }
        ClientHandshake.Objection objection = handshake.objection(said, challenge, turn.now());
        if (objection != null) {
            failed(objection.why(), objection.lasting(), turn);
            return;
        }
        OpenSession session = open;
        if (session != null && !session.member.equals(challenge.member())) {
            freeze(session, turn);
        }
        phase = Phase.PROVED;
        provedAt = turn.now();
        answering = challenge.member();
        turn.transmit(link, handshake.proof(said, challenge));
    }

    private void freeze(OpenSession session, SessionTurn turn) {
        long until = session.beliefs().lastLapse();
        if (until != Turn.NEVER) {
            turn.goal(SessionGoal.FROZEN);
            handshake.freeze(session.member, until);
        }
        over(session, true, handshake.whoAnswers(), turn);
    }

    private void refused(Refuse refusal, SessionTurn turn) {
        OpenSession session = open;
        boolean proved = phase == Phase.PROVED;
        if (refusal.code() == RefuseCode.UNKNOWN_SESSION && proved && session != null) {
            hangUp(turn);
            over(session, false, "the member has ended the session", turn);
            return;
        }
        if ((refusal.code() == RefuseCode.NOT_LEADING || refusal.code() == RefuseCode.NOT_LISTED)
                && proved
                && !refusal.here().isEmpty()) {
            referral = List.of(refusal.here().split(","));
        }
        if (refusal.code() == RefuseCode.NOT_LEADING) {
            WelcomeInfo last = lastWelcome;
            candidates =
                    Math.max(1, last == null ? referral.size() : last.members().size());
        }
        failed(handshake.why(refusal), refusal.code().lasting(), turn);
    }

    /** The members of the cluster, as one has told that does not lead, or is none; empty before one has. */
    public List<String> referral() {
        return referral;
    }

    private void welcomed(Welcome welcome, SessionTurn turn) {
        OpenSession session = open;
        Incarnation member = answering;
        if (member == null || !handshake.expects(welcome)) {
            broken("it is " + welcome.node() + " that answers", turn);
            return;
        }
        if (session == null) {
            if (welcome.session() == 0 || welcome.received() != 0) {
                broken("the member opened session " + welcome.session() + " in the middle", turn);
                return;
            }
            session = new OpenSession(new Peer(welcome.session()), member, settings.maxTtl(), turn.now());
            open = session;
            if (closing) {
                session.add(new Bye());
            }
            boolean reasserting = welcome.quarantine() > 0;
            if (reasserting) {
                turn.goal(SessionGoal.REASSERT_WINDOW);
            }
            saying = reasserting && handshake.moves();
            tellAwaited(new SessionOpen(session.peer, reasserting), turn);
        } else if (session.resumes(welcome)) {
            session.resumed(welcome, turn);
        } else {
            broken("the member resumed another session", turn);
            return;
        }
        phase = Phase.UP;
        candidates = 1;
        answered(turn);
        next = Turn.NEVER;
        hello = null;
        upSince = turn.now();
        brokenAt = Turn.NEVER;
        gone = false;
        setPace();
        told = null;
        trouble = null;
        lastWelcome = handshake.welcomed(welcome, session.member);
        finish(session, turn);
    }

    /** The time that a client waits for its welcome after that is no part of the round trip. */
    private void answered(Turn turn) {
        if (provedAt != Turn.NEVER) {
            roundTrip = turn.now() - provedAt;
            provedAt = Turn.NEVER;
        }
    }

    private void data(OpenSession session, Data frame, SessionTurn turn) {
        String wrong = session.take(frame, algorithm, !closing, turn);
        if (wrong != null) {
            broken(wrong, turn);
        } else {
            finish(session, turn);
        }
    }

    /** A goodbye that the member has is the end. */
    private void finish(OpenSession session, SessionTurn turn) {
        if (closing && session.allAcknowledged()) {
            hangUp(turn);
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
        if (opening()) {
            next += nanos;
        }
        brokenAt += brokenAt == Turn.NEVER ? 0 : nanos;
    }

    @Override
    public void reborn(long newLife, long newGuard, String why, SessionTurn turn) {
        handshake.lives(newLife, newGuard);
        if (newLife == Input.Reborn.NO_LIFE) {
            unreachable(new Unreachable(why, true), turn);
        } else {
            told = null;
        }
        if (phase != Phase.DOWN) {
            hangUp(turn);
        }
        OpenSession session = open;
        if (session != null) {
            over(session, false, why, turn);
        }
        tellAwaited(new Disowned(why), turn);
    }

    /** Another life of the member has shown itself elsewhere: what this one still says belongs to nobody. */
    void overtaken(SessionTurn turn) {
        if (phase != Phase.DOWN) {
            hangUp(turn);
        }
        OpenSession session = open;
        if (session != null) {
            over(session, true, "the member was restarted", turn);
        }
    }

    @Override
    public void dismissed(SessionTurn turn) {
        tellAwaited(new Dismissed(), turn);
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
        if (session == null && phase != Phase.DOWN) {
            hangUp(turn);
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
        if (session != null && phase == Phase.UP) {
            if (saying && !closing && stopsAt == Turn.NEVER) {
                saying = false;
                session.add(new AllSaid());
            }
            session.transmit(link, turn);
        } else if (mayDial(turn.now()) && wanted()) {
            dial(session == null ? settings.proofTimeout() : 3 * session.silence(), turn);
        }
        turn.wake(nextWork());
    }

    @Override
    public void stops(long until) {
        stopsAt = stopsAt == Turn.NEVER || until - stopsAt > 0 ? until : stopsAt;
    }

    /** True if a link is to be up. */
    private boolean wanted() {
        return handshake.possible() && (open != null || (!closing && (!awaited.isEmpty() || handshake.demanded())));
    }

    private long nextWork() {
        OpenSession session = open;
        long first = opening() || (phase == Phase.DOWN && wanted()) ? next : Turn.NEVER;
        if (session == null) {
            return first;
        }
        first = Turn.earlier(first, session.beliefs().next());
        return switch (phase) {
            case UP -> Turn.earlier(saying && !closing ? Turn.earlier(first, stopsAt) : first, session.nextWork());
            case DOWN -> Turn.earlier(first, session.forgetAt());
            default -> first;
        };
    }

    // The link

    private boolean isCurrent(long other) {
        return phase != Phase.DOWN && link == other;
    }

    private boolean opening() {
        return phase != Phase.UP && phase != Phase.DOWN;
    }

    private boolean mayDial(long now) {
        return phase == Phase.DOWN && (next == Turn.NEVER || now - next >= 0);
    }

    /**
     * Waits for the welcome for {@code patience} at first, and twice as long after each attempt that nobody answered: a
     * slow link is not a dead one. While members are asked in turn who leads, one that stands still is not to keep this
     * client from the next leader: so it waits an eighth of a second longer in each turn of all, which is about an
     * eighth of the search.
     */
    private void dial(long patience, SessionTurn turn) {
        phase = Phase.DIALING;
        link++;
        long limit = Math.min(patience, SHORTEST_PATIENCE) << Math.min(unanswered, 8);
        if (candidates > 1) {
            limit = Math.min(limit, Math.max(SHORTEST_PATIENCE, failures / candidates * LONGEST_DISTANCE / 8));
        }
        next = turn.now() + Math.min(settings.proofTimeout(), limit);
        turn.dial(link);
    }

    /**
     * The link is down; the next attempt comes after a random part of a time that doubles with each failure, or, while
     * members are asked in turn who leads, of one in which all have their turn. A link that breaks soon after its
     * welcome failed too: what this end sends over each may be what the member breaks it for.
     */
    private void down(boolean failed, Turn turn) {
        boolean soon = !forgive(turn) && phase == Phase.UP;
        phase = Phase.DOWN;
        hello = null;
        long most = candidates > 1 && failures / candidates < QUICK_SEARCHES ? LONGEST_DISTANCE / 2 : LONGEST_DISTANCE;
        long distance = Math.min(most / candidates, FIRST_DISTANCE << Math.min(failures, 10));
        next = turn.now() + distance / 2 + ((distance / 2 * turn.draw(16)) >> 16);
        if (failed || soon) {
            failures++;
        }
    }

    /** What failed before a link that was good for some time counts no more; true if this one was. */
    private boolean forgive(Turn turn) {
        boolean good = phase == Phase.UP && turn.now() - upSince >= LONGEST_DISTANCE;
        if (good) {
            failures = 0;
            unanswered = 0;
        }
        return good;
    }

    /** Ends the link; the next one may be dialled at once. */
    private void hangUp(SessionTurn turn) {
        turn.hangUp(link);
        forgive(turn);
        phase = Phase.DOWN;
        hello = null;
        next = Turn.NEVER;
    }

    // Who waits

    /**
     * A refusal that is to last fails whoever waits, so that nobody is left for whom the member would be dialled. Its
     * operator may have mended it since: so whoever comes after the distance between two attempts has the member asked
     * again.
     */
    @Override
    public void await(Key key, long ttl) {
        Unreachable refused = trouble;
        if (refused != null && refused.final_() && (opening() || mayDial(turn().now())) && handshake.possible()) {
            told = null;
        }
        if (awaited.put(key, ttl) != null) {
            recount();
        } else if (ttl < smallestAwaited) {
            smallestAwaited = ttl;
            atSmallest = 1;
            setPace();
        } else if (ttl == smallestAwaited) {
            atSmallest++;
        }
        if (told != null) {
            turn().call(key, told);
        }
    }

    @Override
    public void unawait(Key key, long ttl) {
        if (awaited.remove(key, ttl) && ttl == smallestAwaited && --atSmallest == 0) {
            recount();
        }
    }

    private void recount() {
        smallestAwaited = Turn.NEVER;
        atSmallest = 0;
        for (long ttl : awaited.values()) {
            if (ttl < smallestAwaited) {
                smallestAwaited = ttl;
                atSmallest = 0;
            }
            atSmallest += ttl == smallestAwaited ? 1 : 0;
        }
        setPace();
    }

    private void setPace() {
        if (open != null) {
            open.pace(smallestAwaited, attention, roundTrip);
        }
    }

    private void tellAwaited(Call call, Turn turn) {
        for (Key key : awaited.keySet()) {
            turn.call(key, call);
        }
    }

    /** The member can't be reached; all who wait hear of it, once for each cause. */
    private void unreachable(Unreachable why, Turn turn) {
        if (!why.equals(told)) {
            told = why;
            tellAwaited(why, turn);
        }
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
    public Set<Key> holders() {
        Set<Key> holders = new LinkedHashSet<>();
        if (open != null) {
            open.beliefs().holders(holders);
        }
        return holders;
    }

    @Override
    public void heard(long epoch) {
        handshake.heard(epoch);
    }

    @Override
    public Belief belief(long ttl) {
        return current().beliefs().belief(ttl);
    }

    @Override
    public void hold(Key key, long ttl) {
        current().beliefs().hold(key, ttl);
    }

    @Override
    public void unhold(Key key, long ttl) {
        if (open != null) {
            open.beliefs().unhold(key, ttl);
        }
    }

    @Override
    public void receipt(Key key, long number) {
        current().receipt(key, number, turn());
    }

    @Override
    public void confirm(Key key) {
        current().confirm(key);
    }

    @Override
    public void afterEcho(Key key) {
        if (open != null) {
            open.afterEcho(key, turn());
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

    /** Which life of the member has proved itself on the current link; null if none has. */
    @Nullable
    Incarnation answering() {
        return phase == Phase.UP || phase == Phase.PROVED ? answering : null;
    }

    /** The highest stamp of the open session that came back; {@link Turn#NEVER} if none did. */
    long highestEcho() {
        return open == null ? Turn.NEVER : open.beliefs().highestEcho();
    }

    /** When the link broke to a member whose address takes no other one since; {@link Turn#NEVER} if not so. */
    long goneAt() {
        return gone ? brokenAt : Turn.NEVER;
    }

    /** Nanoseconds from the last proof to its welcome. */
    long roundTrip() {
        return roundTrip;
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
    public @Nullable WelcomeInfo lastWelcome() {
        return lastWelcome;
    }

    /** Why the last attempt to connect failed; null if it did not, or if there was none. */
    public @Nullable Unreachable trouble() {
        return trouble;
    }

    @Override
    public boolean connected() {
        return exists() && phase == Phase.UP;
    }

    @Override
    public ClientSession copy() {
        ClientSession copy = new ClientSession(settings, handshake.copy());
        copy.lastWelcome = lastWelcome;
        copy.phase = phase;
        copy.link = link;
        copy.next = next;
        copy.failures = failures;
        copy.unanswered = unanswered;
        copy.candidates = candidates;
        copy.saying = saying;
        copy.stopsAt = stopsAt;
        copy.hello = hello;
        copy.answering = answering;
        copy.referral = referral;
        copy.provedAt = provedAt;
        copy.upSince = upSince;
        copy.brokenAt = brokenAt;
        copy.gone = gone;
        copy.roundTrip = roundTrip;
        copy.awaited.putAll(awaited);
        copy.smallestAwaited = smallestAwaited;
        copy.atSmallest = atSmallest;
        copy.told = told;
        copy.trouble = trouble;
        copy.lastEnd = lastEnd;
        copy.open = open == null ? null : open.copy();
        copy.closing = closing;
        return copy;
    }

    @Override
    public void encode(StateEncoder out) {
        handshake.encode(out);
        out.put(phase.name())
                .put(link)
                .time(next)
                .put(failures)
                .put(unanswered)
                .put(candidates)
                .put(saying)
                .time(stopsAt)
                .value(hello)
                .value(answering)
                .value(referral)
                .time(phase == Phase.PROVED ? provedAt : Turn.NEVER)
                .put(roundTrip)
                .time(phase == Phase.UP ? upSince : Turn.NEVER)
                .time(brokenAt)
                .put(gone);
        out.put(awaited.size());
        for (Map.Entry<Key, Long> entry : awaited.entrySet()) {
            out.put(entry.getKey()).put(entry.getValue());
        }
        out.value(told);
        out.put(closing).value(trouble).put(open != null);
        if (open != null) {
            open.encode(out);
        }
    }
}
