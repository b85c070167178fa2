// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import io.keyway.lock.peer.Opening;
import io.keyway.lock.peer.engine.ClientCell;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.net.CellLoop;
import io.keyway.lock.peer.net.Connector;
import io.keyway.lock.peer.net.HostNames;
import io.keyway.lock.peer.net.LoopThread;
import io.keyway.lock.peer.net.SuspendAwareClock;
import io.keyway.lock.peer.session.ClientSession;
import io.keyway.lock.peer.session.SessionTarget;
import io.keyway.lock.peer.wire.FrameCodec;
import io.keyway.lock.spi.LockEngine;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A client's {@link Router} over sockets: all its lines on one event thread. */
final class SocketRouter implements Router.World<SocketMemberConnection>, SocketMemberConnection.Operator {
    private static final Logger LOG = LoggerFactory.getLogger(SocketRouter.class);

    private final String client;
    private final ClusterConfig place;
    private final SuspendAwareClock clock;
    private final BiConsumer<Notice, ClientCell> ears;
    private final List<LockEngine.Observer> observers;
    private final LoopThread io;
    private final HostNames names;
    private final FrameCodec codec;
    private final CompletableFuture<Void> greeted = new CompletableFuture<>();
    private final Router<SocketMemberConnection> router;
    private final ClientCell cluster = new WholeCluster();

    private final Map<String, Integer> connections = new HashMap<>();
    /** Lines that found a member to which there is one already; they say goodbye. */
    private final Set<SocketMemberConnection> spare = new HashSet<>();

    SocketRouter(
            String client,
            ClusterConfig place,
            SuspendAwareClock clock,
            BiConsumer<Notice, ClientCell> ears,
            List<LockEngine.Observer> observers) {
        this.client = client;
        this.place = place;
        this.clock = clock;
        this.ears = ears;
        this.observers = observers;
        this.codec = place.cells().frameCodec();
        this.io = new LoopThread("keyway-" + client + "-io");
        this.names = new HostNames("keyway-" + client + "-names");
        this.router = new Router<>(place.addresses().size(), this);
        io.loop().execute(router::find);
    }

    /** From any thread. */
    void post(Input.Command command) {
        router.post(command);
    }

    /** Completed by the first welcome. */
    CompletableFuture<Void> greeted() {
        return greeted;
    }

    /** Why the members are not known; empty once they are. */
    String trouble() {
        return router.trouble();
    }

    /** What a request for that name waits for although nobody holds the lock. From any thread. */
    Optional<Opening> opening(String name) {
        return router.opening(name);
    }

    // What the router needs

    @Override
    public long now() {
        return clock.nanoTime();
    }

    @Override
    public String route(Key key) {
        return place.cells().route(key);
    }

    @Override
    public void run(Runnable task) {
        try {
            io.loop().execute(task);
        } catch (RejectedExecutionException e) {
            LOG.debug("{} has closed", client, e);
        }
    }

    @Override
    @SuppressWarnings("FutureReturnValueIgnored") // a loop that has ended asks nobody
    public void after(long nanos, Runnable task) {
        io.loop().schedule(task, nanos, TimeUnit.NANOSECONDS);
    }

    @Override
    public SocketMemberConnection line(ShardId authority) {
        NodeId node = authority.node();
        return line(SessionTarget.at(node.toString(), authority.shard()), node.toString(), node, List.of(node));
    }

    @Override
    public SocketMemberConnection finder() {
        int first = ThreadLocalRandom.current().nextInt(place.addresses().size());
        List<NodeId> addresses = new ArrayList<>(
                place.addresses().subList(first, place.addresses().size()));
        addresses.addAll(place.addresses().subList(0, first));
        SocketMemberConnection finder = line(SessionTarget.ANY_MEMBER, cluster.server(), null, addresses);
        finder.loop().begin(List.of());
        return finder;
    }

    private SocketMemberConnection line(
            SessionTarget aim, String server, @Nullable NodeId node, List<NodeId> addresses) {
        return new SocketMemberConnection(
                io.loop(),
                clock::nanoTime,
                place.cells().client(aim, 0, 0),
                server,
                node,
                addresses,
                address -> NodeId.parse(place.elsewhere().reach(address.toString())),
                names,
                cell -> connector(cell, server),
                this);
    }

    private Connector connector(CellLoop cell, String server) {
        return new Connector(
                cell, codec, place.connectTimeout(), place.security().tls(), "the connection to " + server);
    }

    @Override
    public void spare(SocketMemberConnection line) {
        spare.add(line);
        line.post(new Input.Closing());
    }

    @Override
    public void learned(Routes routes) {
        LOG.debug("{}: the members of cluster {} are {}", client, place.cluster(), routes.members());
        greeted.complete(null);
    }

    @Override
    public void nonsense(SocketMemberConnection line, String why) {
        LOG.warn("{}: {} tells of a cluster that cannot be: {}", client, line.server(), why);
    }

    @Override
    public void tell(@Nullable SocketMemberConnection from, Notice notice) {
        ears.accept(notice, from == null ? cluster : from);
    }

    /** What is told before any member answers comes from here. */
    private final class WholeCluster implements ClientCell {
        @Override
        public void post(Input input) {
            if (input instanceof Input.Command command) {
                router.post(command);
            }
        }

        @Override
        public String server() {
            return "cluster " + place.cluster();
        }
    }

    // What the lines tell

    @Override
    public void heard(SocketMemberConnection line, Notice notice) {
        router.heard(line, notice);
    }

    @Override
    public void turned(SocketMemberConnection line, ClientSession session) {
        clock.look();
        router.turned(line, session.greeting(), session.trouble());
        if (line.changes(session.connected())) {
            connection(line.server(), line.connected());
        }
        if (session.closed() && spare.remove(line)) {
            io.loop().execute(line.loop()::shut);
        }
    }

    private void connection(String server, boolean stands) {
        int now = connections.merge(server, stands ? 1 : -1, Integer::sum);
        if (stands ? now != 1 : now != 0) {
            return;
        }
        for (LockEngine.Observer observer : observers) {
            if (stands) {
                observer.connected(server);
            } else {
                observer.disconnected(server, "the connection ended");
            }
        }
    }

    /** Says goodbye to all members, within a part of the close timeout. */
    void end() {
        List<SocketMemberConnection> all = new ArrayList<>();
        io.run(() -> {
            all.addAll(router.lines());
            all.addAll(spare);
            SocketMemberConnection finder = router.finder();
            if (finder != null) {
                all.add(finder);
            }
            all.forEach(line -> line.post(new Input.Closing()));
        });
        long deadline = System.nanoTime() + place.closeTimeout().toNanos() / 4;
        boolean interrupted = false;
        for (SocketMemberConnection line : all) {
            try {
                boolean said = line.goodbye().await(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
                LOG.trace("{}: goodbye to {}: {}", client, line.server(), said);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        names.close();
        io.run(() -> all.forEach(line -> line.loop().shut()));
        io.close();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
