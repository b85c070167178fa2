// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import io.keyway.lock.peer.NodeId;
import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.kernel.SessionLayer;
import io.keyway.lock.peer.net.CellLoop;
import io.keyway.lock.peer.net.ClientDialer;
import io.keyway.lock.peer.session.ClientSession;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A cell of a client that talks to one cell of a member over a socket: it dials several addresses in turn, until one
 * answers. Its state is looked at in tasks of the client's loop only.
 */
final class MemberConnection implements Router.Connection, CellLoop.Surroundings {
    private static final Logger LOG = LoggerFactory.getLogger(MemberConnection.class);

    private final ClusterRuntime runtime;
    private final CellLoop loop;
    private final ClientDialer dialer;
    private final CompletableFuture<Void> goodbye = new CompletableFuture<>();
    private volatile String server;
    private volatile @Nullable NodeId node;
    private volatile List<NodeId> addresses;
    /** Why each address gave no answer when it was last dialled; in the order of the addresses as text. */
    private final Map<String, String> unanswered = new ConcurrentSkipListMap<>();

    private int next;
    private boolean connected;
    private List<String> referral = List.of();
    /** It goes on at another address when another member leads. */
    private final boolean moves;

    /**
     * A connection that dials nobody yet.
     *
     * @param server whom this is about, in messages
     * @param node the member that it is for; null while any member will do
     * @param addresses where members say they are, tried in this order, again and again
     */
    MemberConnection(ClusterRuntime runtime, Cell cell, String server, @Nullable NodeId node, List<NodeId> addresses) {
        this(runtime, cell, server, node, addresses, false);
    }

    /** A connection to whichever member leads, that dials nobody yet. */
    static MemberConnection toLeader(ClusterRuntime runtime, Cell cell, String cluster, List<NodeId> addresses) {
        return new MemberConnection(runtime, cell, cluster, null, addresses, true);
    }

    private MemberConnection(
            ClusterRuntime runtime,
            Cell cell,
            String server,
            @Nullable NodeId node,
            List<NodeId> addresses,
            boolean moves) {
        this.moves = moves;
        this.runtime = runtime;
        this.server = server;
        this.node = node;
        this.addresses = addresses;
        this.loop = runtime.loop(cell, this);
        this.dialer = runtime.dialer(loop, server);
    }

    CellLoop loop() {
        return loop;
    }

    ClientDialer dialer() {
        return dialer;
    }

    @Override
    public void post(Input input) {
        loop.post(input);
    }

    /** A member's id, or the cluster while that is not known. */
    @Override
    public String server() {
        return server;
    }

    @Override
    public @Nullable NodeId node() {
        return node;
    }

    /** The address at which it answered comes first. */
    @Override
    public void settled(NodeId member) {
        server = member.toString();
        if (moves) {
            return;
        }
        node = member;
        NodeId good = addresses.get(Math.floorMod(next - 1, addresses.size()));
        addresses = good.equals(member) ? List.of(member) : List.of(good, member);
        next = 0;
    }

    /**
     * Those are the members, says one that does not lead.
     *
     * @throws IllegalArgumentException if one of them cannot be
     */
    void referred(List<String> members) {
        if (!members.equals(referral)) {
            referral = members;
            learned(members.stream().map(NodeId::parse).toList());
        }
    }

    /** Those are the members: one that looks for the leader dials them, and where it found members before. */
    void learned(List<NodeId> members) {
        if (moves) {
            NodeId good = addresses.get(Math.floorMod(next, addresses.size()));
            Set<NodeId> all = new LinkedHashSet<>(List.of(good));
            all.addAll(members);
            all.addAll(addresses);
            addresses = List.copyOf(all);
            next = 0;
        }
    }

    @Override
    public void dial(long link) {
        NodeId to = addresses.get(Math.floorMod(next++, addresses.size()));
        unanswered.remove(to.toString());
        runtime.dial(this, link, to);
    }

    /** That address gives no answer; returns what a user is to hear: of all of them, if a majority is silent. */
    String unanswered(NodeId to, String why) {
        unanswered.put(to.toString(), why);
        Set<String> all = addresses.stream().map(NodeId::toString).collect(Collectors.toSet());
        unanswered.keySet().retainAll(all);
        int silent = unanswered.size();
        if (silent < 2 || 2 * silent <= all.size()) {
            return why;
        }
        String who = silent == all.size()
                ? "none of the " + silent + " members answers"
                : silent + " of " + all.size() + " members do not answer";
        return who + ": " + String.join("; ", unanswered.values());
    }

    @Override
    public long logicalClock() {
        return runtime.logicalClock().get();
    }

    @Override
    public void heardClock(long logicalClock) {
        runtime.logicalClock().accumulateAndGet(logicalClock, Math::max);
    }

    @Override
    public Optional<Input> failed(Throwable why) {
        LOG.error("all leases of the session with {} are lost, since this client has failed", server, why);
        return Optional.of(new Input.Reborn(0, 0, "this client has failed: " + why));
    }

    @Override
    public void heard(Notice notice) {
        runtime.heard(this, notice);
    }

    @Override
    public void turned(SessionLayer sessions) {
        ClientSession session = (ClientSession) sessions;
        boolean now = session.connected();
        boolean changed = now != connected;
        connected = now;
        if (changed && now && moves) {
            next--; // where it answers is the first to be tried again
        }
        runtime.turned(this, session, changed);
        if (session.closed()) {
            goodbye.complete(null);
        }
    }

    /** Complete when the session has said goodbye. */
    CompletableFuture<Void> goodbye() {
        return goodbye;
    }
}
