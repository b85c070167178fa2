// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.Deadlock;
import io.keyway.lock.DeadlockException;
import io.keyway.lock.LeaseLostException;
import io.keyway.lock.LockTransaction.Status;
import io.keyway.lock.kit.agent.Agent;
import io.keyway.lock.spi.Probe;
import org.jspecify.annotations.Nullable;

/**
 * Whether a transaction is of use, and if not why: it was aborted to resolve a deadlock, it has lost a lock, or it was
 * closed, which may come after either. Guarded by the transaction's lock.
 */
final class TransactionFate {
    private @Nullable Deadlock abortedBy;
    private @Nullable LeaseLostException loss;
    private boolean closed;

    boolean isClosed() {
        return closed;
    }

    boolean isAborted() {
        return abortedBy != null;
    }

    /** Whether it was neither aborted nor has it lost a lock. */
    boolean isSound() {
        return abortedBy == null && loss == null;
    }

    /** Whether it may ask for locks. */
    boolean isOpen() {
        return !closed && isSound();
    }

    void close() {
        closed = true;
    }

    void abort(Deadlock deadlock) {
        abortedBy = deadlock;
    }

    /** How it lost a lock first; null if it has not. */
    @Nullable
    LeaseLostException loss() {
        return loss;
    }

    void lose(LeaseLostException why) {
        loss = loss == null ? why : loss;
    }

    /**
     * Checks that it is of use.
     *
     * @param agent the transaction's name
     * @param age how often it was aborted before this time, for whoever begins again
     */
    void ensureUsable(Probe.Agent agent, ClientContext client, int age) {
        ensureOpen(agent, client);
        if (abortedBy != null) {
            throw new DeadlockException(abortedBy, age);
        }
        if (loss != null) {
            throw loss;
        }
    }

    /** Checks that what it holds is not given back. */
    void ensureOpen(Probe.Agent agent, ClientContext client) {
        if (closed) {
            throw new IllegalStateException("the transaction " + Agent.shown(agent) + " is closed; begin another one");
        }
        client.ensureOpen(null);
    }

    /** Returns a lease that is not believed of a lock that is gone; throws its loss if the lease is gone, too. */
    @Nullable
    HeldLease ensureNotLost(@Nullable HeldLease lease) {
        if (lease == null && loss != null) {
            throw loss;
        }
        return lease;
    }

    /** Null if its locks say it. */
    @Nullable
    Status status() {
        if (closed) {
            return Status.CLOSED;
        } else if (abortedBy != null) {
            return Status.ABORTED;
        }
        return loss != null ? Status.LOST : null;
    }
}
