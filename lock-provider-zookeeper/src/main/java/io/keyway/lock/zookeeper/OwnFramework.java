// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.NotExecutedException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryNTimes;
import org.apache.curator.utils.ZookeeperFactory;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;

/**
 * A CuratorFramework of this client's own: it keeps a session with the ensemble, and when one is over it begins the
 * next. Each handle that it asks for is one {@link Session}, which hears of each event before Curator does.
 */
final class OwnFramework implements ZookeeperFactory {
    private static final int CLOSING_MILLIS = 1_000;

    private final Session.Common common;
    private final ZooKeeperTarget target;
    private final Session.Listener listener;
    private final CuratorFramework framework;

    /** The last session; not completed while the next is about to be made. */
    private volatile CompletableFuture<Session> latest = new CompletableFuture<>();

    /** Connects to nothing yet. */
    OwnFramework(
            Session.Common common,
            ZooKeeperTarget target,
            int timeoutMillis,
            ThreadFactory threads,
            Session.Listener listener) {
        this.common = common;
        this.target = target;
        this.listener = listener;
        CuratorFrameworkFactory.Builder builder = CuratorFrameworkFactory.builder()
                .ensembleProvider(target.ensemble())
                .zookeeperFactory(this)
                .zkClientConfig(target.config())
                .sessionTimeoutMs(timeoutMillis)
                .connectionTimeoutMs(timeoutMillis)
                .retryPolicy(new RetryNTimes(0, 0))
                .ensembleTracker(false)
                .threadFactory(threads)
                .maxCloseWaitMs(CLOSING_MILLIS)
                .waitForShutdownTimeoutMs(CLOSING_MILLIS);
        target.digest().ifPresent(secret -> builder.authorization("digest", secret.getBytes(StandardCharsets.UTF_8)));
        this.framework = builder.build();
    }

    CuratorFramework framework() {
        return framework;
    }

    /** Makes the first session; the threads of its handle are named after the calling one. */
    void start() {
        framework.start();
    }

    @Override
    public ZooKeeper newZooKeeper(String servers, int timeoutMillis, Watcher curator, boolean canBeReadOnly)
            throws IOException {
        return newZooKeeper(servers, timeoutMillis, curator, canBeReadOnly, target.config());
    }

    @Override
    public ZooKeeper newZooKeeper(
            String servers, int timeoutMillis, Watcher curator, boolean canBeReadOnly, ZKClientConfig config)
            throws IOException {
        Session session = new Session(common, "", listener, Session.NEVER_REPLACED);
        Watcher both = event -> {
            session.process(event);
            curator.process(event);
        };
        try {
            ZooKeeper handle = new SessionHandle(servers, timeoutMillis, both, canBeReadOnly, config, session);
            session.begin(handle);
            next(CompletableFuture.completedFuture(session)).complete(session);
            return handle;
        } catch (IOException | RuntimeException e) {
            next(CompletableFuture.failedFuture(e)).completeExceptionally(e);
            throw e;
        }
    }

    /** Returns what was waited for before. */
    private synchronized CompletableFuture<Session> next(CompletableFuture<Session> made) {
        CompletableFuture<Session> waitedFor = latest;
        latest = made;
        return waitedFor;
    }

    /** The session that is not over yet; when one is, Curator is about to make the next. */
    Session session(Deadline deadline) throws NotExecutedException, InterruptedException {
        try {
            while (true) {
                CompletableFuture<Session> known = latest;
                Session session = known.get(deadline.nanos(), TimeUnit.NANOSECONDS);
                if (!session.isOver() || session.isRefused()) {
                    return session;
                }
                awaitNext(known);
            }
        } catch (TimeoutException e) {
            throw new NotExecutedException("no session with " + common.servers() + " was begun in time", e);
        } catch (ExecutionException e) {
            throw new NotExecutedException("no client for " + common.servers() + " could be made: " + e.getCause(), e);
        }
    }

    private synchronized void awaitNext(CompletableFuture<Session> over) {
        if (latest == over) {
            latest = new CompletableFuture<>();
        }
    }

    /** The last session, whether it is over or not, if there is one. */
    Optional<Session> last() {
        CompletableFuture<Session> known = latest;
        return known.isDone() && !known.isCompletedExceptionally() ? Optional.of(known.join()) : Optional.empty();
    }

    /** Whether nothing comes of it any more: it could not make a handle, or the ensemble has refused it. */
    boolean isUseless() {
        return latest.isCompletedExceptionally()
                || last().filter(Session::isRefused).isPresent();
    }

    /** Takes up to a second for each of Curator's threads and the handle's if the ensemble does not answer. */
    void close() {
        last().ifPresent(session -> session.endUntold("the client is closed"));
        framework.close();
    }
}
