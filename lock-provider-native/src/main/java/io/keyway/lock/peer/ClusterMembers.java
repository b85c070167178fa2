// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer;

import java.time.Duration;
import java.util.List;

/**
 * The members of a cluster whose list changes while it works: {@code client.unwrap(ClusterMembers.class)}, for clients
 * of {@code lock:native:failover:} and {@code lock:native:bakery:}, and of no other algorithm. Clients hold and take
 * locks meanwhile.
 *
 * <p>Every change is of one member. It needs a majority of the members before it and of those after it; whoever asks
 * for it asks again until it is so, and to ask twice does no harm.
 */
public interface ClusterMembers {
    /**
     * The ids of the members, in the order in which they joined.
     *
     * @throws io.keyway.lock.LockUnavailableException if no member that may know does so within that time
     */
    List<String> list(Duration limit) throws InterruptedException;

    /**
     * Adds a member, which must run with {@code keyway member --join}, and returns the list with it.
     *
     * @param member its id, as in {@code d:7400}
     * @throws IllegalArgumentException if that is none, or there cannot be more members
     * @throws io.keyway.lock.LockUnavailableException if it is not so within that time, with what is missing; whether
     *     it still comes to be so is not known
     */
    List<String> add(String member, Duration limit) throws InterruptedException;

    /**
     * Removes a member, which ends by itself if it runs, and returns the list without it. If it leads, another one
     * takes over as if it had failed; a bakery removes no leader before the one that was elected last lets clients in.
     *
     * @param member its id
     * @throws IllegalArgumentException if that is none, or the only one
     * @throws io.keyway.lock.LockUnavailableException as of {@link #add}
     */
    List<String> remove(String member, Duration limit) throws InterruptedException;
}
