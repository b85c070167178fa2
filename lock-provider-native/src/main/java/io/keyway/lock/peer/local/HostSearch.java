// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.local;

import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.peer.NativeOptions;
import io.keyway.lock.peer.member.HostElection;
import io.keyway.lock.peer.member.HostInfo;
import io.keyway.lock.peer.net.CellLoop;
import io.keyway.lock.peer.net.ClientDialer;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds the host of this machine's locks for a client, each time its cell asks for a link:
 *
 * <ul>
 *   <li><em>host.info names a host</em>: the link is opened there. Where it names a port, host.lock is asked first,
 *   since a port outlives its host.
 *   <li><em>Nobody hosts, or nobody answers there</em>: this process becomes the host ({@link LocalHosts}), starts a
 *   process that does ({@link LocalLaunch}), or does neither, as its URL says. If it becomes the host, the link is
 *   opened at once. If a process is on its way, host.info is looked at again every 10 ms for a while before the cell is
 *   told of a failure, since the cell waits longer after each. Else the cell hears who hosts and does not answer.
 * </ul>
 *
 * <p>Looks happen on a thread of the client's, and never wait for anybody; becoming the host happens on another one,
 * which lives only then.
 */
final class HostSearch {
    private static final Logger LOG = LoggerFactory.getLogger(HostSearch.class);
    private static final long AGAIN_NANOS = Duration.ofMillis(400).toNanos();
    private static final long AGAIN_MILLIS = 10;

    private final String client;
    private final LivenessByte life;
    private final NativeOptions.Host host;
    private final CellLoop loop;
    private final ClientDialer dialer;
    private final HostSecret secret;
    private final ScheduledExecutorService worker;
    private final Consumer<String> found;
    /** Becomes the host, or starts one: a thread while that is wanted, since a disk or a shell may take seconds. */
    private final ThreadPoolExecutor elections;

    private final LocalLaunch launch = new LocalLaunch();
    /** The link that waits for a host, since when. */
    private long awaited;

    private long awaitedSince;

    /**
     * @param host what the client may do where nobody hosts
     * @param secret told what the host asks for before a link to it is opened
     * @param worker on whose thread all looks happen
     * @param found told the name of each host that is found, for people
     */
    HostSearch(
            String client,
            LivenessByte life,
            NativeOptions.Host host,
            CellLoop loop,
            ClientDialer dialer,
            HostSecret secret,
            ScheduledExecutorService worker,
            Consumer<String> found) {
        this.client = client;
        this.life = life;
        this.host = host;
        this.loop = loop;
        this.dialer = dialer;
        this.secret = secret;
        this.worker = worker;
        this.found = found;
        this.elections = new ThreadPoolExecutor(0, 1, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
            Thread thread = new Thread(task, "keyway-" + client + "-elect");
            thread.setDaemon(true);
            return thread;
        });
    }

    /** Opens that link to the host, or says why not. On the worker's thread. */
    void attempt(long link) {
        try {
            Optional<HostInfo> info = life.config().directory().election().info();
            if (info.isEmpty() || (info.get().port().isPresent() && nobodyHosts())) {
                elect(link, "nobody hosts " + life.config().directory().path());
            } else {
                connect(link, info.get(), why -> elect(link, why));
            }
        } catch (LockUnavailableException e) {
            loop.refused(link, String.valueOf(e.getMessage()));
        }
    }

    /**
     * A port outlives its host, and some other program may listen on it by now: only host.lock says whether there
     * is one.
     */
    private boolean nobodyHosts() {
        if (life.config().directory().election().tryHost() instanceof HostElection.Hosting hostLock) {
            hostLock.close();
            return true;
        }
        return false;
    }

    private void connect(long link, HostInfo info, Consumer<String> failed) {
        found.accept("local:" + life.config().directory().path() + " (host: process " + info.pid() + ")");
        secret.of(info);
        dialer.connect(link, info.address(), failed);
    }

    /** Nobody answers where a host should be. */
    private void elect(long link, String why) {
        try {
            elections.execute(() -> host(link, why));
        } catch (RejectedExecutionException e) {
            LOG.debug("{} has closed", client);
        }
    }

    private void host(long link, String why) {
        try {
            switch (host) {
                case INPROCESS -> {
                    if (LocalHosts.OF_THIS_JVM.tryHost(life.config())) {
                        reconnect(link);
                    } else {
                        loop.refused(link, life.config().taken(why));
                    }
                }
                case PROCESS ->
                    again(
                            link,
                            launch.underWay(life.config())
                                    ? "its host is being started"
                                    : life.config().taken(why));
                case NONE -> loop.refused(link, why);
            }
        } catch (IOException | RuntimeException | LinkageError e) {
            LOG.warn("cannot host {}: {}", life.config().directory().path(), e.toString());
            loop.refused(link, "cannot host " + life.config().directory().path() + ": " + e.getMessage());
        }
    }

    private void reconnect(long link) {
        Optional<HostInfo> info = life.config().directory().election().info();
        if (info.isPresent()) {
            connect(link, info.get(), again -> loop.refused(link, again));
        } else {
            loop.refused(link, "the host has ended");
        }
    }

    /**
     * Looks again in a moment; the cell, which waits longer after each refusal, is told only if that does not help
     * soon.
     */
    @SuppressWarnings("FutureReturnValueIgnored") // the attempt itself says what went wrong
    private void again(long link, String why) {
        long now = System.nanoTime();
        if (awaited != link) {
            awaited = link;
            awaitedSince = now;
        }
        if (now - awaitedSince >= AGAIN_NANOS || worker.isShutdown()) {
            loop.refused(link, why);
            return;
        }
        try {
            worker.schedule(() -> attempt(link), AGAIN_MILLIS, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            LOG.debug("{} has closed", client);
        }
    }

    /** Begins no election any more. */
    void end() {
        elections.shutdown();
    }

    /** Waits for the one that is under way, if any. */
    void awaitEnd(long nanos) throws InterruptedException {
        elections.awaitTermination(nanos, TimeUnit.NANOSECONDS);
    }
}
