// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.jspecify.annotations.Nullable;

/**
 * The parents of the requests' nodes. They are made when they are missed. The server deletes those that have been empty
 * for a while; this client deletes those it has left longest ago as soon as there are too many of them, and all of them
 * when it is closed.
 */
final class Containers {
    static final int KEPT = 256;

    private final Paths paths;

    /** Of which sessions know something, and nobody stands in them; the oldest first. */
    private final Set<Head> left = new LinkedHashSet<>();

    Containers(Paths paths) {
        this.paths = paths;
    }

    /** Makes a container, and what is missing above it. */
    void make(Session session, String container, Limit limit)
            throws KeeperException, TimeoutException, InterruptedException {
        if (made(session, container, CreateMode.CONTAINER, limit)) {
            return;
        }
        makeUnderBase(session, container.substring(0, container.lastIndexOf('/')), limit);
        made(session, container, CreateMode.CONTAINER, limit);
    }

    /** Makes a bucket, or what is beside the buckets, and what is missing above it. */
    void makeUnderBase(Session session, String path, Limit limit)
            throws KeeperException, TimeoutException, InterruptedException {
        if (!made(session, path, CreateMode.CONTAINER, limit)) {
            String base = paths.base();
            for (int end = base.indexOf('/', 1); end >= 0; end = base.indexOf('/', end + 1)) {
                made(session, base.substring(0, end), CreateMode.PERSISTENT, limit);
            }
            made(session, base, CreateMode.PERSISTENT, limit);
            made(session, path, CreateMode.CONTAINER, limit);
        }
    }

    /** False if its parent is missing. */
    private static boolean made(Session session, String path, CreateMode mode, Limit limit)
            throws KeeperException, TimeoutException, InterruptedException {
        try {
            limit.await(session.create(path, new byte[0], mode));
            return true;
        } catch (KeeperException.NodeExistsException e) {
            return true;
        } catch (KeeperException.NoNodeException e) {
            return false;
        }
    }

    /** A request of ours is to stand in it: what is known about its line; to be given back by {@link #left}. */
    Head entering(String container, Session session) {
        synchronized (left) {
            Head head = session.heads().computeIfAbsent(container, missing -> new Head(session, container));
            left.remove(head);
            head.users++;
            return head;
        }
    }

    /** The container was missing, so that nothing that was known holds: the same anew. */
    Head enteringAnew(Head missing) {
        missing.forget();
        synchronized (left) {
            missing.users--;
            missing.session.heads().remove(missing.container, missing);
            return entering(missing.container, missing.session);
        }
    }

    /** A node of ours was deleted in it. If it is not empty, its deletion fails: that is as it should be. */
    void left(Head head) {
        Head old = null;
        synchronized (left) {
            if (--head.users > 0 || head.session.heads().get(head.container) != head) {
                return;
            }
            left.add(head);
            if (head.isWorn()) {
                old = take(head);
            } else if (left.size() > KEPT) {
                old = take(left.iterator().next());
            }
        }
        delete(old, head.session);
    }

    /** Deletes all that were left; the calls of the session that follow are answered after that. */
    void deleteAll(Session session) {
        while (true) {
            Head old;
            synchronized (left) {
                old = left.isEmpty() ? null : take(left.iterator().next());
            }
            if (old == null) {
                return;
            }
            delete(old, session);
        }
    }

    private Head take(Head head) {
        left.remove(head);
        head.session.heads().remove(head.container);
        return head;
    }

    private static void delete(@Nullable Head head, Session session) {
        if (head != null) {
            head.forget();
            // By the session of the pledge, so that it comes after that.
            Session last = head.session.isConnected() ? head.session : session;
            CompletableFuture<Boolean> unused = last.delete(head.container);
        }
    }
}
