// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.LockKey;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.Incarnation;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.NotExecutedException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.curator.CuratorZookeeperClient;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.imps.CuratorFrameworkState;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.jspecify.annotations.Nullable;

/**
 * The sessions of the application's CuratorFramework, one after the other: all locks are in the session that it has.
 * Its handle is taken once for each session. Curator makes another when it sees fit, also while the session lives; that
 * ends what was held in the session.
 */
final class GivenSessions implements Sessions {
    /** Curator keeps so many exceptions of its background, and hands each to the next who asks for the handle. */
    private static final int QUEUED = 10;

    private final CuratorFramework framework;
    private final Session.Common common;
    private final RequestNodes requests;

    /** Other clients may share the session, and count their requests as this one does. */
    private final String client = "." + Long.toHexString(Incarnation.draw().low());

    private final ReentrantLock lock = new ReentrantLock();
    private volatile @Nullable Session latest;
    private volatile boolean closed;

    GivenSessions(CuratorFramework framework, Session.Common common, RequestNodes requests) {
        this.framework = framework;
        this.common = common;
        this.requests = requests;
    }

    @Override
    public void runIn(LockBackend.Signals signals) {}

    @Override
    public Session connected(LockKey key, Duration ttl, Deadline deadline, boolean early)
            throws NotExecutedException, InterruptedException {
        Session known = latest;
        if (known != null && known.isConnected()) {
            return known;
        }
        Session session = current(deadline);
        try {
            boolean unused = EnsembleCalls.await(session.watchState(), deadline);
        } catch (KeeperException | TimeoutException e) {
            throw new NotExecutedException(
                    "the CuratorFramework has no server of " + session.servers() + ": " + e.getMessage(), e);
        }
        session.awaitConnected(deadline, early);
        return session;
    }

    private Session current(Deadline deadline) throws NotExecutedException, InterruptedException {
        if (!lock.tryLock(deadline.nanos(), TimeUnit.NANOSECONDS)) {
            throw new NotExecutedException("no session was begun in time");
        }
        try {
            if (closed) {
                throw new NotExecutedException("the client is closed");
            }
            if (framework.getState() != CuratorFrameworkState.STARTED) {
                throw new NotExecutedException("the CuratorFramework is not started, or is closed");
            }
            Session session = latest;
            if (session == null || session.isOver()) {
                session = taken();
                latest = session;
            }
            return session;
        } finally {
            lock.unlock();
        }
    }

    private Session taken() throws NotExecutedException {
        CuratorZookeeperClient curator = framework.getZookeeperClient();
        Exception last = new IllegalStateException("it makes one anew again and again");
        for (int i = 0; i <= QUEUED; i++) {
            try {
                long index = curator.getInstanceIndex();
                ZooKeeper handle = curator.getZooKeeper();
                demandWatchers(handle);
                Session session = new Session(
                        common,
                        client,
                        requests,
                        () -> curator.getInstanceIndex() != index
                                || framework.getState() != CuratorFrameworkState.STARTED);
                session.begin(handle);
                if (!session.isOver()) {
                    return session;
                }
            } catch (InvalidLockUrlException e) {
                throw e;
            } catch (Exception e) {
                last = e;
            }
        }
        throw new NotExecutedException("the CuratorFramework gives no handle: " + last, last);
    }

    /**
     * A client that forgets them with each connection hears neither of a break nor of a turn, nor that it is connected.
     */
    private void demandWatchers(ZooKeeper handle) {
        if (handle.getClientConfig().getBoolean(ZKClientConfig.DISABLE_AUTO_WATCH_RESET)) {
            throw new InvalidLockUrlException("The CuratorFramework for " + common.servers() + " is set to forget its"
                    + " watchers with each connection (" + ZKClientConfig.DISABLE_AUTO_WATCH_RESET
                    + "), without which locks cannot be watched; give it one for which that is false.");
        }
    }

    @Override
    public Optional<Session> open() {
        return Optional.ofNullable(latest).filter(Session::isConnected);
    }

    @Override
    public Optional<CuratorFramework> framework() {
        return Optional.of(framework);
    }

    /** The framework stays open, and so does the session: what is ours in it is taken out. */
    @Override
    public void close(Deadline deadline) {
        closed = true;
        Session session = latest;
        if (session == null || !session.endUntold("the client is closed")) {
            return;
        }
        LeftoverNodes leftovers = new LeftoverNodes(framework);
        requests.removeAll(session).forEach(node -> node.leaveTo(leftovers));
        session.breaks().leave();
        session.unwatchAll();
        leftovers.await(deadline);
    }
}
