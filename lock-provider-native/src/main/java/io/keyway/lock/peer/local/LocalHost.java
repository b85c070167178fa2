// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.local;

import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.member.HostElection;
import io.keyway.lock.peer.member.HostInfo;
import io.keyway.lock.peer.member.LocalDirectory;
import io.keyway.lock.peer.member.Member;
import io.keyway.lock.peer.member.MemberCell;
import io.keyway.lock.peer.member.MemberFile;
import io.keyway.lock.peer.net.LoopThread;
import io.keyway.lock.peer.os.ByteLocks;
import io.keyway.lock.peer.os.OsLockStatus;
import io.keyway.lock.peer.session.MemberSessions;
import io.keyway.lock.peer.session.SessionLife;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The member of this machine, in this process: whoever has host.lock serves the locks of the directory. It knows by the
 * bytes of clients.lock who is dead, and by its file what an earlier host promised.
 *
 * <p>It has one cell. What it asks of the operating system shortens what any {@link Member} waits for:
 *
 * <ul>
 *   <li>A connection ends: as soon as the bytes of its client are free, nothing of it is held any more ({@link
 *   Input.Died}).
 *   <li>A quarantine ends as soon as every process that lives has told what it holds ({@link Input.Proved}), where the
 *   file names this very clients.lock.
 *   <li>A grant that was carried over ends when its owner is dead, or has told all and did not name it.
 * </ul>
 *
 * <p>A free byte is taken for a death only when its process, had it lived, would have noticed the loss of the byte.
 */
final class LocalHost extends Member {
    private static final Logger LOG = LoggerFactory.getLogger(LocalHost.class);
    private static final long PROOF_MILLIS = 20;
    /**
     * A client whose byte was freed by other code of its JVM looks dead until it notices, which it does in less time.
     */
    private static final long FIRST_PROOF_MILLIS = ClientDeaths.NOTICED_MILLIS;

    private static final long SETTLE_MILLIS = 50;

    private final LocalConfig config;
    private final HostElection.Hosting hostLock;
    private final Runnable ended;
    private final MemberCell cell;
    private final @Nullable HostEndpoint endpoint;
    private final ClientDeaths deaths = new ClientDeaths(new Lives());

    private volatile int sessions;
    private volatile boolean inQuarantine;
    private volatile long idleSince = System.nanoTime();
    private volatile long keptUntil = Turn.NEVER;

    /**
     * Starts to serve; blocks for the disk.
     *
     * @param hostLock ours from now on: released at the end
     * @param ended told once, on some thread, when this host has stopped serving by itself
     * @throws IOException if the file or the socket cannot be used; host.lock is free again then
     */
    static LocalHost start(LocalConfig config, HostElection.Hosting hostLock, Runnable ended) throws IOException {
        MemberFile file = null;
        try {
            file = MemberFile.open(config.directory().memberFile(), config.facts(), config.settings());
            return new LocalHost(config, hostLock, file, ended);
        } catch (IOException | RuntimeException e) {
            if (file != null) {
                file.close();
            }
            hostLock.close();
            throw e;
        }
    }

    private LocalHost(LocalConfig config, HostElection.Hosting hostLock, MemberFile file, Runnable ended)
            throws IOException {
        super(config.cells(), file, config.facts(), config.settings().maxTtl(), "keyway-host", 1, 0, true, 0);
        this.config = config;
        this.hostLock = hostLock;
        this.ended = ended;
        LOG.info("this process hosts {} with epoch {}{}", config.directory().path(), epoch(), previousRun());
        try {
            Optional<Path> socket = hostLock.socket();
            String secret = HostInfo.newSecret();
            LoopThread io = thread("io");
            this.cell = run(
                    io,
                    config.cells()
                            .proving(HostInfo.authenticator(socket, secret))
                            .member(LocalConfig.NODE, epoch(), quarantineEnd(), horizon()),
                    config.cells().frameCodec(),
                    route -> true);
            this.endpoint = new HostEndpoint(config, hostLock, cell.shard(), socket, secret);
        } catch (IOException | RuntimeException e) {
            abandon();
            throw e;
        }
        if (startsQuarantined() && file.provable()) {
            long kept = Duration.ofNanos(keptNanos()).plusMillis(1).toMillis();
            disk().runAfter(Math.max(FIRST_PROOF_MILLIS, kept), this::prove);
        }
        if (!carriedOver().isEmpty()) {
            disk().runAfter(FIRST_PROOF_MILLIS, this::settleCarriedOver);
        }
        started();
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

    MemberCell cell() {
        return cell;
    }

    // Proofs

    /** True if no process but those of {@code told} can believe in a grant that this life does not know. */
    private boolean nobodyBelieves(Set<Long> told) {
        return told.containsAll(config.bytes().own()) && config.bytes().others(told) == ByteLocks.Others.NONE;
    }

    private void prove() {
        withTold(told -> {
            if (!inQuarantine) {
                return;
            }
            if (nobodyBelieves(told)) {
                LOG.info("each client that lives has said what it holds: this host grants from now on");
                cell.loop().post(new Input.Proved());
            } else {
                disk().runAfter(PROOF_MILLIS, this::prove);
            }
        });
    }

    private void settleCarriedOver() {
        withTold(told -> {
            carriedOver().settle(told, config.bytes(), System.nanoTime()).forEach(cell.loop()::post);
            if (!carriedOver().isEmpty()) {
                disk().runAfter(SETTLE_MILLIS, this::settleCarriedOver);
            }
        });
    }

    /** Goes on, on the disk's thread, with the bytes of the clients that have told all that they believe in. */
    private void withTold(Consumer<Set<Long>> next) {
        if (ending()) {
            return;
        }
        cell.look(its -> {
            inQuarantine = its.quarantined();
            Set<Long> told = new HashSet<>();
            for (SessionLife life : its.lives()) {
                if (life.told()) {
                    told.addAll(life.bytes());
                }
            }
            disk().run(() -> next.accept(told));
        });
    }

    @Override
    protected void linkGone(SessionLife life) {
        if (!life.bytes().isEmpty()) {
            disk().run(() -> deaths.linkGone(life.peer().session(), life.link(), life.bytes()));
        }
    }

    /** A client that the operating system calls dead holds nothing any more. */
    private final class Lives implements ClientDeaths.World {
        @Override
        public boolean dead(List<Long> bytes) {
            return bytes.stream().allMatch(each -> config.bytes().probe(each) == ByteLocks.Life.DEAD);
        }

        @Override
        public void died(long session) {
            LOG.debug("the client of session {} is dead", session);
            cell.loop().post(new Input.Died(session));
        }

        @Override
        public void withSessions(Consumer<Map<Long, Long>> next) {
            if (ending()) {
                return;
            }
            cell.look(its -> {
                Map<Long, Long> sessions = new HashMap<>();
                its.lives().forEach(life -> sessions.put(life.peer().session(), life.link()));
                disk().run(() -> next.accept(sessions));
            });
        }

        @Override
        public void runAfter(long millis, Runnable task) {
            disk().runAfter(millis, task);
        }
    }

    // What a member of this machine stands on

    @Override
    protected String id() {
        return LocalConfig.NODE;
    }

    @Override
    protected void check() throws IOException {
        OsLockStatus status = hostLock.status();
        if (status != OsLockStatus.HELD) {
            throw new IOException("host.lock: " + status.sentence());
        }
    }

    @Override
    protected boolean lookAfter() {
        OsLockStatus status = hostLock.status();
        if (status != OsLockStatus.HELD) {
            LOG.error("this process hosts no longer: {}", status.sentence());
            return false;
        }
        if (!config.stands()) {
            // No client can prove that it lives any more; the next host starts with a new file.
            LOG.error(
                    "this process hosts no longer: {}/{} was removed or replaced, and with it all leases are lost",
                    config.directory().path(),
                    LocalDirectory.CLIENTS);
            return false;
        }
        HostEndpoint door = endpoint;
        if (door != null) {
            door.lookAfter();
        }
        return true;
    }

    @Override
    protected void cannotServe(Exception e) {
        LOG.error("this process hosts no longer: {}", e.toString());
    }

    @Override
    protected void cellFailed(Throwable why) {
        LOG.error("this process hosts no longer, since it has failed", why);
    }

    @Override
    protected boolean watchesTurns() {
        return true;
    }

    @Override
    protected void turned(MemberSessions layer) {
        int now = layer.size();
        if (now == 0 && sessions > 0) {
            idleSince = System.nanoTime();
        }
        sessions = now;
        keptUntil = layer.keptUntil();
    }

    // The end

    /** First, since another host of this process may start as soon as this one has ended. */
    @Override
    protected void stopping() {
        ended.run();
    }

    @Override
    protected void closeEndpoint() {
        HostEndpoint door = endpoint;
        if (door != null) {
            door.close();
        }
    }

    @Override
    protected void release() {
        hostLock.close();
    }

    @Override
    protected String consequence() {
        return "the next host waits for the leases of this one";
    }
}
