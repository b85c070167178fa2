// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.election;

import io.keyway.lock.peer.election.ElectionMessage.Ballot;
import io.keyway.lock.peer.home.MemberTurn;
import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.MemberView;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.PeerView;
import io.keyway.lock.peer.kernel.Turn;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Elections alone, over links that can be cut, in virtual time. Messages arrive at once, unless they are held. */
final class ElectionWorld {
    static final Key KEY = new Key(200, "election");
    static final long SECOND = 1_000_000_000L;
    /** So long a majority must have confirmed a view; also the quarantine of a member without a file. */
    static final long LEASE = MemberTurn.LEASE;

    private final List<String> ids;
    private final Function<String, Election> machines;
    private final Map<String, Node> nodes = new LinkedHashMap<>();
    private final Set<String> cuts = new TreeSet<>();
    private final ArrayDeque<Runnable> messages = new ArrayDeque<>();
    /** What is on its way from that member is held. */
    private final Map<String, List<Runnable>> held = new HashMap<>();

    private long now = 7;
    /** As of the members that start next. */
    private long opensAt = Turn.NEVER;

    /** As all members say that others may have granted. */
    long longestTtl;

    /** How many cells each member says that it has; the first of them are played. */
    int shards = 1;

    private long draws;

    /** Members that have not started; the usual settings. */
    ElectionWorld(String... ids) {
        this(id -> new Election(settings(Identifier.USUAL)), ids);
    }

    ElectionWorld(Function<String, Election> machines, String... ids) {
        this.ids = List.of(ids);
        this.machines = machines;
    }

    static ElectionSettings settings(int priority) {
        return new ElectionSettings(KEY, List.of(new Key(200, "user")), ElectionSettings.LEADERS, priority);
    }

    /** The first start of all; they meet. */
    ElectionWorld start() {
        ids.forEach(id -> start(id, false));
        return this;
    }

    /** A start: without the file it is quarantined, if it is not the first one, and all say that they never ran. */
    void start(String id, boolean quarantined) {
        start(id, quarantined, ids);
    }

    /** The same, with that list on its command line. */
    void start(String id, boolean quarantined, List<String> members) {
        Node former = nodes.get(id);
        Node node = new Node(id, members);
        node.record = former == null || quarantined ? null : former.record;
        node.quarantined = quarantined;
        node.firstUse = former == null && !quarantined;
        nodes.put(id, node);
        if (node.record != null) {
            node.election.called(new MemberView.Restored(node.record), node);
        }
        node.election.called(new MemberView.Started(), node);
        for (String other : ids) {
            meet(id, other);
        }
        settle();
    }

    /** A start with its file, of a member that is quarantined for so long, since its leases were longer before. */
    void startsAfterLongerLeases(String id, long nanos) {
        opensAt = now + nanos;
        start(id, false);
    }

    void end(String id) {
        node(id).ended = true;
        ids.forEach(other -> part(id, other));
        settle();
    }

    /** Cuts single links, or joins them. */
    void link(boolean linked, String... pairs) {
        for (String pair : pairs) {
            String one = pair.substring(0, 1);
            String two = pair.substring(1);
            if (!linked && cuts.add(link(one, two))) {
                part(one, two);
            } else if (linked && cuts.remove(link(one, two))) {
                meet(one, two);
            }
        }
        settle();
    }

    /** The quarantine of that member is over. */
    void open(String id) {
        node(id).quarantined = false;
        node(id).election.called(new MemberView.Opening(), node(id));
        settle();
    }

    /** What a user of the election at that member says to it. */
    void call(String id, ElectionCall call) {
        node(id).election.called(call, node(id));
        settle();
    }

    /** A leader at that member wants that bound to be recorded. */
    void reserve(String id, long bound) {
        call(id, new ElectionCall.Reserve(bound));
    }

    /** The same, and all members have said that the cluster has never run before. */
    void openFirst(String id) {
        node(id).firstUse = true;
        open(id);
    }

    private static String link(String one, String two) {
        return one.compareTo(two) < 0 ? one + two : two + one;
    }

    void cut(List<String> some, List<String> others) {
        for (String one : some) {
            for (String other : others) {
                cuts.add(link(one, other));
                part(one, other);
            }
        }
        settle();
    }

    void heal() {
        List<String> all = new ArrayList<>(cuts);
        cuts.clear();
        all.forEach(each -> meet(each.substring(0, 1), each.substring(1)));
        settle();
    }

    private boolean linked(String one, String two) {
        return !one.equals(two)
                && nodes.containsKey(one)
                && nodes.containsKey(two)
                && !node(one).ended
                && !node(two).ended
                && !cuts.contains(link(one, two));
    }

    private void part(String one, String two) {
        for (String[] pair : new String[][] {{one, two}, {two, one}}) {
            Node node = nodes.get(pair[0]);
            if (node != null && !node.ended && !pair[0].equals(pair[1])) {
                node.election.called(new PeerView.PeerDown(pair[1], false, "parted"), node);
            }
        }
    }

    private void meet(String one, String two) {
        if (linked(one, two) && node(one).up(two)) {
            node(one).election.called(new PeerView.PeerUp(two, false), node(one));
            node(two).election.called(new PeerView.PeerUp(one, false), node(two));
        } else if (linked(one, two)) {
            dialsInVain(one, two);
            dialsInVain(two, one);
        }
    }

    private void dialsInVain(String one, String two) {
        if (node(one).knows(two) && !node(two).knows(one)) {
            node(two).election.called(new PeerView.Stranger(one), node(two));
        }
    }

    Node node(String id) {
        Node node = nodes.get(id);
        if (node == null) {
            throw new IllegalArgumentException("no member " + id);
        }
        return node;
    }

    /** What that member says from now on is on its way until {@link #release}. */
    void hold(String id) {
        held.put(id, new ArrayList<>());
    }

    void release(String id) {
        List<Runnable> all = held.remove(id);
        if (all != null) {
            messages.addAll(all);
        }
        settle();
    }

    private void settle() {
        while (!messages.isEmpty()) {
            messages.removeFirst().run();
        }
    }

    /** Time passes, and what is due is done. */
    void pass(long nanos) {
        long until = now + nanos;
        for (long next = nextDue(); next != Turn.NEVER && next - until <= 0; next = nextDue()) {
            now = Math.max(now, next);
            for (Node node : nodes.values()) {
                for (int slot : List.copyOf(node.timers.keySet())) {
                    Long at = node.timers.get(slot);
                    if (!node.ended && at != null && Turn.due(at, now)) {
                        node.timers.remove(slot);
                        node.election.due(slot, node);
                    }
                }
            }
            settle();
        }
        now = until;
    }

    private long nextDue() {
        long next = Turn.NEVER;
        for (Node node : nodes.values()) {
            for (long at : node.ended ? List.<Long>of() : node.timers.values()) {
                next = Turn.earlier(next, at);
            }
        }
        return next;
    }

    // What is seen

    View view(String id) {
        return node(id).election.adopted();
    }

    boolean leased(String id) {
        long until = node(id).election.leased();
        return until != Turn.NEVER && now - until < 0;
    }

    /** The views that are counted by at some member now. */
    Set<ViewId> leasedViews() {
        Set<ViewId> all = new TreeSet<>();
        for (String id : ids) {
            if (nodes.containsKey(id) && !node(id).ended && leased(id)) {
                all.add(view(id).id());
            }
        }
        return all;
    }

    /** A message reaches that member. */
    void say(String from, String to, Message message) {
        node(to).election.received(new Peer(ids.indexOf(from) + 1), message, node(to));
        settle();
    }

    /** A member. */
    final class Node extends MemberTurn {
        final String id;
        final Election election;
        final Map<Integer, Long> timers = new LinkedHashMap<>();
        final List<ElectionCall> told = new ArrayList<>();
        final List<Notice> notices = new ArrayList<>();

        @Nullable
        Ballot record;

        boolean quarantined;
        boolean firstUse;
        boolean ended;

        List<String> members;
        Set<String> others = new TreeSet<>();

        Node(String id, List<String> members) {
            this.id = id;
            this.members = members;
            this.others.addAll(members);
            this.election = machines.apply(id);
        }

        @Override
        public boolean isFirstUse() {
            return firstUse;
        }

        @Override
        public void timer(int slot, long at) {
            if (at == Turn.NEVER) {
                timers.remove(slot);
            } else {
                timers.put(slot, at);
            }
        }

        @Override
        public void tell(Notice notice) {
            notices.add(notice);
        }

        @Override
        public void call(Key to, Call call) {
            told.add((ElectionCall) call);
        }

        @Override
        public long force(DurableRecord forced) {
            record = (Ballot) forced;
            return 1;
        }

        @Override
        public long send(String member, Message message) {
            if (!up(member)) {
                return 0;
            }
            Runnable arrives = () -> {
                Node to = nodes.get(member);
                if (to != null && !to.ended) {
                    to.election.received(new Peer(ids.indexOf(id) + 1), message, to);
                }
            };
            List<Runnable> waiting = held.get(id);
            if (waiting == null) {
                messages.add(arrives);
            } else {
                waiting.add(arrives);
            }
            return 1;
        }

        @Override
        public boolean up(String member) {
            return linked(id, member) && knows(member) && node(member).knows(id);
        }

        @Override
        public boolean suspected(String member) {
            return !up(member);
        }

        private boolean knows(String member) {
            return others.contains(member);
        }

        @Override
        public void follow(List<String> list, Collection<String> talkedTo) {
            members = list;
            Set<String> fresh = new TreeSet<>(talkedTo);
            fresh.removeAll(others);
            others = new TreeSet<>(talkedTo);
            fresh.forEach(member -> messages.add(() -> meet(id, member)));
        }

        @Override
        public long draw(int bits) {
            return (++draws * 0x9E3779B97F4A7C15L) >>> (64 - bits);
        }

        @Override
        public String self() {
            return id;
        }

        @Override
        public List<String> members() {
            return members;
        }

        @Override
        public boolean confirmed() {
            return true;
        }

        @Override
        public String member(Peer from) {
            return ids.get((int) from.session() - 1);
        }

        @Override
        public long epoch() {
            return 1;
        }

        @Override
        public int shards() {
            return shards;
        }

        @Override
        public long longestTtl() {
            return longestTtl;
        }

        @Override
        public long opensAt() {
            return opensAt;
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
