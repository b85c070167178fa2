// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.LockKey;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.NotExecutedException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.curator.framework.CuratorFramework;
import org.jspecify.annotations.Nullable;

/**
 * Sessions of this client's own: for each timeout that is asked for as many as the options say, begun when they are
 * needed. An attempt finds its session without a lock, as long as that is connected.
 */
final class OwnSessions implements Sessions {
    /** How many timeouts have sessions of their own; whoever asks for one more gets the next shorter one. */
    static final int TIMEOUTS = 16;

    private final ZooKeeperTarget target;
    private final Session.Common common;
    private final Optional<Duration> onlyTimeout;
    private final int spread;
    private final ThreadFactory threads;
    private final Session.Listener listener;
    private final ReentrantLock lock = new ReentrantLock();
    private final TreeMap<Integer, @Nullable OwnFramework[]> byTimeout = new TreeMap<>();

    /** The sessions that were connected last, by timeout and index. */
    private final Map<Integer, AtomicReferenceArray<@Nullable Session>> connected = new ConcurrentHashMap<>();

    private final BlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();
    private boolean closed;

    /** Makes the sessions of one client; connects to nothing. */
    OwnSessions(ZooKeeperTarget target, ZooKeeperSettings settings, Session.Listener listener) {
        this.target = target;
        this.common = settings.session();
        this.onlyTimeout = settings.onlyTimeout();
        this.spread = settings.sessions();
        this.threads = settings.threads();
        this.listener = listener;
    }

    /** Frameworks begin on a thread of the kit's: the threads of a handle are named after the one that makes it. */
    @Override
    public void runIn(LockBackend.Signals signals) {
        signals.background("sessions", () -> {
            while (true) {
                tasks.take().run();
            }
        });
    }

    @Override
    public Session connected(LockKey key, Duration ttl, Deadline deadline, boolean early)
            throws NotExecutedException, InterruptedException {
        int wanted = (int) Math.min(Integer.MAX_VALUE, onlyTimeout.orElse(ttl).toMillis());
        int index = Math.floorMod(key.hashCode(), spread);
        AtomicReferenceArray<@Nullable Session> known = connected.get(wanted);
        Session last = known == null ? null : known.get(index);
        if (last != null && last.isConnected()) {
            return last;
        }
        Session session = current(wanted, index, deadline).session(deadline);
        session.awaitConnected(deadline, early);
        remember(wanted, index, session);
        return session;
    }

    private void remember(int wanted, int index, Session session) {
        if (connected.size() < TIMEOUTS || connected.containsKey(wanted)) {
            connected
                    .computeIfAbsent(wanted, none -> new AtomicReferenceArray<>(spread))
                    .set(index, session);
        }
    }

    @Override
    public Optional<Session> open() {
        return all().stream()
                .flatMap(framework -> framework.last().stream())
                .filter(Session::isConnected)
                .findFirst();
    }

    @Override
    public Optional<CuratorFramework> framework() {
        return all().stream().findFirst().map(OwnFramework::framework);
    }

    private List<OwnFramework> all() {
        List<OwnFramework> all = new ArrayList<>();
        lock.lock();
        try {
            for (OwnFramework[] frameworks : byTimeout.values()) {
                for (OwnFramework framework : frameworks) {
                    if (framework != null) {
                        all.add(framework);
                    }
                }
            }
        } finally {
            lock.unlock();
        }
        return all;
    }

    private OwnFramework current(int wanted, int index, Deadline deadline)
            throws NotExecutedException, InterruptedException {
        if (!lock.tryLock(deadline.nanos(), TimeUnit.NANOSECONDS)) {
            throw new NotExecutedException("no session was begun in time");
        }
        try {
            if (closed) {
                throw new NotExecutedException("the client is closed");
            }
            int millis = timeout(wanted);
            OwnFramework[] frameworks = byTimeout.computeIfAbsent(millis, none -> new OwnFramework[spread]);
            OwnFramework framework = frameworks[index];
            if (framework != null && framework.isUseless()) {
                OwnFramework useless = framework;
                tasks.add(useless::close);
                framework = null;
            }
            if (framework == null) {
                framework = begin(millis, deadline);
                frameworks[index] = framework;
            }
            return framework;
        } finally {
            lock.unlock();
        }
    }

    private OwnFramework begin(int millis, Deadline deadline) throws NotExecutedException, InterruptedException {
        CompletableFuture<OwnFramework> begun = new CompletableFuture<>();
        tasks.add(() -> {
            OwnFramework framework = new OwnFramework(common, target, millis, threads, listener);
            framework.start();
            if (!begun.complete(framework)) {
                framework.close();
            }
        });
        try {
            return begun.get(deadline.nanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException | TimeoutException e) {
            throw new NotExecutedException("no session could be begun", e);
        } finally {
            // One that comes too late is ended.
            begun.cancel(false);
        }
    }

    private int timeout(int wanted) {
        if (byTimeout.containsKey(wanted) || byTimeout.size() < TIMEOUTS) {
            return wanted;
        }
        Map.Entry<Integer, @Nullable OwnFramework[]> shorter = byTimeout.floorEntry(wanted);
        return shorter == null ? byTimeout.firstKey() : shorter.getKey();
    }

    @Override
    public void close(Deadline deadline) {
        lock.lock();
        try {
            closed = true;
        } finally {
            lock.unlock();
        }
        List<OwnFramework> frameworks = all();
        CountDownLatch ended = new CountDownLatch(frameworks.size());
        for (OwnFramework framework : frameworks) {
            boolean answers = framework.last().filter(Session::isConnected).isPresent();
            // Each waits for the ensemble's answer, and for threads that may sleep.
            Thread thread = threads.newThread(() -> {
                framework.close();
                if (answers) {
                    ended.countDown();
                }
            });
            thread.start();
            if (!answers) {
                ended.countDown();
            }
        }
        try {
            boolean unused = ended.await(deadline.nanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
