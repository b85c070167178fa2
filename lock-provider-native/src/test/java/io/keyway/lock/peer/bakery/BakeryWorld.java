// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.bakery;

import io.keyway.lock.peer.election.ElectionCall;
import io.keyway.lock.peer.election.MemberNumbers;
import io.keyway.lock.peer.election.View;
import io.keyway.lock.peer.election.ViewId;
import io.keyway.lock.peer.home.HomeCall;
import io.keyway.lock.peer.home.MemberTurn;
import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.MemberView;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.PeerView;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.spi.Owner;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Homes and leaders alone, with links whose messages are delivered one by one: for what is told message by message, and
 * for a search through all orders of delivery. What managers do is the test's.
 */
final class BakeryWorld {
    static final String NAME = "job";
    static final long LEASE = MemberTurn.LEASE;

    /** Nobody's lease of a view ends here. */
    private static final long ALWAYS = 1L << 60;

    private final UnsafeBakery variant;
    private final List<String> ids;
    private View view;
    private final Map<String, Node> nodes = new LinkedHashMap<>();
    /** By sender, then receiver. */
    private final Map<String, Map<String, List<BakeryMessage>>> links = new LinkedHashMap<>();

    private final List<String> alarms = new ArrayList<>();
    private long now;
    /** So far a majority has recorded tickets. */
    private long recorded;

    /** Members that have met; the first three are the leaders of the first view. */
    BakeryWorld(String... ids) {
        this(UnsafeBakery.NONE, ids);
    }

    BakeryWorld(UnsafeBakery variant, String... ids) {
        this(variant, List.of(ids));
        for (String id : ids) {
            nodes.put(id, new Node(id));
        }
        for (String id : ids) {
            node(id).start();
        }
        for (String id : ids) {
            for (String other : ids) {
                if (!other.equals(id)) {
                    node(id).call(new PeerView.PeerUp(other, false));
                }
            }
        }
        run();
    }

    private BakeryWorld(UnsafeBakery variant, List<String> ids) {
        this.variant = variant;
        this.ids = ids;
        this.view = first(ids.subList(0, Math.min(3, ids.size())), ids);
        for (String id : ids) {
            Map<String, List<BakeryMessage>> out = new LinkedHashMap<>();
            ids.forEach(to -> out.put(to, new ArrayList<>()));
            links.put(id, out);
        }
    }

    private static View first(List<String> leaders, List<String> members) {
        ViewId id = new ViewId(1, leaders.get(0), 1);
        return new View(
                id, leaders.stream().map(leader -> new View.Seat(leader, id)).toList(), true, members);
    }

    /** A view in which the second one has the seat of the first; nobody has heard of it yet. */
    void elect(String lost, String successor) {
        ViewId id = new ViewId(view.id().round() + 1, successor, 1);
        view = new View(
                id,
                view.seats().stream()
                        .map(seat -> seat.leader().equals(lost) ? new View.Seat(successor, id) : seat)
                        .toList(),
                false,
                view.members());
    }

    /** The same, and then a view that comes after the one before: no voter of it has heard of that one. */
    void electInVain(String lost, String successor, String alone) {
        View former = view;
        elect(lost, successor);
        hears(alone);
        view = new View(new ViewId(view.id().round() + 1, successor, 1), former.seats(), false, former.members());
    }

    /** A view with those members and the same leaders; nobody has heard of it yet. */
    void list(List<String> members, MemberNumbers numbers) {
        ViewId id = new ViewId(view.id().round() + 1, members.get(0), 1);
        view = new View(id, view.seats(), false, members, numbers);
    }

    /** A client asks that member to remove another one; returns why it does not, or an empty text. */
    String remove(String at, String member) {
        Node node = node(at);
        LockMessage.ChangeMembers wish = new LockMessage.ChangeMembers(BakeryKeys.HOME, 1, member, false);
        node.home.received(new Peer(ids.size() + 1), wish, node);
        node.settle();
        return node.answer == null ? "" : node.answer.why();
    }

    /** That member hears of the latest view. */
    void hears(String id) {
        node(id).call(new ElectionCall.Elected(view, false, recorded, now));
    }

    /** The view of that member is confirmed no more from then on. */
    void leased(String id, long left) {
        node(id).call(new ElectionCall.Leased(now + left));
    }

    /** What was due of the home of that member is done. */
    void tick(String id) {
        node(id).home.due(1, node(id));
        node(id).settle();
    }

    /** That leader has not heard that home for so long that nobody counts what it has said to it. */
    void expire(String leader, String home) {
        List<MemberView.Expired> all = new ArrayList<>();
        for (LeaderTable table : node(leader).leader.tables()) {
            for (LeaderTable.Entry active : table.active()) {
                if (active.id.member().equals(home)) {
                    all.add(new MemberView.Expired(new Peer(ids.indexOf(home) + 1), active.serial));
                }
            }
        }
        all.forEach(node(leader)::call);
    }

    /** What nobody can count any more of what that leader has said lapses. */
    void lapse(String id) {
        node(id).leader.due(0, node(id));
        node(id).settle();
    }

    /** Nobody counts what the former leader has said. */
    void seated(String id) {
        node(id).leader.due(2, node(id));
        node(id).settle();
    }

    private Node node(String id) {
        Node node = nodes.get(id);
        if (node == null) {
            throw new IllegalArgumentException("no member " + id);
        }
        return node;
    }

    // What clients do

    /** A client of that member asks; the number is the test's. */
    void ask(String member, long number) {
        ask(member, number, false);
    }

    void ask(String member, long number, boolean answerAtOnce) {
        ask(NAME, member, number, answerAtOnce);
    }

    /** As a reader, or as a soft writer. */
    void ask(String member, long number, RequestMode mode) {
        Owner owner = new Owner(member + number, Map.of());
        node(member).modes.put(number, mode);
        node(member)
                .call(
                        BakeryKeys.HOME,
                        new HomeCall.Want(NAME, number, mode.mode(), mode.quiet(), owner, false, true, now));
        node(member).settle();
    }

    /** Of another lock; no two requests of a member have one number. */
    void ask(String name, String member, long number, boolean answerAtOnce) {
        Owner owner = new Owner(member + number, Map.of());
        node(member).call(BakeryKeys.HOME, new HomeCall.Want(name, number, owner, answerAtOnce, true, now));
        node(member).settle();
    }

    /** It has released, given up or died. */
    void leave(String member, long number) {
        Long granted = node(member).granted.remove(number);
        node(member).holds.remove(number);
        boolean reads =
                node(member).modes.getOrDefault(number, RequestMode.WRITER).isReader();
        long since = granted == null || !reads ? Turn.NEVER : granted;
        node(member).call(BakeryKeys.HOME, new HomeCall.Leave(NAME, number, since));
        node(member).settle();
    }

    // What the net does

    private List<BakeryMessage> link(String from, String to) {
        List<BakeryMessage> link = links.getOrDefault(from, Map.of()).get(to);
        if (link == null) {
            throw new IllegalArgumentException(from + " to " + to);
        }
        return link;
    }

    /** How many messages stand between them. */
    int queued(String from, String to) {
        return link(from, to).size();
    }

    /** That leader is told so, as if by the home of that member. */
    void say(String from, String leader, BakeryMessage message) {
        node(leader).received(from, message);
    }

    /** The first message of that link arrives. */
    void deliver(String from, String to) {
        node(to).received(from, link(from, to).remove(0));
    }

    /** Whatever stands on that link arrives, as does what is said back, and so on, between these two alone. */
    void talk(String one, String two) {
        while (queued(one, two) + queued(two, one) > 0) {
            deliver(queued(one, two) > 0 ? one : two, queued(one, two) > 0 ? two : one);
        }
    }

    /** Delivers until nothing is left. */
    void run() {
        for (boolean any = true; any; ) {
            any = false;
            for (String from : ids) {
                for (String to : ids) {
                    if (queued(from, to) > 0) {
                        deliver(from, to);
                        any = true;
                    }
                }
            }
        }
    }

    /** So much time passes. */
    void pass(long nanos) {
        now += nanos;
    }

    /** All that stands between them is lost, and both know that they were parted. */
    void part(String one, String two) {
        link(one, two).clear();
        link(two, one).clear();
        node(one).down(two, false);
        node(two).down(one, false);
    }

    void meet(String one, String two) {
        node(one).call(new PeerView.PeerUp(two, false));
        node(two).call(new PeerView.PeerUp(one, false));
    }

    /** That member ends and starts anew, with what it had forced; nobody has noticed yet. */
    void restart(String id) {
        restart(id, true);
    }

    /** The same, of one that has a lease to wait for, or has none. */
    void restart(String id, boolean quarantined) {
        Node former = node(id);
        Node node = new Node(id);
        node.record = former.record;
        node.quarantined = quarantined;
        node.lives = former.lives + 1;
        nodes.put(id, node);
        for (String other : ids) {
            link(id, other).clear();
            link(other, id).clear();
        }
        node.start();
    }

    /** Those two meet again after a restart of the second one. */
    void meetAnew(String one, String restarted) {
        node(one).down(restarted, true);
        node(one).call(new PeerView.PeerUp(restarted, true));
        node(restarted).call(new PeerView.PeerUp(one, false));
    }

    /** Its quarantine is over, and the silence of its leader. */
    void open(String id) {
        node(id).quarantined = false;
        node(id).call(new MemberView.Opening());
        node(id).leader.due(1, node(id));
        node(id).settle();
    }

    // What is seen

    /** The requests of that member's clients that hold, as far as it knows. */
    List<Long> holds(String member) {
        return List.copyOf(node(member).holds);
    }

    /** Whether two hold that exclude each other. */
    boolean conflict() {
        List<RequestMode> all = new ArrayList<>();
        nodes.values()
                .forEach(
                        node -> node.holds.forEach(each -> all.add(node.modes.getOrDefault(each, RequestMode.WRITER))));
        return all.size() > 1 && !all.stream().allMatch(RequestMode::isReader);
    }

    int holders() {
        return nodes.values().stream().mapToInt(node -> node.holds.size()).sum();
    }

    /** The token that it was given last. */
    long token(String member) {
        return node(member).token;
    }

    /** The requests that have heard that others are before them. */
    List<Long> refused(String member) {
        return List.copyOf(node(member).refused);
    }

    /** The member whose request that leader lets in; empty if it lets nobody in. */
    String letIn(String leader) {
        return letIn(leader, NAME);
    }

    String letIn(String leader, String name) {
        List<LeaderTable.RequestId> active = node(leader).leader.active(name);
        return active.isEmpty() ? "" : active.get(0).member();
    }

    /** The members whose requests that leader lets in. */
    List<String> allLetIn(String leader) {
        return node(leader).leader.active(NAME).stream()
                .map(LeaderTable.RequestId::member)
                .toList();
    }

    /** What members have written to their logs. */
    List<String> alarms() {
        return List.copyOf(alarms);
    }

    boolean knowsNothing(String leader) {
        return node(leader).leader.tables().isEmpty();
    }

    BakeryWorld copy() {
        BakeryWorld copy = new BakeryWorld(variant, ids);
        copy.now = now;
        copy.view = view;
        copy.recorded = recorded;
        nodes.forEach((id, node) -> copy.nodes.put(id, node.copy(copy)));
        links.forEach(
                (from, all) -> all.forEach((to, messages) -> copy.link(from, to).addAll(messages)));
        return copy;
    }

    void encode(StateEncoder out) {
        nodes.forEach((id, node) -> {
            node.home.encode(out);
            node.leader.encode(out);
            out.value(List.copyOf(node.holds));
        });
        links.forEach((from, all) -> all.forEach((to, messages) -> out.value(List.copyOf(messages))));
    }

    /** A member: its home, its leader, and what managers were told. */
    private final class Node extends MemberTurn {
        final String id;
        BakeryHome home;
        BakeryLeader leader;
        final TreeSet<Long> holds = new TreeSet<>();
        final Map<Long, RequestMode> modes = new TreeMap<>();
        /** By request, when it was granted. */
        final Map<Long, Long> granted = new TreeMap<>();

        final List<Long> refused = new ArrayList<>();
        final Map<String, Boolean> up = new TreeMap<>();
        /** Calls of this turn, in order. */
        final ArrayDeque<Runnable> calls = new ArrayDeque<>();

        long token;

        BakeryMessage.@Nullable Reserved record;

        long draws;
        boolean quarantined;
        int lives = 1;
        LockMessage.@Nullable Members answer;

        Node(String id) {
            this.id = id;
            home = (BakeryHome) variant.machines().create(BakeryKeys.HOME);
            leader = (BakeryLeader) variant.machines().create(BakeryKeys.LEADER);
        }

        Node copy(BakeryWorld world) {
            Node copy = world.new Node(id);
            copy.home = home.copy();
            copy.leader = leader.copy();
            copy.holds.addAll(holds);
            copy.modes.putAll(modes);
            copy.granted.putAll(granted);
            copy.up.putAll(up);
            copy.token = token;
            copy.record = record;
            copy.draws = draws;
            copy.quarantined = quarantined;
            copy.lives = lives;
            return copy;
        }

        void start() {
            if (record != null) {
                leader.called(new MemberView.Restored(record), this);
            }
            call(new MemberView.Started());
            call(new ElectionCall.Elected(view, lives > 1, 0, now()));
            call(new ElectionCall.Leased(now() + ALWAYS));
        }

        /** Both machines are called. */
        void call(Call call) {
            if (call instanceof PeerView.PeerUp peer) {
                up.put(peer.member(), true);
            }
            leader.called(call, this);
            home.called(call, this);
            settle();
        }

        void down(String member, boolean restarted) {
            up.remove(member);
            leader.called(new MemberView.SessionEnded(new Peer(ids.indexOf(member) + 1)), this);
            call(new PeerView.PeerDown(member, restarted, "parted"));
        }

        void received(String from, Message message) {
            Machine to = message.key().equals(BakeryKeys.LEADER) ? leader : home;
            to.received(new Peer(ids.indexOf(from) + 1), message, this);
            settle();
        }

        void settle() {
            while (!calls.isEmpty()) {
                calls.removeFirst().run();
            }
        }

        @Override
        public void call(Key to, Call call) {
            if (call instanceof ElectionCall.Reserve reserve) {
                recorded = Math.max(recorded, reserve.bound());
                calls.addLast(() -> leader.called(new ElectionCall.Recorded(reserve.bound()), this));
            } else if (to.equals(BakeryKeys.LEADER)) {
                calls.addLast(() -> leader.called(call, this));
            } else if (to.equals(BakeryKeys.HOME)) {
                calls.addLast(() -> home.called(call, this));
            } else if (call instanceof HomeCall.Yours yours) {
                holds.add(yours.number());
                granted.put(yours.number(), now());
                token = yours.token();
            } else if (call instanceof HomeCall.Behind behind) {
                refused.add(behind.number());
            } else if (call instanceof HomeCall.TakenBack back) {
                holds.remove(back.number()); // its client has heard of it
            }
        }

        @Override
        public long force(DurableRecord forced) {
            record = (BakeryMessage.Reserved) forced;
            return 1;
        }

        @Override
        public void tell(Notice notice) {
            if (notice instanceof LockNotice.Alarm alarm) {
                alarms.add(alarm.text());
            }
        }

        @Override
        public long send(Peer to, Message message) {
            answer = message instanceof LockMessage.Members said ? said : answer;
            return 1;
        }

        @Override
        public long send(String member, Message message) {
            if (!up.containsKey(member)) {
                return 0;
            }
            link(id, member).add((BakeryMessage) message);
            return 1;
        }

        @Override
        public boolean up(String member) {
            return up.containsKey(member);
        }

        @Override
        public long echo(String member) {
            return up.containsKey(member) ? now() : Turn.NEVER;
        }

        @Override
        public long draw(int bits) {
            return ++draws;
        }

        @Override
        public String self() {
            return id;
        }

        @Override
        public List<String> members() {
            return ids;
        }

        @Override
        public boolean confirmed() {
            return true;
        }

        @Override
        public String member(Peer from) {
            return from.session() > ids.size() ? "" : ids.get((int) from.session() - 1);
        }

        @Override
        public long epoch() {
            return 1;
        }

        @Override
        public boolean quarantined() {
            return quarantined;
        }

        @Override
        public long now() {
            return now;
        }
    }
}
