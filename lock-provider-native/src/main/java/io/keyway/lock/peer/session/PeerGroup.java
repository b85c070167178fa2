// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.NodeId;
import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.ClientView;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.ForwardingTurn;
import io.keyway.lock.peer.kernel.Frame;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.PeerView;
import io.keyway.lock.peer.kernel.SessionLayer.SessionTurn;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A member's sessions with all other members, in the member's own cell, for algorithms whose machines talk to members.
 *
 * <p><b>States.</b> With each of the others this member has two sessions: one that it dials itself, as a client does (a
 * {@link ClientSession}), by which it sends; and one that the other dials, which stands in the {@link MemberSessions}
 * among those of clients, by which it receives. So there is one stream of messages in each direction. Of each member
 * the group knows the newest life, which both its sessions name by one {@link Incarnation}; whether messages can be
 * queued for it (up); and whether it answers (trusted).
 *
 * <p><b>Messages.</b> None of its own: those of sessions. A member's session is always wanted, so that something is
 * sent to each at least four times in {@link ClientHandshake#attention}.
 *
 * <p><b>Invariants.</b>
 *
 * <ul>
 *   <li>A message of one life of a member is never processed after a message, or the {@link PeerView.PeerUp}, of its
 *       next life. Whichever of both sessions shows the next life first, the other one, and every link of that member
 *       that has not proved itself, is given up in the same turn; what they still deliver belongs to no link. So each
 *       life that is taken for the newest one has answered a nonce that was drawn after the former was known.
 *   <li>{@code PeerUp} and {@code PeerDown} of a member come in turn, and it can be sent to only in between.
 *   <li>A member is suspected by the clock of this cell alone, when the highest stamp that it has sent back is older
 *       than the attention: from the sending, so that a late answer does not hide a silence. After this member stood
 *       still itself, the time runs anew for those who are not suspected. A member is also suspected when its end of a
 *       link was closed, and for half a second its address has taken no other one: its process has ended. A suspicion
 *       ends with an answer alone.
 * </ul>
 *
 * <p>A link that this group dials has a number below zero, which says to which member: {@link #dials}. Members come and
 * go ({@link #follow}); one that comes again is dialled by other numbers.
 */
public final class PeerGroup implements PeerView, Fellows {
    /** For so long the address of a member takes no link when it is taken for ended. */
    private static final long ENDED = 500_000_000L;
    /** The most members that ever come in a life of this one, each time counted. */
    private static final int MAX_INDEX = 1 << 16;

    private final SessionSettings settings;
    private final Membership membership;
    private final Incarnation self;
    private final MemberSessions sessions;
    private final Map<String, Fellow> others = new LinkedHashMap<>();
    /** Of whom the links of each number are. */
    private final List<String> dialled = new ArrayList<>();
    /** Those that are talked to no more, until they have been told so. */
    private final List<Fellow> leaving = new ArrayList<>();

    /**
     * Those that are talked to no more, and since when, until the next turn ends what they have dialled: it may be what
     * one of them has just said.
     */
    private final TreeMap<String, Long> parted = new TreeMap<>();

    private final boolean elastic;
    private List<String> members;
    private final Set<Key> watchers = new LinkedHashSet<>();
    /** This member stood still; of this input only. */
    private boolean stalled;
    /** When it ran again for the last time; {@link Turn#NEVER} if it never stood still. */
    private long resumedAt = Turn.NEVER;

    private PeerGroup(
            SessionSettings settings,
            Membership membership,
            Incarnation self,
            MemberSessions sessions,
            boolean elastic,
            List<String> members) {
        this.settings = settings;
        this.membership = membership;
        this.self = self;
        this.sessions = sessions;
        this.elastic = elastic;
        this.members = members;
    }

    /** @param elastic whether members come and go */
    static PeerGroup of(
            SessionSettings settings,
            Membership membership,
            Incarnation self,
            MemberSessions sessions,
            boolean elastic) {
        PeerGroup group = new PeerGroup(settings, membership, self, sessions, elastic, membership.members());
        for (String member : group.members) {
            if (!member.equals(membership.node())) {
                group.add(member);
            }
        }
        return group;
    }

    private Fellow add(String member) {
        SessionTarget target = SessionTarget.peer(membership.node(), member, membership.shard());
        Fellow fellow = new Fellow(member, dialled.size(), new ClientSession(settings, self, target, List.of(), 0, 0));
        dialled.add(member);
        others.put(member, fellow);
        return fellow;
    }

    /** True if a link of that number is one that this group dialled. */
    static boolean dialled(long link) {
        return link < 0;
    }

    /** Which member a link leads to that this cell dials, for its driver. */
    public String dials(long link) {
        return dialled.get(index(link));
    }

    private static int index(long link) {
        return (int) ((-link - 1) % MAX_INDEX);
    }

    private static long attempt(long link) {
        return (-link - 1) / MAX_INDEX;
    }

    private static long link(int index, long attempt) {
        return -(attempt * MAX_INDEX + index) - 1;
    }

    /** Null if it is of somebody who is talked to no more. */
    private @Nullable Fellow fellow(long link) {
        Fellow fellow = others.get(dials(link));
        return fellow != null && fellow.index == index(link) ? fellow : null;
    }

    /** The others that are talked to, and what the session with each knows; to be looked at between turns. */
    public void eachSession(BiConsumer<String, ClientSession> looks) {
        others.forEach((member, fellow) -> looks.accept(member, fellow.session));
    }

    /** What the session with that member knows; to be looked at between turns. */
    public ClientSession session(String member) {
        Fellow fellow = others.get(member);
        if (fellow == null) {
            throw new IllegalArgumentException(member + " is none of " + others.keySet());
        }
        return fellow.session;
    }

    @Override
    public boolean isElastic() {
        return elastic;
    }

    /** Whether this member is one, as far as it knows, and no majority of its list says that it is none. */
    boolean isListed() {
        int disowning = 0;
        for (Fellow fellow : others.values()) {
            disowning += members.contains(fellow.member) && fellow.disowns() ? 1 : 0;
        }
        return !elastic || (members.contains(self()) && 2 * disowning <= members.size());
    }

    @Override
    public boolean knows(String member) {
        return others.containsKey(member);
    }

    @Override
    public void refused(String member) {
        if (NodeId.isOne(member)) { // whoever says so may mean harm
            tell(new Stranger(member), sessions.turn());
        }
    }

    @Override
    public void follow(List<String> list, Collection<String> talkedTo) {
        if (!elastic) {
            PeerView.super.follow(list, talkedTo);
            return;
        }
        boolean another = !list.equals(members);
        members = List.copyOf(list);
        for (Fellow fellow : List.copyOf(others.values())) {
            if (!talkedTo.contains(fellow.member)) {
                others.remove(fellow.member);
                fellow.leave();
                leaving.add(fellow);
                parted.put(fellow.member, sessions.turn().now());
            }
        }
        for (String member : talkedTo) {
            if (!others.containsKey(member) && dialled.size() < MAX_INDEX) {
                add(member).begin(sessions.turn());
            }
        }
        if (another) {
            sessions.listChanged();
        }
    }

    // What happens to links and time

    void begin(SessionTurn turn) {
        if (stalled) {
            stalled = false;
            resumedAt = turn.now();
        }
        for (String member : List.copyOf(parted.keySet())) {
            if (!others.containsKey(member)) {
                sessions.endFormer(member, null, turn);
            }
        }
        parted.clear();
        for (Fellow fellow : others.values()) {
            fellow.begin(turn);
            if (Turn.due(fellow.wake, turn.now())) {
                fellow.touched = true;
                fellow.wake = Turn.NEVER;
                fellow.session.begin(fellow);
                fellow.settle();
            }
            fellow.judge();
        }
    }

    void opened(long link, SessionTurn turn) {
        Fellow fellow = touched(link);
        if (fellow != null) {
            fellow.session.opened(attempt(link), fellow);
            fellow.settle();
        } else {
            turn.hangUp(link);
        }
    }

    void closed(long link, String why, SessionTurn turn) {
        Fellow fellow = touched(link);
        if (fellow != null) {
            fellow.session.closed(attempt(link), why, fellow);
            fellow.settle();
        }
    }

    void unfit(long link, String why, SessionTurn turn) {
        Fellow fellow = touched(link);
        if (fellow != null) {
            fellow.session.unfit(attempt(link), why, fellow);
            fellow.settle();
        }
    }

    void arrived(long link, Frame frame, SessionTurn turn) {
        Fellow fellow = touched(link);
        if (fellow != null) {
            fellow.session.arrived(attempt(link), frame, fellow);
            fellow.settle();
        }
    }

    private @Nullable Fellow touched(long link) {
        Fellow fellow = fellow(link);
        if (fellow != null) {
            fellow.touched = true;
        }
        return fellow;
    }

    /** A life of that member has proved itself on a link that it dialled: it is the newest. */
    void met(String member, Incarnation life, SessionTurn turn) {
        Fellow fellow = others.get(member);
        if (fellow != null) {
            fellow.touched = true;
            fellow.met(life);
        }
    }

    void confirmed(SessionTurn turn) {
        tell(new ListConfirmed(), turn);
    }

    void stalled(long nanos) {
        for (Fellow fellow : others.values()) {
            fellow.session.stalled(nanos);
        }
        stalled = true;
    }

    void closing(SessionTurn turn) {
        for (Fellow fellow : others.values()) {
            fellow.touched = true;
            fellow.session.closing(fellow);
        }
    }

    void flush(SessionTurn turn) {
        for (Fellow fellow : others.values()) {
            if (fellow.touched) {
                fellow.touched = false;
                fellow.session.flush(fellow);
            }
        }
        for (Fellow fellow : leaving) {
            fellow.begin(turn);
            fellow.session.flush(fellow);
            fellow.hangUpLast();
        }
        leaving.clear();
    }

    long nextWork() {
        long next = Turn.NEVER;
        for (long at : parted.values()) {
            next = Turn.earlier(next, at);
        }
        for (Fellow fellow : others.values()) {
            next = Turn.earlier(next, fellow.wake);
            if (fellow.up && !fellow.suspected) {
                next = Turn.earlier(next, fellow.suspectAt());
            }
        }
        return next;
    }

    private void tell(Call call, SessionTurn turn) {
        for (Key key : watchers) {
            turn.call(key, call);
        }
    }

    // What machines ask

    @Override
    public String self() {
        return membership.node();
    }

    @Override
    public int shard() {
        return membership.shard();
    }

    @Override
    public int shards() {
        return membership.shards();
    }

    @Override
    public List<String> members() {
        return members;
    }

    @Override
    public boolean confirmed() {
        return sessions.listConfirmed();
    }

    @Override
    public long longestTtl() {
        long longest = 0;
        for (Fellow fellow : others.values()) {
            WelcomeInfo welcome = fellow.session.lastWelcome();
            longest = Math.max(longest, welcome == null ? 0 : welcome.longestTtl());
        }
        return longest;
    }

    @Override
    public String member(Peer from) {
        return sessions.memberBehind(from);
    }

    @Override
    public boolean up(String member) {
        Fellow fellow = others.get(member);
        return fellow != null && fellow.up;
    }

    @Override
    public boolean suspected(String member) {
        Fellow fellow = others.get(member);
        return fellow == null || !fellow.up || fellow.suspected;
    }

    @Override
    public long echo(String member) {
        Fellow fellow = others.get(member);
        return fellow != null && fellow.up ? fellow.answered() : Turn.NEVER;
    }

    @Override
    public long send(String member, Message message) {
        Fellow fellow = others.get(member);
        if (fellow == null || !fellow.up) {
            return 0;
        }
        fellow.touched = true;
        return fellow.session.send(fellow.session.session(), message);
    }

    @Override
    public void watch(Key key) {
        if (watchers.add(key)) {
            for (Fellow fellow : others.values()) {
                if (fellow.up) {
                    fellow.call(key, new PeerUp(fellow.member, fellow.restarted));
                    if (fellow.suspected) {
                        fellow.call(key, new PeerSuspected(fellow.member));
                    }
                }
            }
        }
    }

    @Override
    public void unwatch(Key key) {
        watchers.remove(key);
    }

    /** Of copied sessions. */
    PeerGroup copy(MemberSessions copied) {
        PeerGroup copy = new PeerGroup(settings, membership, self, copied, elastic, members);
        copy.dialled.addAll(dialled);
        copy.watchers.addAll(watchers);
        copy.resumedAt = resumedAt;
        copy.parted.putAll(parted);
        for (Fellow fellow : others.values()) {
            copy.others.put(fellow.member, fellow.copy(copy));
        }
        for (Fellow fellow : leaving) {
            copy.leaving.add(fellow.copy(copy));
        }
        return copy;
    }

    void encode(StateEncoder out) {
        out.value(members).value(dialled).time(resumedAt).put(parted.size());
        parted.forEach((member, at) -> out.put(member).time(at));
        out.put(watchers.size());
        for (Key key : watchers) {
            out.put(key);
        }
        for (Fellow fellow : others.values()) {
            out.put(fellow.member).value(fellow.life).put(fellow.up).put(fellow.restarted);
            out.put(fellow.suspected).time(fellow.wake).put(fellow.touched);
            if (fellow.up) {
                out.time(fellow.since);
            }
            fellow.session.encode(out);
        }
    }

    /**
     * One of the others, and the turn as the session with it sees it: links have its own numbers, and its timer is one
     * of the group's.
     */
    private final class Fellow extends ForwardingTurn<SessionTurn> implements SessionTurn {
        final String member;
        final int index;
        final ClientSession session;
        /** The newest one that has proved itself; null before the first. */
        private @Nullable Incarnation life;

        private boolean up;
        /** A former life was met, and this one was not down since for another reason. */
        private boolean restarted;

        private boolean suspected;
        /** When the session was asked for that is up. */
        private long since = Turn.NEVER;

        private long wake = Turn.NEVER;
        /** The last one that was dialled; 0 before the first. */
        private long lastLink;
        /** The next flush looks at it. */
        private boolean touched = true;

        Fellow(String member, int index, ClientSession session) {
            this.member = member;
            this.index = index;
            this.session = session;
        }

        Fellow copy(PeerGroup copied) {
            Fellow twin = copied.new Fellow(member, index, session.copy());
            twin.life = life;
            twin.up = up;
            twin.restarted = restarted;
            twin.suspected = suspected;
            twin.since = since;
            twin.wake = wake;
            twin.lastLink = lastLink;
            twin.touched = touched;
            return twin;
        }

        /** Says goodbye: nobody is to hear of it any more. */
        void leave() {
            begin(sessions.turn());
            if (up) {
                down(false, "it is no member any more");
            }
            session.closing(this);
        }

        /** What the goodbye is followed by. */
        void hangUpLast() {
            if (lastLink != 0) {
                turn().hangUp(lastLink);
            }
        }

        void begin(SessionTurn outer) {
            passTo(outer);
        }

        /** The session has had an input. */
        void settle() {
            boolean listed = isListed();
            look();
            if (listed && !isListed()) {
                sessions.listChanged();
            }
        }

        private void look() {
            Incarnation answering = session.answering();
            if (answering != null) {
                met(answering);
            }
            boolean now = session.exists();
            if (up && !now) {
                goal(PeerGoal.PEER_LOST);
                down(false, session.lastEnd());
            } else if (!up && now) {
                up = true;
                suspected = false;
                since = now() - session.roundTrip();
                tell(new PeerUp(member, restarted), this);
            }
            judge();
        }

        /** That life answers, or has proved itself. */
        void met(Incarnation newest) {
            if (newest.equals(life)) {
                return;
            }
            boolean again = life != null;
            life = newest;
            sessions.endFormer(member, newest, turn());
            if (!newest.equals(session.answering())) {
                if (up) {
                    goal(PeerGoal.PEER_OVERTAKEN);
                }
                session.overtaken(this);
            }
            if (again) {
                restarted = true;
                goal(PeerGoal.PEER_RESTARTED);
                if (up) {
                    down(true, "it was restarted");
                }
            }
        }

        private void down(boolean anew, String why) {
            up = false;
            suspected = false;
            restarted = anew;
            tell(new PeerDown(member, anew, why), this);
        }

        /** It has told a list without this member when it refused it last. */
        boolean disowns() {
            List<String> told = session.referral();
            return !up && !told.isEmpty() && !told.contains(self());
        }

        /** When the latest was sent that it has answered. */
        long answered() {
            long echo = session.highestEcho();
            return echo == Turn.NEVER ? since : echo;
        }

        long suspectAt() {
            long answered = answered();
            // To stand still oneself is no answer: only one that is not suspected yet gets its time anew.
            boolean stoodStill = !suspected && resumedAt != Turn.NEVER && resumedAt - answered > 0;
            long silent = (stoodStill ? resumedAt : answered) + ClientHandshake.attention(settings);
            long gone = session.goneAt();
            return gone == Turn.NEVER ? silent : Turn.earlier(silent, gone + ENDED);
        }

        /** Suspects it, or no longer. */
        void judge() {
            if (!up) {
                return;
            }
            boolean silent = now() - suspectAt() >= 0;
            if (silent != suspected) {
                suspected = silent;
                goal(silent ? PeerGoal.PEER_SUSPECTED : PeerGoal.PEER_TRUSTED);
                tell(silent ? new PeerSuspected(member) : new PeerTrusted(member), this);
            }
        }

        @Override
        public void wake(long at) {
            wake = at;
        }

        @Override
        public void dial(long attempt) {
            lastLink = link(index, attempt);
            turn().dial(lastLink);
        }

        @Override
        public void transmit(long attempt, Frame frame) {
            turn().transmit(link(index, attempt), frame);
        }

        @Override
        public void hangUp(long attempt) {
            turn().hangUp(link(index, attempt));
        }

        /** Members send on the sessions that they dial: what comes back on this one no member of this kind says. */
        @Override
        public void accept(Peer from, Message message) {}

        /** What members say to each other is stamped itself, where the algorithm has a clock. */
        @Override
        public void atHand(long frameClock) {}

        @Override
        public void heardClock(long logicalClock) {}

        @Override
        public long shownClock() {
            return turn().shownClock();
        }

        @Override
        public long persist(DurableRecord record) {
            return turn().persist(record);
        }

        @Override
        public void awaitForced(long ticket) {
            turn().awaitForced(ticket);
        }

        private void tell(Call call, SessionTurn turn) {
            PeerGroup.this.tell(call, turn);
        }

        @Override
        public ClientView client() {
            return session;
        }
    }
}
