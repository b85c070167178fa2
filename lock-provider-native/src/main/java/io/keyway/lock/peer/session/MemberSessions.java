// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.Frame;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.MemberView;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.SessionLayer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.session.SessionFrame.Data;
import io.keyway.lock.peer.session.SessionFrame.Hello;
import io.keyway.lock.peer.session.SessionFrame.Refuse;
import io.keyway.lock.peer.session.SessionFrame.Resume;
import io.keyway.lock.peer.session.SessionFrame.Seen;
import io.keyway.lock.peer.session.SessionFrame.Welcome;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The sessions of a member's cell: one machine with what it is made of, {@link ServerHandshake} (who is let in),
 * {@link SessionTable} (what is said in sessions, and what of them is over), {@link HorizonGate} (what is promised on
 * disk before it is said) and, where the algorithm talks to members, {@link PeerGroup} (the sessions that this member
 * dials itself).
 *
 * <p><b>States</b> of the member: its list is awaited, or known; it is in quarantine until some time, or grants; and it
 * closes. A link is without session until its peer has proved itself, and then belongs to one session at most. A
 * session lives until it says goodbye, is silent for longer than any lease in it, is proved dead, or its client opens
 * another.
 *
 * <p><b>Messages</b>: HELLO, CHALLENGE, PROOF, WELCOME and REFUSE open a link or end it; DATA carries everything else;
 * BYE, in a place of its own among the messages, ends a session.
 *
 * <p><b>Invariants.</b>
 *
 * <ul>
 *   <li>Only sessions expire anything. A session is heard when a frame of it was read, whatever is in it, and every
 *       grant in it lives for its ttl from there. Links come and go without effect.
 *   <li>Messages, the stamp and the time of hearing change in one step, and the echo of a stamp leaves only behind
 *       every message that was queued before it (of a batch that is split, on its last frame; a frame behind a gap is
 *       dropped whole): a client that sees its belief extended has seen first what ended.
 *   <li>Nothing is kept for a link before it has proved itself but its hello and a nonce.
 *   <li>No frame leaves that makes a lease end, or a place be kept, later than what is on disk.
 *   <li>A member that is told of an epoch of itself which it does not know goes on above it, and grants nothing for a
 *       quarantine: what it forgot may still be believed.
 *   <li>A floor of tokens is raised only while nobody else has a session, or may come back with a lease of before.
 *   <li>Where one member leads ({@link LeaderLease}), no other one lets a client in, and no frame of a client is read
 *       once it is not certain any more that this one leads. Nobody is told of a lease, or renews one, that is longer
 *       than what a majority of the members knows of.
 * </ul>
 */
public final class MemberSessions implements SessionLayer, MemberView {
    private final SessionSettings settings;
    private final long maxTtl;
    private final Membership membership;
    private final Incarnation self;
    private final Set<Key> awaitOpening = new LinkedHashSet<>();
    private final ServerHandshake handshake;
    private final SessionTable table;
    private final HorizonGate horizonGate;
    private KnownMembers knownMembers = new KnownMembers();
    private long epoch;
    /** The highest epoch that another member was told to open with, while that is above this member's own. */
    private long leastEpoch;

    private long floor;
    /** The floor of tokens that a client has given to this life of the member; 0 if none has. */
    private long tokenFloor;

    private boolean quarantined = true;
    private long quarantineUntil;
    /** Until when this member would be in quarantine if it had not taken over; {@link Turn#NEVER} if it has not. */
    private long otherwiseUntil = Turn.NEVER;
    /** The other members have not yet confirmed the member list. */
    private boolean listAwaited;
    /** They have said that nothing was ever granted. */
    private boolean firstUse;

    private @Nullable SessionTurn turn;
    private boolean closing;
    /** The sessions that this member dials itself; null if its algorithm does not talk to members. */
    private @Nullable PeerGroup peers;
    /** Whether this member leads; null where none does. */
    private @Nullable LeaderLease leaderLease;
    /** Clients that have proved themselves before this member, which leads, lets any in; by their links. */
    private final Map<Long, Comer> comers = new LinkedHashMap<>();

    /** The only member of its cluster. */
    public MemberSessions(
            SessionSettings settings,
            String node,
            Incarnation self,
            long epoch,
            long quarantineUntil,
            Horizon horizon) {
        this(settings, Membership.single(node), self, epoch, quarantineUntil, horizon);
    }

    /**
     * @param membership which authority this is
     * @param epoch of 32 bits, forced to disk by the driver, higher than all epochs before
     * @param quarantineUntil on the cell's clock; a time that has passed lets the member grant at once;
     *     {@link Turn#NEVER} if that is not known before {@link #confirmed}
     */
    public MemberSessions(
            SessionSettings settings,
            Membership membership,
            Incarnation self,
            long epoch,
            long quarantineUntil,
            Horizon horizon) {
        this(
                settings,
                membership,
                self,
                epoch,
                quarantineUntil,
                new ServerHandshake(settings, membership, self),
                null,
                new HorizonGate(horizon));
    }

    private MemberSessions(
            SessionSettings settings,
            Membership membership,
            Incarnation self,
            long epoch,
            long quarantineUntil,
            ServerHandshake handshake,
            @Nullable SessionTable table,
            HorizonGate horizonGate) {
        this.table = table == null ? new SessionTable(settings.maxTtl(), settings.algorithm(), handshake) : table;
        this.settings = settings;
        this.maxTtl = settings.maxTtl();
        this.membership = membership;
        this.self = self;
        this.epoch = checkedEpoch(epoch);
        this.quarantineUntil = quarantineUntil;
        this.listAwaited = quarantineUntil == Turn.NEVER;
        this.handshake = handshake;
        this.horizonGate = horizonGate;
    }

    /** The same, for machines that talk to other members, which come and go if elastic. Before the first turn. */
    public MemberSessions withPeers(boolean elastic) {
        peers = PeerGroup.of(settings, membership, self, this, elastic);
        table.letEchoesWait();
        return this;
    }

    /** The same, for an algorithm whose members elect one that serves the clients of all. Before the first turn. */
    public MemberSessions underLeader() {
        leaderLease = new LeaderLease();
        table.under(leaderLease);
        return this;
    }

    private static long checkedEpoch(long epoch) {
        if (epoch < 0 || epoch > Membership.LARGEST_EPOCH) {
            throw new IllegalArgumentException("epoch " + epoch + " has not 32 bits");
        }
        return epoch;
    }

    @Override
    public void begin(SessionTurn begun) {
        turn = begun;
        if (quarantined && !listAwaited && begun.now() - quarantineUntil >= 0) {
            open(begun);
        }
        lapse(begun);
        if (Turn.due(handshake.nextWork, begun.now())) {
            handshake.begin(begun);
        }
        table.begin(begun);
        if (peers != null) {
            peers.begin(begun);
        }
    }

    private void open(SessionTurn turn) {
        quarantined = false;
        otherwiseUntil = Turn.NEVER;
        if (leaderLease != null && leaderLease.isLapsed()) {
            return;
        }
        for (Key key : awaitOpening) {
            turn.call(key, new Opening());
        }
        awaitOpening.clear();
    }

    @Override
    public void proved(SessionTurn turn) {
        if (quarantined && !listAwaited) {
            open(turn);
        }
    }

    @Override
    public void confirmed(Input.Confirmed list, SessionTurn turn) {
        if (listAwaited) {
            long openAt = list.openAt();
            firstUse = list.firstUse();
            if (list.epoch() > epoch) {
                raiseEpoch(list.epoch(), turn); // names that come from other members go on with higher tokens
            }
            listAwaited = false;
            boolean later = quarantineUntil == Turn.NEVER || openAt - quarantineUntil > 0;
            quarantineUntil = later ? openAt : quarantineUntil;
            if (otherwiseUntil != Turn.NEVER && openAt - otherwiseUntil > 0) {
                otherwiseUntil = openAt;
            }
            if (turn.now() - quarantineUntil >= 0) {
                open(turn);
            }
            if (peers != null) {
                peers.confirmed(turn);
            }
        }
    }

    @Override
    public long opensAt() {
        return quarantined ? quarantineUntil : Turn.NEVER;
    }

    @Override
    public boolean isFirstUse() {
        return firstUse;
    }

    /** Another list counts: clients that come back are told of it. */
    void listChanged() {
        table.hangUpClients(turn());
    }

    /** Whether all members are known to run with the list of this one. */
    boolean listConfirmed() {
        return !listAwaited;
    }

    /** The id of the member behind a session; empty if it is a client's, or over. */
    String memberBehind(Peer peer) {
        MemberSession session = table.get(peer.session());
        return session == null ? "" : session.from;
    }

    /** What all lives of that member said but the newest, and still say, ends here; null if it is a member no more. */
    void endFormer(String member, @Nullable Incarnation newest, SessionTurn turn) {
        for (MemberSession session : List.copyOf(table.all())) {
            if (session.from.equals(member) && !session.client.equals(newest)) {
                table.end(session, turn);
            }
        }
        handshake.forgetHellos(member, turn);
    }

    @Override
    public void epochTaken(long taken, SessionTurn turn) {
        if (taken > epoch) {
            adopt(taken, turn);
        }
    }

    /** Which of the member's cells this is. */
    public int shard() {
        return membership.shard();
    }

    /** How many sessions live. */
    public int size() {
        return table.all().size();
    }

    /** All live sessions. */
    public List<SessionLife> lives() {
        List<SessionLife> lives = new ArrayList<>();
        for (MemberSession session : table.all()) {
            lives.add(life(session));
        }
        return lives;
    }

    /** The session that owns a link; null if none does. */
    public @Nullable SessionLife life(long link) {
        MemberSession session = table.byLink(link);
        return session == null ? null : life(session);
    }

    private static SessionLife life(MemberSession session) {
        return new SessionLife(session.peer, session.bytes(), session.stamped, session.link);
    }

    @Override
    public void opened(long link, SessionTurn turn) {
        if (peers != null && PeerGroup.dialled(link)) {
            peers.opened(link, turn);
            return;
        }
        handshake.opened(link, turn);
    }

    @Override
    public void closed(long link, String why, SessionTurn turn) {
        if (peers != null && PeerGroup.dialled(link)) {
            peers.closed(link, why, turn);
            return;
        }
        handshake.closed(link);
        comers.remove(link);
        table.closed(link);
    }

    @Override
    public void unfit(long link, String why, SessionTurn turn) {
        if (peers != null && PeerGroup.dialled(link)) {
            peers.unfit(link, why, turn);
        } else {
            closed(link, why, turn);
        }
    }

    @Override
    public void arrived(long link, Frame frame, SessionTurn turn) {
        if (peers != null && PeerGroup.dialled(link)) {
            peers.arrived(link, frame, turn);
            return;
        }
        MemberSession session = table.byLink(link);
        if (session != null) {
            if (frame instanceof Data data) {
                table.data(session, data, turn);
            }
            return; // a hello or proof again: the network's duplicate
        }
        if (frame instanceof Hello said && Handshake.believes(said) && !leadsFor(said, turn) && !expects(turn)) {
            // Without a challenge: who meets another life of whom it believes in takes the former one for over.
            handshake.refuse(link, Handshake.refuse(RefuseCode.NOT_LEADING), turn);
            return;
        }
        Hello hello = comers.containsKey(link) ? null : handshake.arrived(link, frame, peers, turn);
        if (hello != null) {
            comes(link, new Comer(hello, turn.now()), turn);
        }
    }

    /** A client or a member that has proved itself, and when its proof came. */
    private record Comer(Hello hello, long heard) {}

    private void comes(long link, Comer comer, SessionTurn turn) {
        Hello hello = comer.hello();
        if (handshake.refusesOld(link, hello, turn)) {
            return;
        } else if (closing) {
            handshake.refuse(link, new Refuse(RefuseCode.CLOSING, "member", "ends", ""), turn);
        } else if (doubled(link, hello, turn)) {
            return;
        } else if (!leadsFor(hello, turn) && expects(turn)) {
            comers.put(link, comer);
            handshake.waits(link, leading().left(turn.now()), turn);
        } else if (!leadsFor(hello, turn)) {
            handshake.refuse(link, Handshake.notLeading(peers), turn);
        } else if (hello.role() == SessionFrame.Role.CLIENT && peers != null && !peers.isListed()) {
            handshake.refuse(link, Handshake.notListed(peers, membership.node()), turn);
        } else if (heardOfOneself(hello, turn)) {
            RefuseCode unfit = raise(hello, turn);
            if (unfit == null) {
                admit(link, comer, turn);
            } else {
                long here = switch (unfit) {
                    case LOW_FLOOR -> tokenFloor;
                    case HIGH_FLOOR -> table.others(hello.client());
                    default -> epoch << Membership.COUNTER_BITS;
                };
                handshake.refuse(link, Handshake.refuse(unfit, "tokenFloor", here, hello.tokenFloor()), turn);
            }
        } else {
            long told = 0;
            for (Seen seen : hello.seen()) {
                told = Math.max(told, seen.epoch());
            }
            handshake.refuse(link, Handshake.refuse(RefuseCode.PROTOCOL, "epoch", epoch, told), turn);
        }
    }

    /**
     * Refuses a member if another process under its id is there, and not just a former life of it whose connection has
     * not ended yet; true if it did.
     */
    private boolean doubled(long link, Hello hello, SessionTurn turn) {
        if (hello.role() != SessionFrame.Role.MEMBER) {
            return false;
        }
        for (MemberSession session : table.all()) {
            if (session.from.equals(hello.from())
                    && !session.client.equals(hello.client())
                    && session.connected()
                    && turn.now() - session.heard < ClientHandshake.attention(settings) / 2) {
                String there = turn.origin(session.link);
                String here = turn.origin(link);
                if (knownMembers.doubled(hello.client())) {
                    turn.tell(new DuplicateMember(hello.from(), there, here));
                }
                handshake.refuse(link, new Refuse(RefuseCode.DOUBLED, "member", there, here), turn);
                return true;
            }
        }
        return false;
    }

    /** Whether this member may talk to whoever says hello: to members always, to clients as long as it leads. */
    private boolean leadsFor(Hello hello, SessionTurn turn) {
        return leaderLease == null || hello.role() == SessionFrame.Role.MEMBER || leaderLease.admits(turn.now(), epoch);
    }

    private boolean expects(Turn turn) {
        return leaderLease != null && leaderLease.expects(turn.now());
    }

    /** Clients that have waited come in, or are refused when it is not certain any more that this member leads. */
    private void letIn(SessionTurn turn) {
        if (!comers.isEmpty() && (closing || !expects(turn) || leading().admits(turn.now(), epoch))) {
            Map<Long, Comer> all = new LinkedHashMap<>(comers);
            comers.clear();
            all.forEach((link, comer) -> comes(link, comer, turn));
        }
    }

    /** Ends the connections of clients once it is not certain that this member leads. */
    private void lapse(SessionTurn turn) {
        if (leaderLease != null && leaderLease.lapsed(turn.now(), epoch)) {
            turn.goal(LeaderGoal.LEASE_LAPSED);
            table.hangUpClients(turn);
            table.waiting(awaitOpening);
        }
    }

    private LeaderLease leading() {
        if (leaderLease == null) {
            throw new IllegalStateException("no member leads in a cluster of this algorithm");
        }
        return leaderLease;
    }

    @Override
    public void expect(long until, long letIn) {
        leading().expect(until, letIn);
    }

    @Override
    public void serve(long until, long lastEpoch, long longest, long keptNoted) {
        leading().serve(until, lastEpoch, longest, keptNoted);
        table.tellUpTo(leading().longest(turn().now()));
        if (leading().renewed(turn().now(), epoch) && !quarantined) {
            open(turn());
        }
    }

    @Override
    public void follow() {
        endClients();
        leading().keepNothing();
        for (Key key : turn().residents(new Key(0, ""), true, Integer.MAX_VALUE)) {
            turn().call(key, new Unseated());
        }
    }

    private void endClients() {
        boolean lapsed = leading().isLapsed();
        leading().follow();
        table.endClients(turn());
        if (lapsed && !quarantined) {
            open(turn());
        }
    }

    @Override
    public void takeOver(Key leader, long leastEpoch, long silence) {
        SessionTurn now = turn();
        if (silence > 0) {
            follow();
            long otherwise = otherwiseUntil != Turn.NEVER ? otherwiseUntil : quarantined ? quarantineUntil : now.now();
            beSilent(now.now() + silence);
            otherwiseUntil = otherwise;
        } else {
            endClients();
        }
        leading().takeOver(leader);
        if (leastEpoch > epoch) {
            raiseEpoch(leastEpoch, now);
        }
    }

    /**
     * A client has seen an epoch of this member that this member does not know: its disk went back in time, or it was
     * cloned. What it granted itself stands; it goes on above that epoch and grants no more until all leases that it
     * may have forgotten are over. False if the epoch is beyond belief: it would leave no epochs, or next to none, for
     * this member's future.
     */
    private boolean heardOfOneself(Hello hello, SessionTurn turn) {
        for (Seen seen : hello.seen()) {
            boolean higher = seen.epoch() > epoch
                    || (seen.epoch() == epoch && !seen.incarnation().equals(self));
            if (!seen.node().equals(membership.node()) || !higher) {
                continue;
            }
            if (seen.epoch() > lastEpoch()) {
                return false;
            }
            turn.goal(SessionGoal.EPOCH_ADOPTED);
            adopt(seen.epoch() + 1, turn);
        }
        return true;
    }

    /**
     * Has all tokens from now on exceed the floor that a client gives, if it gives one. Only while nobody else has a
     * session, or may come back with a lease of before: a holder takes tokens of its own range when it re-acquires from
     * its cache.
     *
     * @return why not; null if so
     */
    private @Nullable RefuseCode raise(Hello hello, SessionTurn turn) {
        if (hello.tokenFloor() == 0) {
            return null;
        }
        if (hello.tokenFloor() < tokenFloor) {
            return RefuseCode.LOW_FLOOR;
        }
        long least = Membership.epochAbove(hello.tokenFloor());
        if (least > lastEpoch()) {
            return RefuseCode.PROTOCOL;
        }
        if (least > epoch) {
            if (quarantined || table.others(hello.client()) > 0) {
                return RefuseCode.HIGH_FLOOR;
            }
            raiseEpoch(least, turn);
        }
        tokenFloor = hello.tokenFloor();
        return null;
    }

    private void adopt(long higher, SessionTurn turn) {
        table.waiting(awaitOpening);
        beSilent(turn.now() + SessionSettings.quarantine(Math.max(settings.maxTtl(), membership.longestTtl())));
        raiseEpoch(higher, turn);
        turn.tell(new EpochAdopted(higher));
    }

    @Override
    public void noted(Peer peer, long ttl) {
        table.noted(peer, ttl);
    }

    @Override
    public void endSilence() {
        SessionTurn now = turn();
        if (quarantined && !listAwaited && otherwiseUntil != Turn.NEVER) {
            quarantineUntil = otherwiseUntil;
            otherwiseUntil = Turn.NEVER;
            if (Turn.due(quarantineUntil, now.now())) {
                open(now);
            }
        }
    }

    private void beSilent(long until) {
        otherwiseUntil = Turn.NEVER;
        // What is waited for already may last longer than any lease of this life.
        boolean longer = quarantined && quarantineUntil != Turn.NEVER && quarantineUntil - until > 0;
        quarantined = true;
        quarantineUntil = longer ? quarantineUntil : until;
        horizonGate.reach(quarantineUntil);
    }

    /** Nanoseconds, from now, before which this member grants nothing. */
    private long quarantineLeft(Turn turn) {
        if (!quarantined) {
            return 0;
        }
        long known = quarantineUntil == Turn.NEVER ? 0 : Math.max(0, quarantineUntil - turn.now());
        return listAwaited ? Math.max(known, settings.quarantine()) : known;
    }

    private void admit(long link, Comer comer, SessionTurn turn) {
        Hello hello = comer.hello();
        long waited = Math.max(0, turn.now() - comer.heard());
        long heard = turn.now() - Math.min(waited, maxTtl / 2); // some time is left to it to say something
        Resume resume = hello.resume();
        MemberSession session;
        if (resume != null && resume.member().equals(self)) {
            session = table.get(resume.session());
            if (session == null || !session.client.equals(hello.client())) {
                turn.goal(SessionGoal.UNKNOWN_SESSION_REFUSED);
                handshake.refuse(
                        link, Handshake.refuse(RefuseCode.UNKNOWN_SESSION, "session", 0, resume.session()), turn);
                return;
            }
            if (resume.received() < 0 || resume.received() > session.stream.everSent()) {
                handshake.refuse(
                        link,
                        Handshake.refuse(RefuseCode.PROTOCOL, "received", session.stream.everSent(), resume.received()),
                        turn);
                return;
            }
            table.resume(session, resume, turn);
        } else {
            session = table.open(hello, heard, turn);
        }
        boolean member = hello.role() == SessionFrame.Role.MEMBER;
        if (member && knownMembers.admitted(hello.from(), hello.client())) {
            raiseLeastEpoch(turn);
        }
        handshake.admitted(link, hello, session.peer.session());
        if (peers != null && member) {
            peers.met(hello.from(), hello.client(), turn);
        }
        table.bind(session, link, heard);
        turn.transmit(
                link,
                new Welcome(
                        session.peer.session(),
                        session.stream.received(),
                        membership.node(),
                        epoch,
                        member ? Math.max(epoch, leastEpoch) : 0,
                        quarantineLeft(turn),
                        peers == null ? membership.members() : peers.members(),
                        membership.shards(),
                        membership.fresh() && (member ? !knownMembers.livedBefore(hello.from()) : listAwaited),
                        membership.longestTtl()));
    }

    @Override
    public void died(long number, SessionTurn turn) {
        MemberSession session = table.get(number);
        if (session != null) {
            table.end(session, turn);
        }
    }

    @Override
    public void stalled(long nanos) {
        table.stalled(nanos);
        comers.replaceAll((link, comer) -> new Comer(comer.hello(), comer.heard() + nanos));
        if (quarantined && quarantineUntil != Turn.NEVER) {
            quarantineUntil += nanos;
            otherwiseUntil += otherwiseUntil == Turn.NEVER ? 0 : nanos;
        }
        handshake.stalled(nanos);
        if (peers != null) {
            peers.stalled(nanos);
        }
    }

    @Override
    public void closing(SessionTurn turn) {
        closing = true;
        if (peers != null) {
            peers.closing(turn);
        }
    }

    @Override
    public void forced(long ticket, SessionTurn turn) {
        horizonGate.forced(ticket);
    }

    @Override
    public void flush(SessionTurn turn) {
        lapse(turn);
        letIn(turn);
        long until = table.leasesEnd();
        boolean promised = horizonGate.promises(until);
        if (!promised) {
            horizonGate.need(until, epoch, turn);
        }
        if (peers != null) {
            peers.flush(turn);
        }
        table.flush(turn);
        if (!promised && until != Turn.NEVER) {
            horizonGate.ahead(until, epoch, turn);
        }
        turn.wake(nextWork());
    }

    private long nextWork() {
        long next = table.nextWork();
        if (quarantined && !listAwaited) {
            next = Turn.earlier(next, quarantineUntil);
        }
        if (peers != null) {
            next = Turn.earlier(next, peers.nextWork());
        }
        if (leaderLease != null) {
            next = Turn.earlier(next, leaderLease.next());
            next = comers.isEmpty() ? next : Turn.earlier(next, leaderLease.leadsUntil());
        }
        return Turn.earlier(next, handshake.nextWork);
    }

    @Override
    public PeerGroup peers() {
        if (peers == null) {
            throw new IllegalStateException("the algorithm of this cell does not talk to members");
        }
        return peers;
    }

    /** An answer to another member goes the way of all that is said to it. */
    @Override
    public long send(Peer to, Message message) {
        if (peers != null) {
            String member = memberBehind(to);
            if (!member.isEmpty()) {
                return peers.send(member, message);
            }
        }
        MemberSession session = table.get(to.session());
        if (session == null) {
            return 0;
        }
        table.touch(session);
        return session.stream.add(message);
    }

    // What machines ask and tell

    SessionTurn turn() {
        if (turn == null) {
            throw new IllegalStateException("no turn has begun");
        }
        return turn;
    }

    @Override
    public boolean live(Peer peer) {
        return table.get(peer.session()) != null;
    }

    /** {@link Turn#NEVER} if the session is over. */
    @Override
    public long silence(Peer peer) {
        MemberSession session = table.get(peer.session());
        return session == null ? Turn.NEVER : turn().now() - session.heard;
    }

    /** A session that is over takes none: its {@link SessionEnded} is on its way to the key, or has come. */
    @Override
    public void grant(Peer peer, Key key, long token, long ttl) {
        MemberSession session = table.get(peer.session());
        if (session != null) {
            session.grant(key, token, ttl);
            table.touch(session);
            if (leaderLease != null && session.from.isEmpty()) {
                leaderLease.granted(session, ttl, turn());
            }
        }
    }

    @Override
    public void ungrant(Peer peer, Key key, long token, long ttl) {
        MemberSession session = table.get(peer.session());
        if (session != null) {
            session.ungrant(key, token, ttl);
        }
    }

    @Override
    public void await(Peer peer, Key key, long ttl) {
        MemberSession session = table.get(peer.session());
        if (session != null) {
            session.await(key, ttl);
        }
    }

    @Override
    public void unawait(Peer peer, Key key, long ttl) {
        MemberSession session = table.get(peer.session());
        if (session != null) {
            session.unawait(key, ttl);
        }
    }

    @Override
    public void listen(Peer peer, Key key) {
        MemberSession session = table.get(peer.session());
        if (session != null) {
            session.listeners.add(key);
        }
    }

    @Override
    public List<Grant> grants() {
        List<Grant> grants = new ArrayList<>();
        for (MemberSession session : table.all()) {
            session.grants(grants);
        }
        return grants;
    }

    @Override
    public long epoch() {
        return epoch;
    }

    @Override
    public long lastEpoch() {
        return Math.max(membership.lastEpoch(), epoch);
    }

    /** Also true once the member is closing, or not certain that it leads: it grants no more. */
    @Override
    public boolean quarantined() {
        return quarantined || closing || (leaderLease != null && leaderLease.isLapsed());
    }

    @Override
    public void awaitOpening(Key key) {
        awaitOpening.add(key);
    }

    /** Until when something may be kept beyond its lease, as far as is promised; {@link Turn#NEVER} if nothing is. */
    public long keptUntil() {
        return horizonGate.kept();
    }

    @Override
    public void keep(long until) {
        horizonGate.keep(until);
        if (leaderLease != null) {
            leaderLease.keep(until, turn());
            table.tellUpTo(leaderLease.longest(turn().now()));
        }
    }

    @Override
    public long kept() {
        return leaderLease == null ? 0 : leaderLease.kept(turn().now());
    }

    @Override
    public long longestLease() {
        return leaderLease == null ? 0 : Math.max(table.longestGranted(), leaderLease.kept(turn().now()));
    }

    @Override
    public long maxTtl() {
        return maxTtl;
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
    public void raiseEpoch(long higher, Turn turn) {
        epoch = checkedEpoch(higher);
        floor = 0;
        force(epoch, turn);
    }

    /**
     * The next life of a member is told a higher epoch than its last one: should that have opened with what it was told
     * and lost its file, nobody else would know. It is on disk before it is said, as an epoch that was taken is, so
     * that a later life of this member tells a higher one yet.
     */
    private void raiseLeastEpoch(Turn turn) {
        leastEpoch = Math.min(lastEpoch(), Math.max(leastEpoch, epoch) + 1);
        force(leastEpoch, turn);
    }

    private void force(long highestEpoch, Turn turn) {
        turn.force(new MemberPromise(highestEpoch, horizonGate.horizon(), horizonGate.kept()));
    }

    /** A live session, for searches; null if it is over. */
    @Nullable
    MemberSession session(long number) {
        return table.get(number);
    }

    /** The number of the newest session. */
    long lastSession() {
        return table.last();
    }

    /** The incarnation of the client behind a live session; null if it is over. For oracles. */
    public @Nullable Incarnation client(long session) {
        MemberSession live = table.get(session);
        return live == null ? null : live.client;
    }

    /** True if a session of that client lives. For oracles. */
    public boolean hasSession(Incarnation client) {
        return table.get(handshake.session(client)) != null;
    }

    /** True if anything is kept of that client, if only the number of its last link. For oracles. */
    public boolean remembers(Incarnation client) {
        return hasSession(client) || handshake.remembers(client);
    }

    @Override
    public MemberSessions copy() {
        ServerHandshake copiedHandshake = handshake.copy();
        LeaderLease copiedLease = leaderLease == null ? null : leaderLease.copy();
        MemberSessions copy = new MemberSessions(
                settings,
                membership,
                self,
                epoch,
                quarantineUntil,
                copiedHandshake,
                table.copy(copiedHandshake, copiedLease),
                horizonGate.copy());
        copy.knownMembers = knownMembers.copy();
        copy.leastEpoch = leastEpoch;
        copy.floor = floor;
        copy.tokenFloor = tokenFloor;
        copy.quarantined = quarantined;
        copy.otherwiseUntil = otherwiseUntil;
        copy.listAwaited = listAwaited;
        copy.firstUse = firstUse;
        copy.closing = closing;
        copy.peers = peers == null ? null : peers.copy(copy);
        copy.leaderLease = copiedLease;
        copy.comers.putAll(comers);
        copy.awaitOpening.addAll(awaitOpening);
        return copy;
    }

    @Override
    public void encode(StateEncoder out) {
        knownMembers.encode(out);
        out.put(self.high())
                .put(self.low())
                .put(epoch)
                .put(leastEpoch)
                .put(floor)
                .put(tokenFloor)
                .put(closing);
        out.put(quarantined)
                .put(listAwaited)
                .put(firstUse)
                .time(quarantined ? quarantineUntil : Turn.NEVER)
                .time(quarantined ? otherwiseUntil : Turn.NEVER)
                .put(awaitOpening.size());
        for (Key key : awaitOpening) {
            out.put(key);
        }
        handshake.encode(out);
        horizonGate.encode(out);
        table.encode(out);
        if (peers != null) {
            peers.encode(out);
        }
        if (leaderLease != null) {
            leaderLease.encode(out);
        }
        out.put(comers.size());
        comers.forEach((link, comer) -> out.put(link).value(comer.hello()).time(comer.heard()));
    }
}
