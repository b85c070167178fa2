// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.zookeeper.QueuePosition.Knowledge;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.jspecify.annotations.Nullable;

/**
 * A node that a request watches. What became of it is told once, on the thread of the session's events.
 *
 * <p>A request that had to wait for an exclusive lock changes its node's data in the transaction that deletes the node,
 * and nobody changes them otherwise: so a change of the data says that the node held and is gone, and that all before
 * it have left. A watch tells one event only, the first. A node that is deleted without that may have waited: its
 * client gave up, or its session ended.
 */
final class NodeWatch implements Watcher {

    /** The request that watches. */
    interface Listener {
        /** The node is gone, or has said that it waits no more. {@code nobody}: nobody is in the way any more. */
        void left(boolean nobody);

        /** The node could not be watched: what becomes of it is not told. */
        void failed();
    }

    private final Session session;
    private final String path;
    private final Knowledge then;
    private final Listener listener;

    /** {@code then}: what is known when the node has left. */
    NodeWatch(Session session, String path, Knowledge then, Listener listener) {
        this.session = session;
        this.path = path;
        this.then = then;
        this.listener = listener;
    }

    /** Watches a node that holds, or waits, for a lock. */
    void watch() {
        // A watch of the children is told of a deletion, and of no change.
        CompletableFuture<?> answer = then == Knowledge.ALL_LEFT_IF_IT_HELD
                ? session.watches().data(path, this, (data, stat) -> true)
                : session.watches().children(path, this);
        CompletableFuture<?> unused = answer.whenComplete((none, failure) -> began(failure));
    }

    /** Watches a node that waits for permits, whose data say when it is granted. */
    void watchPermits() {
        CompletableFuture<?> unused = session.watches()
                .data(path, this, (data, stat) -> NodeData.parse(data))
                .whenComplete((content, failure) -> {
                    began(failure);
                    if (failure == null && content.granted()) {
                        listener.left(false);
                    }
                });
    }

    /** The request does not want to hear of the node any more. */
    void stop() {
        session.watches().forget(path, this);
    }

    private void began(@Nullable Throwable failure) {
        if (failure instanceof KeeperException.NoNodeException) {
            gone();
        } else if (failure != null) {
            listener.failed();
        }
    }

    @Override
    public void process(WatchedEvent event) {
        switch (event.getType()) {
            case NodeDeleted -> gone();
            case NodeDataChanged -> listener.left(then == Knowledge.ALL_LEFT_IF_IT_HELD);
            default -> {}
        }
    }

    private void gone() {
        listener.left(then == Knowledge.ALL_LEFT);
    }
}
