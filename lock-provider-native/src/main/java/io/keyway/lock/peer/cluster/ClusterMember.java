// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import io.keyway.lock.peer.algorithms.Algorithms;
import io.keyway.lock.peer.engine.Cells;
import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.member.CarriedOverGrants;
import io.keyway.lock.peer.member.HorizonWriter;
import io.keyway.lock.peer.member.HostDisk;
import io.keyway.lock.peer.member.MemberCell;
import io.keyway.lock.peer.member.MemberFile;
import io.keyway.lock.peer.member.PreviousRun;
import io.keyway.lock.peer.member.StartState;
import io.keyway.lock.peer.net.HostNames;
import io.keyway.lock.peer.net.LoopThread;
import io.keyway.lock.peer.net.MemberAcceptor;
import io.keyway.lock.peer.os.SystemFacts;
import io.keyway.lock.peer.queue.GrantTable;
import io.keyway.lock.peer.service.Algorithm;
import io.keyway.lock.peer.session.Horizon;
import io.keyway.lock.peer.session.Membership;
import io.keyway.lock.peer.session.SessionSettings;
import io.keyway.lock.peer.session.SessionTarget;
import io.keyway.lock.peer.wire.FrameCodec;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A member of a cluster, in this process: its cells on some event loops, one port for all of them, a session with every other member, and one thread for the disk. It opens when its own former leases are over and its member list is
 * confirmed ({@link ListConfirmation}).
 *
 * <p>The log says what an operator needs: starts, who joins and leaves, what is waited for, who was refused, the end; nothing of single locks.
 */
public final class ClusterMember implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ClusterMember.class);
    private static final long REPORT_MILLIS = 10_000;
    private static final long STANDING_MILLIS = 500;

    private final MemberConfig plan;
    private final DataDirectory home;
    private final Runnable ended;
    private final HostDisk disk;
    private final HorizonWriter promises;
    private final CarriedOverGrants inherited;
    private final MembershipGate gate;
    private final List<LoopThread> threads = new ArrayList<>();
    private final List<MemberCell> cells = new CopyOnWriteArrayList<>();
    private final List<PeerLink> peers = new ArrayList<>();
    private final MemberAcceptor acceptor;
    private final HostNames names;
    private final AtomicBoolean closing = new AtomicBoolean();
    private final AtomicBoolean stopped = new AtomicBoolean();
    private final Set<MemberCell> silent = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean saidOpen = new AtomicBoolean();
    /** On the monotonic clock; {@link Turn#NEVER} while the list is not confirmed. */
    private volatile long opensAt;

    /**
     * Starts to serve; blocks for the disk and for name servers.
     *
     * @param ended told once, on some thread, when this member has stopped by itself
     * @throws IllegalArgumentException if the plan does not fit what this member was before, with what to do
     * @throws io.keyway.lock.LockUnavailableException if the directory cannot be used
     * @throws IOException if its file or its port cannot be used
     */
    public static ClusterMember start(MemberConfig plan, Runnable ended) throws IOException {
        return start(plan, Algorithms.standard(), ended);
    }

    /** The same, with that algorithm. */
    public static ClusterMember start(MemberConfig plan, Algorithm algorithm, Runnable ended) throws IOException {
        Cells cells = new Cells(
                        plan.cluster(),
                        plan.maxTtl(),
                        algorithm,
                        plan.security().authenticator())
                .among(plan.ids(), plan.shards());
        plan.security().checkListening(plan.listen());
        DataDirectory home = DataDirectory.open(plan, cells, new SystemFacts());
        try {
            return new ClusterMember(plan, cells, home, ended);
        } catch (IOException | RuntimeException e) {
            home.close();
            throw e;
        }
    }

    private ClusterMember(MemberConfig plan, Cells factory, DataDirectory home, Runnable ended) throws IOException {
        this.plan = plan;
        this.home = home;
        this.ended = ended;
        MemberFile file = home.file();
        long now = System.nanoTime();
        boolean fresh = file.start() instanceof StartState.FirstUse;
        long ttl = plan.maxTtl().toNanos();
        long longestTtl = Math.max(ttl, file.longestTtl());
        ListConfirmation confirmation = ListConfirmation.start(
                node(), plan.ids(), file.list(), fresh, plan.removedIds(), SessionSettings.quarantine(longestTtl), now);
        PreviousRun last = PreviousRun.of(file, plan.maxTtl(), now);
        this.inherited = last.inherited();
        long epoch = file.nextEpoch(Membership.epochAbove(plan.tokenFloor()) - 1);
        long awaited = last.awaitedNanos();
        this.disk = new HostDisk("keyway-" + node() + "-disk", this::failed);
        this.promises = new HorizonWriter(
                file,
                home.facts(),
                disk,
                epoch,
                longestTtl,
                now + awaited,
                now + last.longestKept(),
                !confirmation.changed(),
                ttl / 16,
                home::check,
                this::failed);
        this.opensAt = confirmation.changed() ? Turn.NEVER : now + last.waitNanos();
        LOG.info(
                "member {} of cluster '{}' starts with epoch {}, members {}, {} shards, {}, data in {}{}",
                node(),
                plan.cluster(),
                epoch,
                plan.members(),
                plan.shards(),
                plan.security(),
                home.path(),
                fresh ? "; first use, by --init" : last.sentence());
        this.names = new HostNames("keyway-" + node() + "-names");
        this.gate = new MembershipGate(
                node(),
                plan.ids(),
                confirmation,
                (openAt, others) -> confirmed(openAt, others, now + last.waitNanos()));
        try {
            long lastEpoch = file.lastEpoch(plan.tokenFloor() == 0 ? 0 : epoch);
            Membership first = new Membership(node(), plan.ids(), 0, plan.shards(), fresh, longestTtl, lastEpoch);
            makeCells(factory, epoch, new Horizon(now + awaited, ttl / 2), first);
            makePeers(factory);
            this.acceptor = listen();
            home.publish(acceptor.address().getPort());
        } catch (IOException | RuntimeException e) {
            abandon();
            throw e;
        }
        LOG.info(
                "member {} listens on {}:{}",
                node(),
                plan.listen().getHostString(),
                acceptor.address().getPort());
        peers.forEach(PeerLink::begin);
        threads.get(0).run(gate::begin);
        if (!gate.waits().isEmpty()) {
            LOG.info("member {} opens when its list is confirmed by {}", node(), gate.waits());
        }
        disk.runAfter(STANDING_MILLIS, this::checkStanding);
        disk.runAfter(REPORT_MILLIS, this::report);
    }

    private String node() {
        return plan.node().toString();
    }

    private void makeCells(Cells factory, long epoch, Horizon horizon, Membership first) {
        List<FrameCodec> codecs = new ArrayList<>();
        int loops = Math.min(plan.shards(), Runtime.getRuntime().availableProcessors());
        for (int i = 0; i < loops; i++) {
            threads.add(new LoopThread("keyway-" + node() + "-io-" + i));
            codecs.add(factory.frameCodec());
        }
        MemberList members = plan.members();
        List<Input> imports = inherited.imports();
        for (int i = 0; i < plan.shards(); i++) {
            int shard = i;
            Cell cell = factory.member(
                    first.ofShard(shard),
                    route -> here(route, shard) && members.owner(route).equals(plan.node()),
                    epoch,
                    opensAt,
                    horizon);
            MemberCell made = new MemberCell(threads.get(i % loops), cell, codecs.get(i % loops), new All());
            cells.add(made);
            silent.add(made);
            made.begin(imports.stream()
                    .filter(each -> each instanceof Input.Command command && here(factory.route(command.key()), shard))
                    .toList());
        }
    }

    private boolean here(String route, int shard) {
        return MemberList.shard(route, plan.shards()) == shard;
    }

    private void makePeers(Cells factory) {
        for (NodeId other : plan.members().members()) {
            if (!other.equals(plan.node())) {
                peers.add(new PeerLink(
                        other,
                        threads.get(0),
                        factory.client(SessionTarget.peer(node(), other.toString()), 0, 0),
                        factory.frameCodec(),
                        plan.security().tls(),
                        names,
                        gate));
            }
        }
    }

    private MemberAcceptor listen() throws IOException {
        LoopThread accepting = new LoopThread("keyway-" + node() + "-accept");
        threads.add(accepting);
        return new MemberAcceptor(
                accepting,
                plan.listen(),
                cells.stream().map(MemberCell::shard).toList(),
                plan.security(),
                "member " + node());
    }

    /** Where it listens. */
    public InetSocketAddress address() {
        return acceptor.address();
    }

    /** Whether some names are not granted yet, or no longer. */
    public boolean quarantined() {
        return !silent.isEmpty();
    }

    /** Who has not confirmed the member list, and why; empty if nobody is missing. */
    public String waits() {
        return gate.waits();
    }

    /** All members run with this list; on the gate's thread. */
    private void confirmed(long listOpensAt, long epoch, long ownQuarantine) {
        long at = listOpensAt - ownQuarantine > 0 ? listOpensAt : ownQuarantine;
        opensAt = at;
        long left = at - System.nanoTime();
        if (left > 0) {
            LOG.info(
                    "member {} opens in {} s: leases that were granted before the list was confirmed may last so long",
                    node(),
                    seconds(left));
        }
        cells.forEach(cell -> cell.loop().post(new Input.Confirmed(at, epoch)));
    }

    private static long seconds(long nanos) {
        return Duration.ofNanos(nanos).plusMillis(999).toSeconds();
    }

    /** Says from time to time why nothing is granted. On the disk's thread. */
    private void report() {
        if (closing.get() || stopped.get()) {
            return;
        }
        String waits = gate.waits();
        if (!waits.isEmpty()) {
            LOG.info("member {} grants nothing yet: the member list is to be confirmed by {}", node(), waits);
        } else if (quarantined()) {
            long left = opensAt - System.nanoTime();
            LOG.info(
                    "member {} grants nothing yet: leases of an earlier life may be held{}",
                    node(),
                    left > 0 ? " for another " + seconds(left) + " s" : "");
        }
        disk.runAfter(REPORT_MILLIS, this::report);
    }

    private void checkStanding() {
        try {
            home.check();
            disk.runAfter(STANDING_MILLIS, this::checkStanding);
        } catch (IOException e) {
            failed(e);
        }
    }

    private void failed(Exception e) {
        LOG.error("member {} ends, since it cannot keep its promises: {}", node(), e.toString());
        stop();
    }

    /** What one cell tells all. */
    private final class All implements MemberCell.Whole {
        @Override
        public void promise(MemberCell from, DurableRecord record, long ticket) {
            promises.promise(from.loop(), record, ticket);
        }

        @Override
        public void epochAdopted(MemberCell from, long epoch) {
            LOG.warn(
                    "somebody has seen a later life of member {} than this one knows of; it goes on with epoch {} after a quarantine. Was its data directory lost or restored, or does another process run as {}?",
                    node(),
                    epoch,
                    node());
            for (MemberCell cell : cells) {
                if (cell != from) {
                    cell.loop().post(new Input.EpochTaken(epoch));
                }
            }
        }

        @Override
        public void failed() {
            stop();
        }

        @Override
        public void quarantined(MemberCell which, boolean quarantined) {
            if (quarantined) {
                silent.add(which);
                saidOpen.set(false);
            } else if (silent.remove(which)
                    && silent.isEmpty()
                    && cells.size() == plan.shards()
                    && saidOpen.compareAndSet(false, true)) {
                LOG.info("member {} is open: it grants from now on", node());
                promises.opened(
                        plan.maxTtl().toNanos(),
                        () -> LOG.info("member {} has opened under the list {}", node(), plan.members()));
            }
        }
    }

    // The end

    /** Stops at once, without a word. From any thread. */
    private void stop() {
        if (stopped.compareAndSet(false, true)) {
            HostDisk.aside("keyway-" + node() + "-end", () -> {
                end(false);
                ended.run();
            });
        }
    }

    /** Ends in order: grants no more, says on disk what lives, gives up the port and the directory. Idempotent. */
    @Override
    public void close() {
        if (!closing.compareAndSet(false, true) || stopped.get()) {
            return;
        }
        boolean knowsAll = true;
        try {
            peers.forEach(PeerLink::closing);
            acceptor.close();
            for (MemberCell cell : cells) {
                knowsAll &= cell.closing();
            }
            // What waits for a promise goes out, so that those who were granted something know it.
            cells.forEach(MemberCell::settle);
            disk.drain();
        } catch (RejectedExecutionException e) {
            LOG.debug("this member has ended by itself meanwhile", e);
        }
        if (stopped.compareAndSet(false, true)) {
            end(knowsAll);
        }
    }

    /** @param clean whether this life knows of every lease that may be believed in */
    private void end(boolean clean) {
        acceptor.close();
        peers.forEach(PeerLink::shut);
        List<GrantTable.Entry> grants = new ArrayList<>();
        boolean complete = clean;
        for (MemberCell cell : cells) {
            Optional<List<GrantTable.Entry>> table = cell.shut();
            table.ifPresent(grants::addAll);
            complete &= table.isPresent();
        }
        if (!disk.end()) {
            LOG.warn("the disk does not answer; the next start waits for the leases of this life");
            complete = false;
        }
        complete = complete && home.file().forceClean(promises.last(), inherited.table(grants, List.of()));
        names.close();
        home.close();
        threads.forEach(LoopThread::close);
        LOG.info(
                "member {} has ended {}",
                node(),
                complete
                        ? "in order; grants left to the next start: " + grants.size()
                        : "without a table of its grants: the next start waits for them");
    }

    /** What was started of a member that cannot be is ended; nothing was promised. */
    private void abandon() {
        disk.kill();
        names.close();
        threads.forEach(LoopThread::close);
    }
}
