// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import io.keyway.lock.peer.Opening;
import io.keyway.lock.peer.engine.Origin;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.lease.LeaseCodec;
import io.keyway.lock.peer.net.CellLoop;
import io.keyway.lock.peer.net.Connector;
import io.keyway.lock.peer.net.EventThread;
import io.keyway.lock.peer.net.HostNames;
import io.keyway.lock.peer.net.WakefulClock;
import io.keyway.lock.peer.session.Aim;
import io.keyway.lock.peer.session.ClientSession;
import io.keyway.lock.peer.wire.BodyCodecs;
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
final class Switchboard implements Router.World<SocketLine>, SocketLine.Operator {
    private static final Logger LOG = LoggerFactory.getLogger(Switchboard.class);

    private final String client;
    private final ClusterPlace place;
    private final WakefulClock clock;
    private final BiConsumer<Notice, Origin> ears;
    private final List<LockEngine.Observer> observers;
    private final EventThread io;
    private final HostNames names;
    private final FrameCodec codec = new FrameCodec(new BodyCodecs(new LeaseCodec()));
    private final CompletableFuture<Void> greeted = new CompletableFuture<>();
    private final Router<SocketLine> router;
    private final Origin cluster = new WholeCluster();

    private final Map<String, Integer> connections = new HashMap<>();
    /** Lines that found a member to which there is one already; they say goodbye. */
    private final Set<SocketLine> spare = new HashSet<>();

    Switchboard(
            String client,
            ClusterPlace place,
            WakefulClock clock,
            BiConsumer<Notice, Origin> ears,
            List<LockEngine.Observer> observers) {
        this.client = client;
        this.place = place;
        this.clock = clock;
        this.ears = ears;
        this.observers = observers;
        this.io = new EventThread("keyway-" + client + "-io");
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
    public SocketLine line(Authority authority) {
        NodeId node = authority.node();
        return line(Aim.at(node.toString(), authority.shard()), node.toString(), node, List.of(node));
    }

    @Override
    public SocketLine finder() {
        int first = ThreadLocalRandom.current().nextInt(place.addresses().size());
        List<NodeId> addresses = new ArrayList<>(
                place.addresses().subList(first, place.addresses().size()));
        addresses.addAll(place.addresses().subList(0, first));
        SocketLine finder = line(Aim.ANY_MEMBER, cluster.server(), null, addresses);
        finder.loop().begin(List.of());
        return finder;
    }

    private SocketLine line(Aim aim, String server, @Nullable NodeId node, List<NodeId> addresses) {
        return new SocketLine(
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
    public void spare(SocketLine line) {
        spare.add(line);
        line.post(new Input.Closing());
    }

    @Override
    public void learned(Routes routes) {
        LOG.debug("{}: the members of cluster {} are {}", client, place.cluster(), routes.members());
        greeted.complete(null);
    }

    @Override
    public void nonsense(SocketLine line, String why) {
        LOG.warn("{}: {} tells of a cluster that cannot be: {}", client, line.server(), why);
    }

    @Override
    public void tell(@Nullable SocketLine from, Notice notice) {
        ears.accept(notice, from == null ? cluster : from);
    }

    /** What is told before any member answers comes from here. */
    private final class WholeCluster implements Origin {
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
    public void heard(SocketLine line, Notice notice) {
        router.heard(line, notice);
    }

    @Override
    public void turned(SocketLine line, ClientSession session) {
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
        List<SocketLine> all = new ArrayList<>();
        io.run(() -> {
            all.addAll(router.lines());
            all.addAll(spare);
            SocketLine finder = router.finder();
            if (finder != null) {
                all.add(finder);
            }
            all.forEach(line -> line.post(new Input.Closing()));
        });
        long deadline = System.nanoTime() + place.closeTimeout().toNanos() / 4;
        boolean interrupted = false;
        for (SocketLine line : all) {
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
