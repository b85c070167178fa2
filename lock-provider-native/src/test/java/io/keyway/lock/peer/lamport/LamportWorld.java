// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lamport;

import io.keyway.lock.peer.home.HomeCall;
import io.keyway.lock.peer.home.MemberTurn;
import io.keyway.lock.peer.home.Ticket;
import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.MemberView;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.PeerView;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.spi.Owner;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Processes alone, with links whose messages are delivered one by one: for what is told message by message, and for a
 * search through all orders of delivery. What managers do is the test's.
 */
final class LamportWorld {
    static final String NAME = "job";
    /** Who tells of a clock of a later epoch is wrong. */
    static final long LAST_EPOCH = 1_000;

    private static final long EPOCH = 1;
    private static final long SECOND = 1_000_000_000L;

    private final List<String> ids;
    private final Map<String, Node> nodes = new LinkedHashMap<>();
    /** By sender, then receiver. */
    private final Map<String, Map<String, List<LamportMessage>>> links = new LinkedHashMap<>();

    private long now;
    private int sent;
    /** What the client shows that is heard now. */
    private long frameClock;

    private boolean confirmed = true;

    /** Members that have met, and have told each other what they ask for. */
    LamportWorld(String... ids) {
        this(UnsafeLamport.NONE, ids);
    }

    LamportWorld(UnsafeLamport variant, String... ids) {
        this.ids = List.of(ids);
        for (String id : ids) {
            links.put(id, new LinkedHashMap<>());
            for (String to : ids) {
                links.get(id).put(to, new ArrayList<>());
            }
        }
        for (String id : ids) {
            nodes.put(id, new Node(id, new UnsafeProcess(variant)));
        }
        for (String id : ids) {
            node(id).call(new MemberView.Started());
            meetAll(id);
        }
        run();
        sent = 0;
    }

    private LamportWorld(List<String> ids) {
        this.ids = ids;
    }

    private Node node(String id) {
        Node node = nodes.get(id);
        if (node == null) {
            throw new IllegalArgumentException("no member " + id);
        }
        return node;
    }

    private void meetAll(String id) {
        for (String other : ids) {
            if (!other.equals(id)) {
                node(id).call(new PeerView.PeerUp(other, false));
            }
        }
    }

    // What clients do

    /** A client of that member asks; the number is the test's. */
    void ask(String member, long number) {
        ask(member, number, false);
    }

    void ask(String member, long number, boolean answerAtOnce) {
        Owner owner = new Owner(member + number, Map.of());
        node(member).call(new HomeCall.Want(NAME, number, owner, answerAtOnce, true, now));
    }

    /** The same, of a client that has heard of that time elsewhere. */
    void askHaving(String member, long number, long heard) {
        frameClock = heard;
        ask(member, number);
        frameClock = 0;
    }

    /** It has released, given up or died. */
    void leave(String member, long number) {
        node(member).holds.remove(number);
        node(member).call(new HomeCall.Leave(NAME, number));
    }

    // What the net does

    /** How many messages stand between them. */
    int queued(String from, String to) {
        return link(from, to).size();
    }

    private List<LamportMessage> link(String from, String to) {
        List<LamportMessage> link = links.getOrDefault(from, Map.of()).get(to);
        if (link == null) {
            throw new IllegalArgumentException(from + " to " + to);
        }
        return link;
    }

    /** The first message of that link arrives. */
    LamportMessage deliver(String from, String to) {
        return deliver(from, to, 0);
    }

    /** That message of the link arrives, before those that were said earlier. */
    LamportMessage deliver(String from, String to, int index) {
        LamportMessage message = link(from, to).remove(index);
        node(to).received(from, message);
        return message;
    }

    /** The first message of that link arrives and will arrive once more. */
    void deliverTwice(String from, String to) {
        LamportMessage message = deliver(from, to);
        node(to).received(from, message);
    }

    /** All that was said on that link and has not arrived is lost, and both know that they were parted. */
    void part(String one, String two) {
        link(one, two).clear();
        link(two, one).clear();
        node(one).call(new PeerView.PeerDown(two, false, "parted"));
        node(two).call(new PeerView.PeerDown(one, false, "parted"));
    }

    void meet(String one, String two) {
        node(one).call(new PeerView.PeerUp(two, false));
        node(two).call(new PeerView.PeerUp(one, false));
    }

    /** That member ends; nothing of it is left but its record. */
    void end(String id) {
        for (String other : ids) {
            if (!other.equals(id)) {
                link(id, other).clear();
                link(other, id).clear();
                node(other).call(new PeerView.PeerDown(id, true, "it was restarted"));
            }
        }
        node(id).ended = true;
    }

    /** It starts anew, in quarantine until {@link #open}. */
    void start(String id) {
        Node former = node(id);
        Node node = new Node(id, new UnsafeProcess(UnsafeLamport.NONE));
        node.quarantined = true;
        node.record = former.record;
        nodes.put(id, node);
        node.call(new MemberView.Restored(new LamportMessage.Reserved(former.record)));
        node.call(new MemberView.Started());
        meetAll(id);
        for (String other : ids) {
            if (!other.equals(id)) {
                node(other).call(new PeerView.PeerUp(id, true));
            }
        }
    }

    /** No lease of its former life is left. */
    void open(String id) {
        node(id).quarantined = false;
        node(id).call(new MemberView.Opening());
    }

    /** All members run with one list, or not yet. */
    void confirm(boolean now) {
        confirmed = now;
        if (now) {
            ids.forEach(id -> node(id).call(new PeerView.ListConfirmed()));
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

    /** So long passes that whoever does not answer is named. */
    void wait(String member) {
        now += SECOND;
        node(member).due();
    }

    // What is seen

    /** How many messages were said since the start. */
    int sent() {
        return sent;
    }

    /** The requests of that member's clients that hold, in the order in which they came to it. */
    List<Long> holds(String member) {
        return List.copyOf(node(member).holds);
    }

    /** How often that request was told that it is its turn. */
    long given(String member, long number) {
        return node(member).given.stream().filter(each -> each == number).count();
    }

    int holders() {
        return nodes.values().stream().mapToInt(node -> node.holds.size()).sum();
    }

    long token(String member) {
        return node(member).token;
    }

    long clock(String member) {
        return node(member).process.clock();
    }

    List<Ticket> queue(String member) {
        return node(member).process.queue(NAME);
    }

    /** Who was last said not to answer. */
    List<String> silent(String member) {
        return node(member).silent;
    }

    List<Long> refused(String member) {
        return List.copyOf(node(member).refused);
    }

    LamportWorld copy() {
        LamportWorld copy = new LamportWorld(ids);
        copy.now = now;
        copy.sent = sent;
        nodes.forEach((id, node) -> copy.nodes.put(id, node.copy(copy)));
        links.forEach((from, all) -> {
            Map<String, List<LamportMessage>> twins = new LinkedHashMap<>();
            all.forEach((to, messages) -> twins.put(to, new ArrayList<>(messages)));
            copy.links.put(from, twins);
        });
        return copy;
    }

    void encode(StateEncoder out) {
        nodes.forEach((id, node) -> {
            node.process.encode(out);
            out.value(List.copyOf(node.holds));
        });
        links.forEach((from, all) -> all.forEach((to, messages) -> out.value(List.copyOf(messages))));
    }

    /** A member: its process, and what that has told its managers. */
    private final class Node extends MemberTurn {
        final String id;
        final LamportProcess process;
        final List<Long> holds = new ArrayList<>();
        final List<Long> given = new ArrayList<>();
        final List<Long> refused = new ArrayList<>();
        List<String> silent = List.of();
        long token;
        long record;
        boolean quarantined;
        boolean ended;

        Node(String id, LamportProcess process) {
            this.id = id;
            this.process = process;
        }

        Node copy(LamportWorld world) {
            Node copy = world.new Node(id, process.copy());
            copy.holds.addAll(holds);
            copy.token = token;
            copy.record = record;
            copy.quarantined = quarantined;
            return copy;
        }

        void call(Call call) {
            if (!ended) {
                process.called(call, this);
            }
        }

        void due() {
            process.due(0, this);
        }

        void received(String from, Message message) {
            if (!ended) {
                process.received(new Peer(ids.indexOf(from) + 1), message, this);
            }
        }

        @Override
        public void call(Key to, Call call) {
            if (call instanceof HomeCall.Yours yours) {
                holds.add(yours.number());
                given.add(yours.number());
                token = yours.token();
            } else if (call instanceof HomeCall.Behind behind) {
                refused.add(behind.number());
            } else if (call instanceof HomeCall.Waiting waiting) {
                silent = waiting.silent();
            }
        }

        @Override
        public long force(DurableRecord forced) {
            record = ((LamportMessage.Reserved) forced).stamp();
            return 1;
        }

        @Override
        public long send(String member, Message message) {
            sent++;
            link(id, member).add((LamportMessage) message);
            return sent;
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
            return confirmed;
        }

        @Override
        public String member(Peer from) {
            return ids.get((int) from.session() - 1);
        }

        @Override
        public long epoch() {
            return EPOCH;
        }

        @Override
        public long lastEpoch() {
            return LAST_EPOCH;
        }

        @Override
        public long frameClock() {
            return frameClock;
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
