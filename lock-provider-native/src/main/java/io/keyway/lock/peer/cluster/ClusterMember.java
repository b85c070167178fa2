// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import io.keyway.lock.peer.NodeId;
import io.keyway.lock.peer.algorithms.Algorithms;
import io.keyway.lock.peer.engine.Cells;
import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.member.DiskThread;
import io.keyway.lock.peer.member.Member;
import io.keyway.lock.peer.member.MemberCell;
import io.keyway.lock.peer.member.MemberFile;
import io.keyway.lock.peer.net.LoopThread;
import io.keyway.lock.peer.net.MemberAcceptor;
import io.keyway.lock.peer.os.SystemFacts;
import io.keyway.lock.peer.service.Algorithm;
import io.keyway.lock.peer.session.ListChanged;
import io.keyway.lock.peer.session.ListOfCell;
import io.keyway.lock.peer.session.MemberSessions;
import io.keyway.lock.peer.session.Membership;
import io.keyway.lock.peer.wire.FrameCodec;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A member of a cluster, in this process: its cells on some event loops, one port for all of them, and a session with
 * every other member. It opens when its own former leases are over and its member list is confirmed
 * ({@link ListConfirmation}).
 *
 * <p>The log says what an operator needs: starts, who joins and leaves, what is waited for, who was refused, the end;
 * nothing of single locks.
 */
public final class ClusterMember extends Member {
    private static final Logger LOG = LoggerFactory.getLogger(ClusterMember.class);
    private static final long REPORT_MILLIS = 10_000;
    /** For so long a member that ends waits until another one leads: for an election, and some more. */
    private static final long LEAVE_MILLIS = 2_000;

    private final MemberConfig config;
    private final DataDirectory directory;
    private final Runnable ended;
    private final MembershipGate gate;
    private final OtherMembers others;
    private final Optional<Input.Command> leaving;
    private final @Nullable MemberAcceptor acceptor;
    private final AtomicBoolean removed = new AtomicBoolean();
    private final GroupNews news;
    /** Its cells are to give away what they lead. */
    private final AtomicBoolean leaves = new AtomicBoolean();
    /** Open when they have, or cannot. */
    private final CountDownLatch left = new CountDownLatch(1);

    /** Whether each cell elects. */
    private final boolean elects;

    private final Optional<Key> listKeeper;
    /** On the monotonic clock; {@link Turn#NEVER} while the list is not confirmed. */
    private volatile long opensAt;

    /**
     * Starts to serve; blocks for the disk and for name servers.
     *
     * @param ended told once, on some thread, when this member has stopped by itself
     * @throws IllegalArgumentException if the configuration does not fit what this member was before, with what to do
     * @throws io.keyway.lock.LockUnavailableException if the directory cannot be used
     * @throws IOException if its file or its port cannot be used
     */
    public static ClusterMember start(MemberConfig config, Runnable ended) throws IOException {
        return start(config, Algorithms.standard(), ended);
    }

    /**
     * The same, with the algorithm of that name.
     *
     * @throws IllegalArgumentException also if there is none
     */
    public static ClusterMember start(MemberConfig config, String algorithm, Runnable ended) throws IOException {
        return start(config, named(algorithm), ended);
    }

    /**
     * The same, with that part in elections of leaders.
     *
     * @throws IllegalArgumentException as of {@link Algorithm#electing}, too
     */
    public static ClusterMember start(
            MemberConfig config, String algorithm, OptionalInt leaders, OptionalInt priority, Runnable ended)
            throws IOException {
        return start(config, named(algorithm).electing(leaders, priority), ended);
    }

    private static Algorithm named(String algorithm) {
        return Algorithms.named(algorithm)
                .orElseThrow(() -> new IllegalArgumentException(
                        "no algorithm '" + algorithm + "'; there are " + Algorithms.names()));
    }

    /** The same, with that algorithm. */
    public static ClusterMember start(MemberConfig config, Algorithm algorithm, Runnable ended) throws IOException {
        MembershipGate.checkFit(config, algorithm);
        Cells cells = new Cells(
                        config.cluster(),
                        config.maxTtl(),
                        algorithm,
                        config.security().authenticator())
                .among(config.ids(), config.shards());
        config.security().checkListening(config.listen());
        DataDirectory directory = DataDirectory.open(config, cells, new SystemFacts());
        try {
            MembershipGate.checkRegrouped(config, algorithm, directory.file(), directory.facts());
            return new ClusterMember(
                    config, cells, directory, MembershipGate.confirmation(config, algorithm, directory.file()), ended);
        } catch (IOException | RuntimeException e) {
            directory.close();
            throw e;
        }
    }

    private ClusterMember(
            MemberConfig config, Cells factory, DataDirectory directory, ListConfirmation confirmation, Runnable ended)
            throws IOException {
        super(
                factory,
                directory.file(),
                directory.facts(),
                config.maxTtl(),
                "keyway-" + config.node(),
                config.shards(),
                Membership.epochAbove(config.tokenFloor()) - 1,
                !confirmation.changed(),
                config.maxTtl().toNanos() / 16);
        this.config = config;
        this.directory = directory;
        this.ended = ended;
        this.leaving = factory.algorithm().leaving();
        this.opensAt = confirmation.changed() ? Turn.NEVER : quarantineEnd();
        Algorithm algorithm = factory.algorithm();
        this.elects = algorithm.electsInEachCell();
        this.listKeeper = algorithm.listKeeper();
        this.news = new GroupNews(node(), elects ? config.shards() : 1, algorithm.tellsReadiness());
        LOG.info(
                "member {} of cluster '{}' starts with epoch {}, members {}, {}, {}, data in {}{}",
                node(),
                config.cluster(),
                epoch(),
                config.members(),
                config.shards() == 1 ? "1 shard" : config.shards() + " shards",
                config.security(),
                directory.path(),
                MembershipGate.start(config, directory.file(), previousRun()));
        this.gate = new MembershipGate(
                node(),
                config.ids(),
                Membership.epochAbove(config.tokenFloor()),
                confirmation,
                factory.algorithm().isElastic(),
                this::confirmed);
        List<LoopThread> loops = new ArrayList<>();
        for (int i = 0; i < Math.min(config.shards(), Runtime.getRuntime().availableProcessors()); i++) {
            loops.add(thread("io-" + i));
        }
        this.others = new OtherMembers(config, factory, loops.get(0), gate);
        try {
            runCells(factory, loops);
            MemberAcceptor listening = new MemberAcceptor(
                    thread("accept"),
                    config.listen(),
                    cells().stream().map(MemberCell::shard).toList(),
                    config.security(),
                    "member " + node());
            this.acceptor = listening;
            directory.publish(listening.address().getPort());
            LOG.info(
                    "member {} listens on {}:{}",
                    node(),
                    config.listen().getHostString(),
                    listening.address().getPort());
            others.begin(loops.get(0), cells().get(0));
        } catch (IOException | RuntimeException e) {
            others.abandon();
            abandon();
            throw e;
        }
        if (!gate.waits().isEmpty()) {
            LOG.info("member {} opens when its list is confirmed by {}", node(), gate.waits());
        }
        started();
        disk().runAfter(REPORT_MILLIS, this::report);
    }

    @Override
    protected String id() {
        return node();
    }

    private String node() {
        return config.node().toString();
    }

    private void runCells(Cells factory, List<LoopThread> loops) throws IOException {
        MemberFile file = directory.file();
        Membership first = new Membership(
                node(),
                config.ids(),
                0,
                config.shards(),
                MembershipGate.isFirstUse(file),
                longestTtl(file, config.maxTtl()),
                file.lastEpoch(config.tokenFloor() == 0 ? 0 : epoch()));
        List<FrameCodec> codecs = new ArrayList<>();
        loops.forEach(loop -> codecs.add(factory.frameCodec()));
        for (int i = 0; i < config.shards(); i++) {
            int shard = i;
            int loop = i % loops.size();
            Predicate<String> here = route -> MemberList.shard(route, config.shards()) == shard;
            Cell cell = factory.member(
                    first.ofShard(shard),
                    elects
                            ? here // at each member
                            : config.members().decidedBy(config.node(), shard, config.shards()),
                    epoch(),
                    opensAt,
                    horizon());
            run(loops.get(loop), cell, codecs.get(loop), here);
        }
        cells().get(0).look(sessions -> tellList(0)); // when it heard of its list there were no others yet
    }

    @Override
    protected void dial(MemberCell from, String member, long link) {
        others.dial(from, member, link);
    }

    @Override
    protected boolean watchesTurns() {
        return others.talk();
    }

    @Override
    protected void turned(MemberSessions sessions) {
        others.turned(sessions);
    }

    /** Where it listens. */
    public InetSocketAddress address() {
        return acceptor().address();
    }

    /** What takes its connections, and clients of this process without one. */
    MemberAcceptor acceptor() {
        return Objects.requireNonNull(acceptor);
    }

    /** Whether it is the member of that id, and takes connections. */
    boolean isServing(NodeId id) {
        return id.equals(config.node()) && acceptor().isOpen();
    }

    /** Who has not confirmed the member list, and why; empty if nobody is missing. */
    public String waits() {
        return gate.waits();
    }

    /** Which of the others were seen to run without the token floor of this one. */
    Set<String> belowFloor() {
        return gate.belowFloor();
    }

    /** All members run with this list; on the gate's thread. */
    private void confirmed(long listOpensAt, long epoch, boolean firstUse) {
        long at = listOpensAt - quarantineEnd() > 0 ? listOpensAt : quarantineEnd();
        opensAt = at;
        long left = at - System.nanoTime();
        if (left > 0) {
            LOG.info(
                    "member {} opens in {} s: leases that were granted before the list was confirmed may last so long",
                    node(),
                    MemberNotices.seconds(left));
        }
        cells().forEach(cell -> cell.loop().post(new Input.Confirmed(at, epoch, firstUse)));
    }

    /** Says from time to time why nothing is granted. On the disk's thread. */
    private void report() {
        if (ending()) {
            return;
        }
        String waits = gate.waits();
        if (!waits.isEmpty()) {
            LOG.info("member {} grants nothing yet: the member list is to be confirmed by {}", node(), waits);
        } else if (quarantined()) {
            long left = opensAt - System.nanoTime();
            LOG.info(
                    "member {} grants nothing yet{}: leases of an earlier life may be held{}",
                    node(),
                    elects && config.shards() > 1 ? " in some shards" : "",
                    left > 0 ? " for another " + MemberNotices.seconds(left) + " s" : "");
        } else if (!news.notReady().isEmpty()) {
            LOG.warn("member {} grants nothing: {}", node(), news.notReady());
        }
        disk().runAfter(REPORT_MILLIS, this::report);
    }

    @Override
    protected void check() throws IOException {
        directory.check();
    }

    @Override
    protected boolean lookAfter() {
        try {
            directory.check();
            return true;
        } catch (IOException e) {
            cannotServe(e);
            return false;
        }
    }

    @Override
    protected void cannotServe(Exception e) {
        LOG.error("member {} ends, since it cannot keep its promises: {}", node(), e.toString());
    }

    @Override
    protected void cellFailed(Throwable why) {
        LOG.error("a cell of this member has failed, so the member ends", why);
    }

    @Override
    protected void opened() {
        LOG.info("member {} is open: it waits for no lease of an earlier life any more", node());
    }

    @Override
    protected void openedUnderNewList() {
        LOG.info("member {} has opened under the list {}", node(), config.members());
    }

    @Override
    protected void heard(MemberCell from, Notice notice) {
        MemberNotices.log(LOG, node(), news.shard(from.number()), notice);
        news.heard(from.number(), notice);
        if (leaves.get() && news.hasLeft()) {
            left.countDown();
        }
        if (notice instanceof ListChanged) {
            tellList(from.number());
        }
        if (notice instanceof ListChanged && news.isRemoved() && removed.compareAndSet(false, true)) {
            DiskThread.aside("keyway-" + node() + "-removed", () -> {
                close();
                ended.run();
            });
        }
    }

    /**
     * Where each cell elects: the list of the first cell is the one that an administrator changes, so that all others
     * hear of it; and that one hears whether theirs are the same. On the thread of that cell.
     */
    private void tellList(int of) {
        List<String> members = news.members(of);
        if (!elects || members.isEmpty()) {
            return;
        }
        for (MemberCell cell : cells()) {
            if (cell.number() != of && (of == 0 || cell.number() == 0)) {
                listKeeper.ifPresent(
                        keeper -> cell.loop().post(new Input.Command(keeper, new ListOfCell(of, members))));
            }
        }
    }

    /**
     * The members that lead, as this one has heard; empty if it has not, or none does by its algorithm. Where each cell
     * elects, those that lead one of them.
     */
    public List<String> leaders() {
        return news.leaders();
    }

    /** The same, of the cells of that number, from 0, where each cell elects. */
    public List<String> leaders(int shard) {
        return news.leaders(shard);
    }

    /** Whether it has ended, or is about to, since it was removed from the list. */
    public boolean isRemoved() {
        return removed.get();
    }

    @Override
    public void close() {
        if (!ending()) {
            leave();
            others.closing();
        }
        super.close();
    }

    /** Another member is to lead before this one ends: its clients go on there at once. */
    private void leave() {
        if (leaves.compareAndSet(false, true)) {
            leaving.ifPresent(command -> cells().forEach(cell -> cell.loop().post(command)));
        }
        if (news.leads() && leaving.isPresent() && !DiskThread.await(left, LEAVE_MILLIS)) {
            LOG.info("member {} ends though it leads: no other member has taken over in time", node());
        }
    }

    @Override
    protected void closeEndpoint() {
        MemberAcceptor listening = acceptor;
        if (listening != null) {
            listening.close();
        }
    }

    @Override
    protected void release() {
        others.end();
        directory.close();
    }

    @Override
    protected void stopped() {
        ended.run();
    }

    @Override
    protected void ended(boolean inOrder, int grants) {
        LOG.info(
                "member {} has ended {}",
                node(),
                inOrder
                        ? "in order; grants left to the next start: " + grants
                        : "without a table of its grants: the next start waits for them");
    }

    @Override
    protected String consequence() {
        return "the next start waits for the leases of this life";
    }
}
