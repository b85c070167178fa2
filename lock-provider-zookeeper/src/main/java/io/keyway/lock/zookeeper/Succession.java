// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import org.jspecify.annotations.Nullable;

/**
 * How a writer's node leaves, for the writer of the same session that stands right behind it: that one is told here, and
 * watches no node.
 */
final class Succession {

    /** Who stands right behind. */
    interface Next {
        /** Whether it still waits to be told. */
        boolean waits();

        /** {@code held}: who left had been granted, so that all before it have left too. */
        void left(boolean held);
    }

    private @Nullable Next next;
    private boolean over;

    /** False if the writer says nothing any more, so that its node is to be watched. */
    synchronized boolean isAwaitedBy(Next follower) {
        if (over) {
            return false;
        }
        next = follower;
        return true;
    }

    /** Whether somebody waits to be told, so that nobody watches the node: those further behind watch him. */
    boolean isAwaited() {
        Next follower;
        synchronized (this) {
            follower = next;
        }
        return follower != null && follower.waits();
    }

    /** The writer has left; whoever waits is told, once. */
    void end(boolean held) {
        Next follower;
        synchronized (this) {
            over = true;
            follower = next;
            next = null;
        }
        if (follower != null) {
            follower.left(held);
        }
    }
}
