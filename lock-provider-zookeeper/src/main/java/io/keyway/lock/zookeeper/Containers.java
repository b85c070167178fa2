// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.spi.Deadline;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.jspecify.annotations.Nullable;

/**
 * The containers of a client's requests. They are made when they are missed. The server deletes those that have been
 * empty for a while; this client deletes those that it has left longest ago as soon as there are too many of them, and
 * all of them when it is closed.
 */
final class Containers {
    static final int KEPT = 256;

    private final Paths paths;

    /** No request of ours is in them; the oldest first. */
    private final Set<Container> left = new LinkedHashSet<>();

    Containers(Paths paths) {
        this.paths = paths;
    }

    /** Makes a container, and what is missing above it. */
    void make(Session session, String container, Deadline deadline)
            throws KeeperException, TimeoutException, InterruptedException {
        if (made(session, container, CreateMode.CONTAINER, deadline)) {
            return;
        }
        makeUnderBase(session, container.substring(0, container.lastIndexOf('/')), deadline);
        made(session, container, CreateMode.CONTAINER, deadline);
    }

    /** Makes the parent of the mailboxes of sessions, and what is missing above it. */
    void makeForMailboxes(Session session, Deadline deadline)
            throws KeeperException, TimeoutException, InterruptedException {
        makeUnderBase(session, paths.sessions(), deadline);
    }

    /** Makes a bucket, or what is beside the buckets, and what is missing above it. */
    private void makeUnderBase(Session session, String path, Deadline deadline)
            throws KeeperException, TimeoutException, InterruptedException {
        if (!made(session, path, CreateMode.CONTAINER, deadline)) {
            String base = paths.base();
            for (int end = base.indexOf('/', 1); end >= 0; end = base.indexOf('/', end + 1)) {
                made(session, base.substring(0, end), CreateMode.PERSISTENT, deadline);
            }
            made(session, base, CreateMode.PERSISTENT, deadline);
            made(session, path, CreateMode.CONTAINER, deadline);
        }
    }

    /** False if its parent is missing. */
    private static boolean made(Session session, String path, CreateMode mode, Deadline deadline)
            throws KeeperException, TimeoutException, InterruptedException {
        try {
            EnsembleCalls.await(session.create(path, new byte[0], mode), deadline);
            return true;
        } catch (KeeperException.NodeExistsException e) {
            return true;
        } catch (KeeperException.NoNodeException e) {
            return false;
        }
    }

    /** A request of ours is to be in it, until {@link #left}. */
    Container entering(String path, Session session) {
        synchronized (left) {
            Container container = session.containers().computeIfAbsent(path, missing -> new Container(session, path));
            left.remove(container);
            container.users++;
            return container;
        }
    }

    /** A container was missing, so that nothing that was known of it holds; returns the one of the same path, anew. */
    Container enteringAnew(Container missing) {
        missing.forget();
        synchronized (left) {
            missing.users--;
            missing.session.containers().remove(missing.path, missing);
            return entering(missing.path, missing.session);
        }
    }

    /** A request of ours is over. If others are in the container, its deletion fails, as it should. */
    void left(Container container) {
        Container old = null;
        synchronized (left) {
            if (--container.users > 0 || container.session.containers().get(container.path) != container) {
                return;
            }
            left.add(container);
            if (container.isWorn()) {
                old = take(container);
            } else if (left.size() > KEPT) {
                old = take(left.iterator().next());
            }
        }
        delete(old, container.session);
    }

    /** Deletes all that no request of ours is in; later calls of that session are answered after that. */
    void deleteAll(Session session) {
        while (true) {
            Container old;
            synchronized (left) {
                old = left.isEmpty() ? null : take(left.iterator().next());
            }
            if (old == null) {
                return;
            }
            delete(old, session);
        }
    }

    private Container take(Container container) {
        left.remove(container);
        container.session.containers().remove(container.path);
        return container;
    }

    private static void delete(@Nullable Container container, Session session) {
        if (container != null) {
            container.forget();
            // By the session of the anchor, so that it comes after the anchor's deletion.
            Session last = container.session.isConnected() ? container.session : session;
            CompletableFuture<Boolean> unused = last.delete(container.path);
        }
    }
}
