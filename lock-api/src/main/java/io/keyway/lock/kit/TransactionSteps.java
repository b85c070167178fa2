// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.Deadlock;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.kit.agent.Agent;
import org.jspecify.annotations.Nullable;

/** What a transaction does for those who decide about it: its agent, and its locks over nodes. Guarded by its lock. */
interface TransactionSteps {
    /** Decides, and then does what was decided. From any thread. */
    void decide(Runnable decision);

    /** To be done when the decision is made. */
    void then(Runnable effect);

    Agent agent();

    /** The lock, or level, of that name; null if there is none. */
    @Nullable
    TransactionSlot slot(LockName name);

    /** Whether it has ended. */
    boolean isClosed();

    /** Asks for that by a new request, of which its agent knows. */
    void ask(LockName name, LockMode mode, boolean queue);

    /** Asks for that by that request. */
    void ask(LockName name, LockMode mode, long id, boolean queue);

    /** Whether the request for that is in a circle that is none, since from the next look on another node is asked. */
    boolean passOver(LockName name);

    /** Something may be otherwise at the nodes than it was. */
    void look();

    /** Withdraws what waits, or gives back what is held and was never told. */
    void takeBackFlat(LockName name);

    /** Gives back, from the leaves up, the levels of trees that are needed no more. */
    void giveBackLevels(Wishes needed);

    /** A lock over nodes cannot be had. */
    void partFailed(LockUnavailableException why);

    /** The agent has given way: nothing is waited for any more. */
    void aborted(Deadlock deadlock);
}
