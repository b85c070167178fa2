// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.spi.Request;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.jspecify.annotations.Nullable;

/**
 * The node of a request, and what came of its creation. One thread at a time sends and waits; what is known can be
 * asked by any.
 */
final class NodeCreation {
    private final Session session;
    private final String container;
    private final String name;
    private final byte[] note;
    private volatile @Nullable CompletableFuture<CreatedNode> answer;

    /** Null until it is created, or again when somebody has deleted it. */
    private volatile @Nullable CreatedNode node;

    /** Its answer was lost: there may be a node of which nothing is known. */
    private volatile boolean uncertain;

    private boolean ended;

    /** {@code note}: what the node is to hold; not changed any more. */
    NodeCreation(Request request, Session session, String container, byte[] note) {
        this.session = session;
        this.container = container;
        this.name = NodeName.prefix(NodeName.owner(session.owner(), request.id()), request);
        this.note = note;
    }

    @Nullable
    CreatedNode node() {
        return node;
    }

    boolean isPending() {
        return answer != null;
    }

    /** Nothing is sent any more; whether something was of which nobody has heard: asked before {@link #node}. */
    synchronized boolean end() {
        ended = true;
        return isPending() || uncertain;
    }

    /** Not if the session is over for this client alone: nobody would delete the node. */
    void send() {
        boolean over = session.isOver();
        synchronized (this) {
            answer = over || ended
                    ? CompletableFuture.failedFuture(new KeeperException.SessionExpiredException())
                    : session.create(container + "/" + name, note, CreateMode.EPHEMERAL_SEQUENTIAL);
        }
    }

    /** Waits for the creation that is on its way, if one is. */
    void settle(Await limit) throws KeeperException, TimeoutException, InterruptedException {
        CompletableFuture<CreatedNode> sent = answer;
        if (sent == null) {
            return;
        }
        try {
            node = limit.await(sent);
            answer = null;
        } catch (KeeperException e) {
            uncertain = e instanceof KeeperException.ConnectionLossException
                    || e instanceof KeeperException.OperationTimeoutException;
            answer = null;
            throw e;
        }
    }

    /** If the answer was lost: finds out whether the node is there, behind everything that the session has sent. */
    void resolve(Await limit) throws KeeperException, TimeoutException, InterruptedException {
        if (uncertain) {
            CompletableFuture<Boolean> synced = session.sync(container);
            CompletableFuture<List<String>> listing = session.children(container, null);
            limit.await(synced);
            node = found(listing, limit);
            uncertain = false;
        }
    }

    private @Nullable CreatedNode found(CompletableFuture<List<String>> listing, Await limit)
            throws KeeperException, TimeoutException, InterruptedException {
        try {
            // No other has a name that begins so: it has the session and the request.
            for (String each : limit.await(listing)) {
                if (each.startsWith(name)) {
                    String path = container + "/" + each;
                    return CreatedNode.of(path, limit.await(session.stat(path)).getCzxid());
                }
            }
        } catch (KeeperException.NoNodeException e) {
            // Without a container there is no node; or it was deleted meanwhile.
        }
        return null;
    }

    /** The node is not there any more. */
    void lost() {
        node = null;
    }
}
