// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit.agent;

import io.keyway.lock.Deadlock;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.spi.Probe;

/** What an {@link Agent} wants done; in that order, and not before it has decided. */
public interface AgentEffects {
    /** A number for a request that no request of this client has. */
    long nextRequest();

    /** A lock that was held is asked for again, by that request. */
    void ask(LockName name, LockMode mode, long request);

    /** A lock that nobody was told to be held goes back, by its token. */
    void release(LockName name, long token);

    /** A request that waits is over; what it is granted meanwhile goes back. */
    void withdraw(LockName name, long request);

    /**
     * A circle was found through the request for that. True if the transaction can go on by what another node has,
     * which it then asks for; that request is spare when it has.
     */
    boolean passOver(LockName name);

    /** To whoever is in the way of that request. May be lost. */
    void probe(LockName name, long request, Probe probe);

    /** The transaction waits for nothing any more. */
    void abort(Deadlock deadlock);

    /** {@link Agent#due} is to be called then, or earlier. */
    void wakeAt(long nanos);
}
