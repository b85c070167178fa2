// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.Deadlock;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.kit.agent.Agent;
import org.jspecify.annotations.Nullable;

/** What a transaction does for those who decide about it: its agent, and its locks over nodes. Guarded by its lock. */
interface TransactionSteps {
    /**
     * Decides, asks for what is next, tells those who wait if they have it, and then does what was decided. From any
     * thread.
     */
    void decide(Runnable decision);

    /** To be done when the decision is made. */
    void then(Runnable effect);

    Agent agent();

    /** The lock, or level, of that name; null if there is none. */
    @Nullable
    TransactionSlot slot(LockName name);

    /** Whether it has ended. */
    boolean isClosed();

    /** Of its leases, in nanoseconds. */
    long ttl();

    /** Whether its locks are of trees, and it lacks one: what it can do without could be a level of that. */
    boolean waitsInATree();

    /** Asks for that by that request, which waits for others if somebody who needs it does. */
    void ask(LockName name, LockMode mode, long id);

    /** Whether the request for that is in a circle that is none, since from the next look on another node is asked. */
    boolean passOver(LockName name);

    /** Gives back, from the leaves up, what is needed no more. */
    void giveBack();

    /** A lock cannot be had, and was given up. */
    void failed(Wishes.GivenUp lock, Throwable why);

    /** The agent has given way: nothing is waited for any more. */
    void aborted(Deadlock deadlock);
}
