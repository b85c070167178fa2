// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.node;

import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.SessionLayer;
import io.keyway.lock.peer.lease.LeaseCodec;
import io.keyway.lock.peer.lease.LeaseNotice;
import io.keyway.lock.peer.net.Acceptor;
import io.keyway.lock.peer.net.CellLoop;
import io.keyway.lock.peer.net.EventThread;
import io.keyway.lock.peer.session.Horizon;
import io.keyway.lock.peer.session.MemberSessions;
import io.keyway.lock.peer.wire.BodyCodecs;
import io.keyway.lock.peer.wire.FrameCodec;
import io.netty.channel.Channel;
import io.netty.channel.socket.nio.NioChannelOption;
import io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import jdk.net.ExtendedSocketOptions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The member of this machine, in this process: whoever has host.lock serves the locks of the directory. It knows by the bytes of clients.lock who is dead, and by its file what an earlier host promised.
 *
 * <p>The cell runs on the I/O thread; the disk and the operating system's locks are asked on a second one.
 */
final class LocalHost implements CellLoop.Surroundings, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(LocalHost.class);
    private static final long STALL_TOLERANCE = Duration.ofMillis(100).toNanos();
    private static final long PROBE_MILLIS = 10;
    private static final int PROBES = 20;
    private static final long PROOF_MILLIS = 20;
    private static final long STANDING_MILLIS = 500;

    private final LocalPlace place;
    private final Arbiter.Hosting hosting;
    private final MemberFile file;
    private final MemberRecord first;
    private final EventThread io = new EventThread("keyway-host-io");
    private final ScheduledExecutorService disk;
    private final Cell cell;
    private final CellLoop loop;
    private final Acceptor acceptor;
    private final Runnable ended;
    private final AtomicBoolean stopped = new AtomicBoolean();
    private volatile int sessions;
    private volatile long idleSince = System.nanoTime();

    /**
     * Starts to serve; blocks for the disk.
     *
     * @param hosting ours from now on: released at the end
     * @param ended told once, on some thread, when this host has stopped serving by itself
     * @throws IOException if the file or the socket cannot be used; host.lock is free again then
     */
    static LocalHost start(LocalPlace place, Arbiter.Hosting hosting, Runnable ended) throws IOException {
        MemberFile file = null;
        try {
            file = MemberFile.open(place.directory().memberFile(), place.facts(), place.settings());
            return new LocalHost(place, hosting, file, ended);
        } catch (IOException | RuntimeException e) {
            if (file != null) {
                file.close();
            }
            hosting.close();
            throw e;
        }
    }

    private LocalHost(LocalPlace place, Arbiter.Hosting hosting, MemberFile file, Runnable ended) throws IOException {
        this.place = place;
        this.hosting = hosting;
        this.file = file;
        this.ended = ended;
        Quarantine quarantine = file.quarantine();
        boolean proved = nobodyBelieves(Set.of());
        long wait = proved ? 0 : quarantine.duration().toNanos();
        long epoch = file.nextEpoch(0);
        long largestTtl = place.settings().maxTtl().toNanos();
        long now = System.nanoTime();
        // Whoever starts after this life must wait for the leases that this life waits for.
        this.first = new MemberRecord(epoch, largestTtl, BootClock.horizon(place.facts(), wait));
        file.force(first);
        LOG.info(
                "this process hosts {} with epoch {}{}",
                place.directory().path(),
                epoch,
                wait == 0 ? "" : "; no grants for " + Duration.ofNanos(wait) + ": " + quarantine.reason());
        this.cell = place.cells().member(LocalPlace.NODE, epoch, now + wait, new Horizon(now + wait, largestTtl / 2));
        this.loop = new CellLoop(io.loop(), cell, this, STALL_TOLERANCE);
        this.disk = diskThread();
        Acceptor listening = null;
        try {
            Path socket = hosting.socket()
                    .orElseThrow(() ->
                            new IOException("the path of " + place.directory().path()
                                    + " is too long for a Unix domain socket; name a shorter directory"));
            PeerUser user = PeerUser.ownerOf(place.directory().path());
            listening = new Acceptor(
                    loop,
                    NioServerDomainSocketChannel.class,
                    UnixDomainSocketAddress.of(socket),
                    new FrameCodec(new BodyCodecs(new LeaseCodec())),
                    channel -> admits(channel, user));
            this.acceptor = listening;
            hosting.publish(HostInfo.onSocket(socket));
        } catch (IOException | RuntimeException e) {
            if (listening != null) {
                listening.close();
            }
            disk.shutdownNow();
            io.close();
            throw e;
        }
        if (wait > 0) {
            onDiskAfter(PROOF_MILLIS, this::prove);
        }
        onDiskAfter(STANDING_MILLIS, this::checkStanding);
    }

    private static boolean admits(Channel channel, PeerUser user) {
        try {
            var peer = channel.config().getOption(NioChannelOption.of(ExtendedSocketOptions.SO_PEERCRED));
            String refusal = peer == null
                    ? "the system does not say who it is"
                    : user.refusal(peer).orElse("");
            if (!refusal.isEmpty()) {
                LOG.warn("a connection was refused: {}", refusal);
            }
            return refusal.isEmpty();
        } catch (RuntimeException e) {
            LOG.warn("a connection was refused: cannot tell its user: {}", e.toString());
            return false;
        }
    }

    /** How long nobody has been connected, in nanoseconds; 0 while somebody is. */
    long idle() {
        return sessions > 0 ? 0 : System.nanoTime() - idleSince;
    }

    // Proofs

    /** True if no process but those of {@code told} can believe in a grant that this life does not know. */
    private boolean nobodyBelieves(Set<Long> told) {
        return told.containsAll(place.bytes().own()) && place.bytes().others(told) == ByteLocks.Others.NONE;
    }

    private void prove() {
        if (stopped.get()) {
            return;
        }
        io.loop().execute(() -> {
            MemberSessions view = cell();
            if (!view.quarantined()) {
                return;
            }
            Set<Long> told = new HashSet<>();
            for (MemberSessions.Life life : view.lives()) {
                if (life.told()) {
                    told.addAll(life.bytes());
                }
            }
            onDisk(() -> {
                if (nobodyBelieves(told)) {
                    LOG.info("whoever lives has told what it holds: this host grants from now on");
                    loop.post(new Input.Proved());
                } else {
                    onDiskAfter(PROOF_MILLIS, this::prove);
                }
            });
        });
    }

    @Override
    public void linkGone(long link) {
        MemberSessions.Life life = cell().life(link);
        if (life != null && !life.bytes().isEmpty()) {
            onDisk(() -> probe(life.peer(), life.bytes(), PROBES));
        }
    }

    /** A connection has ended: if the operating system says that its process has too, nothing of it is held any more. */
    private void probe(Peer peer, List<Long> bytes, int left) {
        boolean dead = true;
        for (long each : bytes) {
            dead &= place.bytes().probe(each) == ByteLocks.Life.DEAD;
        }
        if (dead) {
            LOG.debug("the client of session {} is dead", peer.session());
            loop.post(new Input.Died(peer.session()));
        } else if (left > 0) {
            onDiskAfter(PROBE_MILLIS, () -> probe(peer, bytes, left - 1));
        }
    }

    private void checkStanding() {
        Standing standing = hosting.standing();
        if (standing != Standing.HELD) {
            LOG.error("this process hosts no longer: {}", standing.sentence());
            stop();
        } else {
            onDiskAfter(STANDING_MILLIS, this::checkStanding);
        }
    }

    // The cell's surroundings

    @Override
    public void dial(long link) {
        throw new IllegalStateException("members do not dial");
    }

    @Override
    public void persist(DurableRecord record, long ticket) {
        var promise = (io.keyway.lock.peer.session.MemberRecord) record;
        onDisk(() -> {
            try {
                if (hosting.standing() != Standing.HELD) {
                    throw new IOException("host.lock: " + hosting.standing().sentence());
                }
                file.force(new MemberRecord(
                        promise.epoch(),
                        first.largestTtlNanos(),
                        BootClock.horizon(place.facts(), promise.horizon() - System.nanoTime())));
                loop.post(new Input.Forced(ticket));
            } catch (IOException e) {
                LOG.error("this process hosts no longer: a promise could not be written: {}", e.toString());
                stop();
            }
        });
    }

    @Override
    public void heard(Notice notice) {
        if (notice instanceof LeaseNotice.Alarm alarm) {
            LOG.warn("{}: {}", alarm.key().id(), alarm.text());
        }
    }

    @Override
    public void turned(SessionLayer layer) {
        int now = ((MemberSessions) layer).size();
        if (now == 0 && sessions > 0) {
            idleSince = System.nanoTime();
        }
        sessions = now;
    }

    private static ScheduledExecutorService diskThread() {
        ScheduledThreadPoolExecutor thread = new ScheduledThreadPoolExecutor(1, task -> {
            Thread made = new Thread(task, "keyway-host-disk");
            made.setDaemon(true);
            return made;
        });
        // A look at the files that is due later would hold the end back until then.
        thread.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        return thread;
    }

    private void onDisk(Runnable task) {
        onDiskAfter(0, task);
    }

    @SuppressWarnings("FutureReturnValueIgnored") // the task itself says what went wrong
    private void onDiskAfter(long millis, Runnable task) {
        if (stopped.get()) {
            return;
        }
        try {
            disk.schedule(() -> guarded(task), millis, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            LOG.debug("this host has ended", e);
        }
    }

    /** What cannot be asked of the operating system leaves nothing to stand on. */
    private void guarded(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException e) {
            LOG.error("this process hosts no longer: {}", e.toString());
            stop();
        }
    }

    // The end

    /** Stops serving at once, without a word: others take over when host.lock is free. From any of our threads. */
    private void stop() {
        if (stopped.compareAndSet(false, true)) {
            Thread ending = new Thread(() -> end(false), "keyway-host-end");
            ending.setDaemon(true);
            ending.start();
            ended.run();
        }
    }

    /** Ends in order: grants no more, says on disk what lives, gives up the socket and host.lock. Idempotent. */
    @Override
    public void close() {
        if (stopped.compareAndSet(false, true)) {
            end(true);
        }
    }

    private void end(boolean inOrder) {
        acceptor.close();
        boolean[] nothingLives = {false};
        io.run(() -> {
            // In quarantine a lease of an earlier life may live that nobody has told us of.
            boolean knowsAll = !cell().quarantined();
            loop.post(new Input.Closing());
            loop.shut();
            nothingLives[0] = knowsAll && cell().grants().isEmpty();
        });
        disk.shutdown();
        try {
            if (!disk.awaitTermination(5, TimeUnit.SECONDS)) {
                LOG.warn("the disk does not answer; the next host waits for the leases of this one");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (inOrder && nothingLives[0]) {
            file.forceClean(new MemberRecord(cell().epoch(), first.largestTtlNanos(), BootClock.NONE), List.of());
        }
        try {
            file.close();
        } catch (IOException e) {
            LOG.debug("closing the member file failed", e);
        }
        hosting.close();
        io.close();
    }

    private MemberSessions cell() {
        return (MemberSessions) cell.sessions();
    }
}
