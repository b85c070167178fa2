// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.zookeeper.Standing.Knowledge;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.jspecify.annotations.Nullable;

/**
 * A node that a request watches. What became of it is told once, on the thread of the session's events.
 *
 * <p>Only who holds is broken, and who had to wait for its grant changes its node's data in the transaction that deletes it:
 * so a change of the data says that the node held, and that all before it have left, before the deletion is heard. A node
 * that is deleted without that may have waited: its client gave up, or its session ended. The data and the node itself are
 * watched apart, since a watch tells one event only.
 */
final class Ahead implements Watcher {

    /** Hears of it. */
    interface Listener {
        /** It is gone, or has said that it waits no more. {@code nobody}: nobody is in the way any more. */
        void left(boolean nobody);

        /** What is watched is not known. */
        void lostSight();
    }

    private final Knowledge then;
    private final Listener listener;
    private boolean held;

    private Ahead(Knowledge then, Listener listener) {
        this.then = then;
        this.listener = listener;
    }

    /** Watches a node before which others may stand. */
    static void watch(Session session, String path, Knowledge then, Listener listener) {
        Ahead ahead = new Ahead(then, listener);
        if (then == Knowledge.ALL_LEFT_IF_IT_HELD) {
            // If it fails, so does the one that follows.
            CompletableFuture<Boolean> unused = session.watchData(path, ahead);
        }
        // Told of a deletion, and of no change.
        CompletableFuture<?> unused =
                session.children(path, ahead).whenComplete((none, failure) -> ahead.began(failure));
    }

    /** Watches a node in a line for permits, whose data say when it is granted. */
    static void watchPermits(Session session, String path, Listener listener) {
        Ahead ahead = new Ahead(Knowledge.NONE, listener);
        CompletableFuture<?> unused = session.content(path, ahead).whenComplete((content, failure) -> {
            ahead.began(failure);
            if (failure == null && content.note().granted()) {
                listener.left(false);
            }
        });
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
            case NodeDataChanged -> {
                if (then == Knowledge.ALL_LEFT_IF_IT_HELD) {
                    held = true;
                } else {
                    listener.left(false);
                }
            }
            default -> {}
        }
    }

    private void gone() {
        listener.left(then == Knowledge.ALL_LEFT || (then == Knowledge.ALL_LEFT_IF_IT_HELD && held));
    }
}
