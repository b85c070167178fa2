// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import io.keyway.lock.peer.NodeId;
import io.keyway.lock.peer.Opening;
import io.keyway.lock.peer.engine.ClientCell;
import io.keyway.lock.peer.engine.ClientRuntime;
import io.keyway.lock.peer.engine.ConnectionWatch;
import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.net.CellLoop;
import io.keyway.lock.peer.net.ClientDialer;
import io.keyway.lock.peer.net.ClientLoop;
import io.keyway.lock.peer.net.HostNames;
import io.keyway.lock.peer.net.MemberQuestions;
import io.keyway.lock.peer.net.SuspendAwareClock;
import io.keyway.lock.peer.service.Algorithm;
import io.keyway.lock.peer.session.ClientSession;
import io.keyway.lock.peer.session.SessionTarget;
import io.keyway.lock.peer.trace.CellTrace;
import io.keyway.lock.peer.trace.TraceLog;
import io.keyway.lock.peer.trace.Tracing;
import io.keyway.lock.peer.wire.FrameCodec;
import io.keyway.lock.spi.LockEngine;
import io.keyway.lock.spi.TimeSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A client of a cluster over sockets: what runs its {@link Router}, with all its connections on one {@link ClientLoop}.
 * Nothing is opened before the first request; then the members are asked for at the addresses of the URL.
 *
 * <p>Belief stands on a clock that counts the time in which this machine slept, since the members did not sleep with
 * it.
 */
public final class ClusterRuntime implements ClientRuntime, Router.World<MemberConnection> {
    private static final Logger LOG = LoggerFactory.getLogger(ClusterRuntime.class);

    /**
     * By algorithms and names of clusters, the highest logical clock that any client in this process has heard of, for
     * whichever member is asked next. Clusters of one name do no more to each other than to move their clocks.
     */
    private static final ConcurrentMap<String, AtomicLong> LOGICAL_CLOCKS = new ConcurrentHashMap<>();

    private final String client;
    private final ClusterConfig config;
    private final Optional<ClusterMember> hosted;
    private final AtomicLong logicalClock;
    private final SuspendAwareClock clock;
    private final BiConsumer<Notice, ClientCell> listener;
    private final Runnable whenClosed;
    private final ClientLoop io;
    private final HostNames names;
    private final FrameCodec codec;
    private final Router<MemberConnection> router;
    private final ConnectionWatch connections = new ConnectionWatch();
    private final CompletableFuture<Void> greeted = new CompletableFuture<>();
    private final CompletableFuture<List<String>> members = new CompletableFuture<>();
    private final ClientCell cluster = new WholeCluster();
    private final ReentrantLock lock = new ReentrantLock();
    private volatile @Nullable TraceLog log;
    private volatile boolean started;
    private volatile boolean closed;

    // Of the loop's tasks
    /** Connections that found a member to which there is one already; they say goodbye. */
    private final Set<MemberConnection> spare = new HashSet<>();

    private final KnownAddresses known;

    /**
     * A client that has opened nothing yet.
     *
     * @param hosted a member in this process, which is asked without a socket
     * @param listener told what the cells tell, and which of them
     * @param whenClosed run once, when the client has closed
     */
    ClusterRuntime(
            String client,
            ClusterConfig config,
            Optional<ClusterMember> hosted,
            TimeSource timers,
            BiConsumer<Notice, ClientCell> listener,
            Runnable whenClosed) {
        this.client = client;
        this.config = config;
        this.known = new KnownAddresses(config.addresses());
        this.hosted = hosted;
        this.logicalClock = LOGICAL_CLOCKS.computeIfAbsent(
                config.cells().algorithm().name() + " " + config.cluster(), fresh -> new AtomicLong());
        this.clock = new SuspendAwareClock(timers);
        this.listener = listener;
        this.whenClosed = whenClosed;
        this.io = new ClientLoop("keyway-" + client + "-io", clock);
        this.names = new HostNames("keyway-" + client + "-names");
        this.codec = config.cells().frameCodec();
        this.router = new Router<>(
                config.addresses().size(),
                config.cells().routes(),
                config.cells().algorithm().serving(),
                this);
    }

    @Override
    public void post(Input input) {
        if (start() && input instanceof Input.Command command) {
            router.post(command);
        }
    }

    @Override
    public void tell(Input input) {
        if (started && input instanceof Input.Command command) {
            router.post(command);
        }
    }

    /** Looks for the members, unless that was begun; false if the client was closed before it had anything to ask. */
    private boolean start() {
        if (started) {
            return true;
        }
        lock.lock();
        try {
            if (!started && !closed) {
                io.start();
                io.execute(router::find);
                started = true;
            }
            return started;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public Optional<CompletionStage<Void>> greeted() {
        return start() ? Optional.of(greeted) : Optional.empty();
    }

    @Override
    public TimeSource time() {
        return io;
    }

    @Override
    public String server() {
        String trouble = router.trouble();
        return "cluster " + config.cluster() + " at "
                + String.join(
                        ",", config.addresses().stream().map(NodeId::toString).toList())
                + (trouble.isEmpty() ? "" : " (" + trouble + ")");
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        Opening.Watch watch = name -> router.opening(config.cells().lock(name.toString()));
        Tracing tracing = new MemberQuestions(io, this::connected, this::members);
        return Stream.of(watch, tracing)
                .filter(type::isInstance)
                .map(type::cast)
                .findFirst();
    }

    @Override
    public void trace(TraceLog into) {
        log = into;
    }

    private CompletionStage<List<String>> members() {
        return start() ? members : CompletableFuture.failedFuture(new IllegalStateException("this client is closed"));
    }

    /** The loops of the connections that are in use. In a task. */
    private List<CellLoop> connected() {
        return router.connections().stream().map(MemberConnection::loop).toList();
    }

    @Override
    public void observe(LockEngine.Observer observer) {
        connections.add(observer);
    }

    // What the router needs

    @Override
    public long now() {
        return clock.nanoTime();
    }

    @Override
    public void run(Runnable task) {
        try {
            io.execute(task);
        } catch (RejectedExecutionException e) {
            LOG.debug("{} has closed", client, e);
        }
    }

    @Override
    public void after(long nanos, Runnable task) {
        io.after(nanos, task);
    }

    @Override
    public MemberConnection connection(ShardId to) {
        if (isLed()) {
            Cell cell = config.cells().client(SessionTarget.leader(to.shard()), 0, 0);
            return MemberConnection.toLeader(this, cell, cluster(), addresses());
        }
        String node = to.node().toString();
        Cell cell = config.cells().client(SessionTarget.at(node, to.shard()), 0, 0);
        return new MemberConnection(this, cell, node, to.node(), List.of(to.node()));
    }

    private boolean isLed() {
        return config.cells().algorithm().serving() == Algorithm.Serving.BY_LEADER;
    }

    private List<NodeId> addresses() {
        return known.inTurn(ThreadLocalRandom.current());
    }

    @Override
    public MemberConnection finder() {
        Cell cell = config.cells().client(isLed() ? SessionTarget.LEADER : SessionTarget.ANY_MEMBER, 0, 0);
        MemberConnection finder = isLed()
                ? MemberConnection.toLeader(this, cell, cluster(), addresses())
                : new MemberConnection(this, cell, cluster(), null, addresses());
        finder.loop().begin(List.of());
        return finder;
    }

    private String cluster() {
        return "cluster " + config.cluster();
    }

    @Override
    public void spare(MemberConnection connection) {
        spare.add(connection);
        connection.post(new Input.Closing());
    }

    @Override
    public void learned(Routes routes) {
        List<NodeId> now = routes.members().members();
        LOG.debug("{}: the members of cluster {} are {}", client, config.cluster(), routes.members());
        members.complete(now.stream().map(NodeId::toString).toList());
        known.learned(now);
        router.connections().forEach(connection -> connection.learned(now));
        greeted.complete(null);
    }

    @Override
    public void nonsense(MemberConnection connection, String why) {
        LOG.warn("{}: {} describes a cluster that is impossible: {}", client, connection.server(), why);
    }

    @Override
    public void tell(@Nullable MemberConnection from, Notice notice) {
        listener.accept(notice, from == null ? cluster : from);
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
            return cluster();
        }
    }

    // What the connections need and tell; in tasks of the loop

    /** Of this process. */
    AtomicLong logicalClock() {
        return logicalClock;
    }

    CellLoop loop(Cell cell, MemberConnection connection) {
        CellLoop loop = new CellLoop(io, cell, connection, clock::nanoTime);
        TraceLog into = log;
        if (into != null) {
            loop.trace(CellTrace.ofClient(into));
        }
        return loop;
    }

    void dial(MemberConnection connection, long link, NodeId to) {
        CellLoop cell = connection.loop();
        NodeId address = NodeId.parse(config.elsewhere().reach(to.toString()));
        ClientDialer dialer = connection.dialer();
        if (hosted.isPresent() && hosted.get().isServing(address)) {
            dialer.connect(link, hosted.get().acceptor());
            return;
        }
        names.find(
                address.host(),
                address.port(),
                found -> dialer.connect(link, found, why -> cell.refused(link, connection.unanswered(to, why))),
                why -> cell.refused(link, connection.unanswered(to, why)));
    }

    ClientDialer dialer(CellLoop cell, String server) {
        return new ClientDialer(
                io, cell, codec, config.connectTimeout(), config.security().tls(), "the connection to " + server);
    }

    void heard(MemberConnection connection, Notice notice) {
        router.heard(connection, notice);
    }

    /** A batch of turns is over. */
    void turned(MemberConnection connection, ClientSession session, boolean connectionChanged) {
        clock.look();
        try {
            connection.referred(session.referral());
        } catch (IllegalArgumentException e) {
            nonsense(connection, String.valueOf(e.getMessage()));
        }
        router.turned(connection, session.lastWelcome(), session.trouble());
        if (connectionChanged) {
            connections.changed(connection.server(), session.connected());
        }
        if (session.closed() && spare.remove(connection)) {
            io.execute(() -> {
                connection.loop().shut();
                router.ended(connection);
            });
        }
    }

    // The end

    @Override
    public void close() {
        boolean ends;
        boolean first;
        lock.lock();
        try {
            first = !closed;
            ends = first && started;
            closed = true;
        } finally {
            lock.unlock();
        }
        if (ends) {
            io.whereItMayWait(this::end);
        }
        if (first) {
            whenClosed.run();
        }
    }

    /** Says goodbye to all members, within a part of the close timeout. */
    private void end() {
        List<MemberConnection> all = new ArrayList<>();
        io.run(() -> {
            all.addAll(router.connections());
            all.addAll(spare);
            MemberConnection finder = router.finder();
            if (finder != null) {
                all.add(finder);
            }
            all.forEach(connection -> connection.post(new Input.Closing()));
        });
        long deadline = io.nanoTime() + config.closeTimeout().toNanos() / 4;
        boolean interrupted = false;
        for (MemberConnection connection : all) {
            try {
                io.await(connection.goodbye(), deadline);
            } catch (InterruptedException e) {
                interrupted = true;
            } catch (ExecutionException | TimeoutException e) {
                LOG.trace("{}: no goodbye from {}", client, connection.server(), e);
            }
        }
        names.close();
        io.run(() -> all.forEach(connection -> connection.loop().shut()));
        io.close();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
