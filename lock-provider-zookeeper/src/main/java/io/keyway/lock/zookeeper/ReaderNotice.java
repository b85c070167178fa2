// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.data.Stat;

/**
 * How a reader tells soft writers that wait for a time without readers that it was granted ({@link QuietTime}): it
 * writes to the node of the name. Readers that see no such writer write nothing.
 *
 * <p>Nobody waits for the answer. If it is lost, the notice is sent again by the next renewal, or in the transaction
 * that deletes the reader's node: so whoever finds that node gone finds the notice there, unless the reader's session
 * has ended with the connection on which the notice was lost.
 */
final class ReaderNotice {
    private static final byte[] NOTHING = {};

    private final Session session;
    private final String containerPath;
    private volatile boolean wanted;
    private volatile boolean sent;
    private volatile boolean lost;

    ReaderNotice(Session session, String containerPath) {
        this.session = session;
        this.containerPath = containerPath;
    }

    /** Takes a listing in which the reader is. */
    void look(RequestQueue queue) {
        wanted |= queue.wantsQuiet();
    }

    /** The reader was granted, or holds still. */
    void give() {
        if (!wanted || (sent && !lost)) {
            return;
        }
        sent = true;
        lost = false;
        CompletableFuture<Stat> unused = session.set(containerPath, NOTHING, -1)
                .whenComplete((done, failure) -> lost = failure instanceof KeeperException.ConnectionLossException
                        || failure instanceof KeeperException.OperationTimeoutException);
    }

    /** Whether it was sent, and may not have come. What was not answered yet was sent before all that comes now. */
    boolean isLost() {
        return lost;
    }

    /** The reader asks anew. */
    void anew() {
        wanted = false;
        sent = false;
        lost = false;
    }
}
