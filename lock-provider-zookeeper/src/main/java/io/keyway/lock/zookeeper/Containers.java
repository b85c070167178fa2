// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
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
    private final Map<String, Boolean> left = new LinkedHashMap<>();

    Containers(Paths paths) {
        this.paths = paths;
    }

    /** Makes a container, and what is missing above it. */
    void make(Session session, String container, Limit limit)
            throws KeeperException, TimeoutException, InterruptedException {
        if (made(session, container, CreateMode.CONTAINER, limit)) {
            return;
        }
        String bucket = container.substring(0, container.lastIndexOf('/'));
        if (!made(session, bucket, CreateMode.CONTAINER, limit)) {
            String base = paths.base();
            for (int end = base.indexOf('/', 1); end >= 0; end = base.indexOf('/', end + 1)) {
                made(session, base.substring(0, end), CreateMode.PERSISTENT, limit);
            }
            made(session, base, CreateMode.PERSISTENT, limit);
            made(session, bucket, CreateMode.CONTAINER, limit);
        }
        made(session, container, CreateMode.CONTAINER, limit);
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

    /** A node of ours was created in it. */
    void entered(String container) {
        synchronized (left) {
            left.remove(container);
        }
    }

    /** A node of ours was deleted in it. If it is not empty, its deletion fails: that is as it should be. */
    void left(String container, Session session) {
        String old = null;
        synchronized (left) {
            left.remove(container);
            left.put(container, true);
            if (left.size() > KEPT) {
                old = eldest();
            }
        }
        delete(old, session);
    }

    /** Deletes all that were left; the calls of the session that follow are answered after that. */
    void deleteAll(Session session) {
        while (true) {
            String old;
            synchronized (left) {
                old = left.isEmpty() ? null : eldest();
            }
            if (old == null) {
                return;
            }
            delete(old, session);
        }
    }

    private String eldest() {
        Iterator<String> names = left.keySet().iterator();
        String name = names.next();
        names.remove();
        return name;
    }

    private static void delete(@Nullable String container, Session session) {
        if (container != null) {
            CompletableFuture<Boolean> unused = session.delete(container, -1);
        }
    }
}
