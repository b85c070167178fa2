// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.local;

import io.keyway.lock.peer.os.ByteLocks;
import io.keyway.lock.peer.member.CarriedOverGrants;
import io.keyway.lock.peer.member.HorizonWriter;
import io.keyway.lock.peer.member.HostDisk;
import io.keyway.lock.peer.member.HostElection;
import io.keyway.lock.peer.member.HostInfo;
import io.keyway.lock.peer.member.LocalDirectory;
import io.keyway.lock.peer.member.MemberFile;
import io.keyway.lock.peer.os.OsLockStatus;
import io.keyway.lock.peer.member.PreviousRun;

import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.SessionLayer;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.lease.LeaseKeys;
import io.keyway.lock.peer.net.CellLoop;
import io.keyway.lock.peer.net.LoopThread;
import io.keyway.lock.peer.queue.GrantTable;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.session.Horizon;
import io.keyway.lock.peer.session.MemberSessions;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
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
    /** A client whose byte was freed by other code of its JVM looks dead until it notices, which it does in less time. */
    private static final long FIRST_PROOF_MILLIS = 250;

    private static final long INHERITANCE_MILLIS = 50;
    private static final long STANDING_MILLIS = 500;

    private final LocalConfig place;
    private final HostElection.Hosting hosting;
    private final MemberFile file;
    private final HorizonWriter promises;
    private final LoopThread io;
    private final HostDisk disk;
    private final Cell cell;
    private final CellLoop loop;
    private final HostEndpoint door;
    private final Runnable ended;
    private final AtomicBoolean closing = new AtomicBoolean();
    private final AtomicBoolean stopped = new AtomicBoolean();
    /** Of the disk's thread, after the start. */
    private final CarriedOverGrants inherited;

    /** No lease of an earlier life is waited for any more; of the cell's thread. */
    private boolean past;

    private volatile int sessions;
    private volatile boolean inQuarantine;
    private volatile boolean knowsAll;
    private volatile long idleSince = System.nanoTime();
    private volatile long keptUntil = Turn.NEVER;

    /**
     * Starts to serve; blocks for the disk.
     *
     * @param hosting ours from now on: released at the end
     * @param ended told once, on some thread, when this host has stopped serving by itself
     * @throws IOException if the file or the socket cannot be used; host.lock is free again then
     */
    static LocalHost start(LocalConfig place, HostElection.Hosting hosting, Runnable ended) throws IOException {
        MemberFile file = null;
        LoopThread io = null;
        try {
            file = MemberFile.open(place.directory().memberFile(), place.facts(), place.settings());
            io = new LoopThread("keyway-host-io");
            return new LocalHost(place, hosting, file, io, ended);
        } catch (IOException | RuntimeException e) {
            if (io != null) {
                io.close();
            }
            if (file != null) {
                file.close();
            }
            hosting.close();
            throw e;
        }
    }

    private LocalHost(LocalConfig place, HostElection.Hosting hosting, MemberFile file, LoopThread io, Runnable ended)
            throws IOException {
        this.io = io;
        this.place = place;
        this.hosting = hosting;
        this.file = file;
        this.ended = ended;
        PreviousRun last = PreviousRun.of(file, place.settings().maxTtl(), System.nanoTime());
        this.inherited = last.inherited();
        long wait = last.waitNanos();
        long epoch = file.nextEpoch(0);
        long ttl = place.settings().maxTtl().toNanos();
        long now = System.nanoTime();
        long awaited = last.awaitedNanos();
        this.disk = new HostDisk("keyway-host-disk", this::cannotServe);
        this.promises = new HorizonWriter(
                file,
                place.facts(),
                disk,
                epoch,
                Math.max(ttl, file.longestTtl()), // until all leases of before are over
                now + awaited,
                now + last.longestKept(),
                true,
                0,
                this::checkHosting,
                this::cannotServe);
        LOG.info("this process hosts {} with epoch {}{}", place.directory().path(), epoch, last.sentence());
        Optional<Path> socket = hosting.socket();
        String secret = HostInfo.newSecret();
        this.cell = place.cells()
                .proving(HostInfo.authenticator(socket, secret))
                .member(LocalConfig.NODE, epoch, now + wait, new Horizon(now + awaited, ttl / 2));
        this.loop = new CellLoop(io.loop(), cell, this, STALL_TOLERANCE);
        try {
            List<Input> imports = inherited.imports();
            io.run(() -> loop.begin(imports));
            this.door = new HostEndpoint(place, hosting, loop, socket, secret);
        } catch (IOException | RuntimeException e) {
            disk.kill();
            throw e;
        }
        if (wait > 0 && file.provable()) {
            long kept = Duration.ofNanos(last.keptNanos()).plusMillis(1).toMillis();
            disk.runAfter(Math.max(FIRST_PROOF_MILLIS, kept), this::prove);
        }
        if (!inherited.isEmpty()) {
            disk.runAfter(FIRST_PROOF_MILLIS, this::settleInheritance);
        }
        disk.runAfter(STANDING_MILLIS, this::checkStanding);
    }

    /**
     * How long nobody has been connected, in nanoseconds; 0 while somebody is, or something is kept that others may
     * want to see.
     */
    long idle() {
        long now = System.nanoTime();
        boolean keeps = keptUntil != Turn.NEVER && keptUntil - now > 0;
        return sessions > 0 || keeps ? 0 : now - idleSince;
    }

    // Proofs

    /** True if no process but those of {@code told} can believe in a grant that this life does not know. */
    private boolean nobodyBelieves(Set<Long> told) {
        return told.containsAll(place.bytes().own()) && place.bytes().others(told) == ByteLocks.Others.NONE;
    }

    private void prove() {
        withTold(told -> {
            if (!inQuarantine) {
                return;
            }
            if (nobodyBelieves(told)) {
                LOG.info("whoever lives has told what it holds: this host grants from now on");
                loop.post(new Input.Proved());
            } else {
                disk.runAfter(PROOF_MILLIS, this::prove);
            }
        });
    }

    private void settleInheritance() {
        withTold(told -> {
            inherited.settle(told, place.bytes(), System.nanoTime()).forEach(loop::post);
            if (!inherited.isEmpty()) {
                disk.runAfter(INHERITANCE_MILLIS, this::settleInheritance);
            }
        });
    }

    /** Goes on, on the disk's thread, with the bytes of the clients that have told all that they believe in. */
    private void withTold(Consumer<Set<Long>> next) {
        if (stopped.get()) {
            return;
        }
        io.loop().execute(() -> {
            inQuarantine = cell().quarantined();
            Set<Long> told = new HashSet<>();
            for (MemberSessions.Life life : cell().lives()) {
                if (life.told()) {
                    told.addAll(life.bytes());
                }
            }
            disk.run(() -> next.accept(told));
        });
    }

    @Override
    public void linkGone(long link) {
        MemberSessions.Life life = cell().life(link);
        if (life != null && !life.bytes().isEmpty()) {
            disk.run(() -> probe(life.peer(), life.bytes(), PROBES));
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
            disk.runAfter(PROBE_MILLIS, () -> probe(peer, bytes, left - 1));
        }
    }

    private void checkStanding() {
        OsLockStatus standing = hosting.standing();
        if (standing != OsLockStatus.HELD) {
            LOG.error("this process hosts no longer: {}", standing.sentence());
            stop();
        } else if (!place.stands()) {
            // No client can prove that it lives any more; the next host starts with a new file.
            LOG.error(
                    "this process hosts no longer: {}/{} was removed or replaced, and with it all leases are lost",
                    place.directory().path(),
                    LocalDirectory.CLIENTS);
            stop();
        } else {
            door.lookAfter();
            disk.runAfter(STANDING_MILLIS, this::checkStanding);
        }
    }

    // The cell's surroundings

    @Override
    public void dial(long link) {
        throw new IllegalStateException("members do not dial");
    }

    @Override
    public void persist(DurableRecord record, long ticket) {
        promises.promise(loop, record, ticket);
    }

    private void checkHosting() throws IOException {
        OsLockStatus standing = hosting.standing();
        if (standing != OsLockStatus.HELD) {
            throw new IOException("host.lock: " + standing.sentence());
        }
    }

    private void cannotServe(Exception e) {
        LOG.error("this process hosts no longer: {}", e.toString());
        stop();
    }

    @Override
    public Optional<Input> failed(Throwable why) {
        LOG.error("this process hosts no longer, since it has failed", why);
        stop();
        return Optional.empty();
    }

    @Override
    public void heard(Notice notice) {
        if (notice instanceof LockNotice.Alarm alarm) {
            LOG.warn("{}: {}", alarm.key().id(), alarm.text());
        }
    }

    @Override
    public void turned(SessionLayer layer) {
        if (!past && !((MemberSessions) layer).quarantined()) {
            past = true;
            disk.run(file::forgotten);
            promises.opened(place.settings().maxTtl().toNanos(), () -> {});
        }
        int now = ((MemberSessions) layer).size();
        if (now == 0 && sessions > 0) {
            idleSince = System.nanoTime();
        }
        sessions = now;
        keptUntil = ((MemberSessions) layer).keptUntil();
    }

    // The end

    /** Stops serving at once, without a word: others take over when host.lock is free. From any of our threads. */
    private void stop() {
        if (stopped.compareAndSet(false, true)) {
            HostDisk.aside("keyway-host-end", () -> {
                ended.run(); // first, since another host of this process may start as soon as this one has ended
                end(false);
            });
        }
    }

    /** Ends in order: grants no more, says on disk what lives, gives up the socket and host.lock. Idempotent. */
    @Override
    public void close() {
        if (!closing.compareAndSet(false, true) || stopped.get()) {
            return;
        }
        try {
            door.close();
            io.run(() -> {
                // In quarantine a lease of an earlier life may live that nobody has told us of.
                knowsAll = !cell().quarantined();
                loop.post(new Input.Closing());
            });
            // What waits for a promise goes out, so that those who were granted something know it.
            io.run(() -> {});
            disk.drain();
        } catch (RejectedExecutionException e) {
            LOG.debug("this host has ended by itself meanwhile", e);
        }
        if (stopped.compareAndSet(false, true)) {
            end(knowsAll);
        }
    }

    /** @param clean whether this life knows of every lease that may be believed in */
    private void end(boolean clean) {
        door.close();
        List<GrantTable.Entry> grants = new ArrayList<>();
        List<MemberSessions.Life> lives = new ArrayList<>();
        boolean[] complete = {clean};
        io.run(() -> {
            loop.shut();
            if (clean) {
                GrantTable.of(cell, LeaseKeys.ALGORITHM, System.nanoTime())
                        .ifPresentOrElse(grants::addAll, () -> complete[0] = false);
                lives.addAll(cell().lives());
            }
        });
        if (!disk.end()) {
            LOG.warn("the disk does not answer; the next host waits for the leases of this one");
            complete[0] = false;
        }
        if (complete[0] && !file.forceClean(promises.last(), inherited.table(grants, lives))) {
            LOG.warn("the grants that live could not be written; the next host waits for the leases of this one");
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
