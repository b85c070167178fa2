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
 * <p>Who had to wait for an exclusive lock changes its node's data in the transaction that deletes it, and nobody changes them
 * otherwise: so a change of the data says that the node held and is gone, and that all before it have left. A watch tells one
 * event only, the first. A node that is deleted without that may have waited: its client gave up, or its session ended.
 */
final class NodeWatch implements Watcher {

    /** Hears of it. */
    interface Listener {
        /** It is gone, or has said that it waits no more. {@code nobody}: nobody is in the way any more. */
        void left(boolean nobody);

        /** What is watched is not known. */
        void lostSight();
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

    /** Watches a node before which others may stand; completes when it is known whether it is there, with the failure. */
    CompletableFuture<?> watch() {
        // A watch of the children is told of a deletion, and of no change.
        CompletableFuture<?> answer = then == Knowledge.ALL_LEFT_IF_IT_HELD
                ? session.watches().data(path, this, (data, stat) -> true)
                : session.watches().children(path, this);
        return answer.whenComplete((none, failure) -> began(failure));
    }

    /** Watches a node in a line for permits, whose data say when it is granted. */
    void watchPermits() {
        CompletableFuture<?> unused = session.watches()
                .data(path, this, (data, stat) -> NodeData.parse(data))
                .whenComplete((note, failure) -> {
                    began(failure);
                    if (failure == null && note.granted()) {
                        listener.left(false);
                    }
                });
    }

    /** Nobody wants to hear of it any more. */
    void stop() {
        session.watches().forget(path, this);
    }

    private void began(@Nullable Throwable failure) {
        if (failure instanceof KeeperException.NoNodeException) {
            gone();
        } else if (failure != null) {
            listener.lostSight();
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
