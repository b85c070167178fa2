// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.util.Objects;
import java.util.Optional;

/**
 * One lock that a {@link LockTransaction} asks for.
 *
 * @param name which lock
 * @param mode EXCLUSIVE or SHARED
 * @param nodes at which members of the cluster; empty for the one that decides on the name
 */
public record LockRequest(LockName name, LockMode mode, Optional<NodeSet> nodes) {
    /**
     * Checks the mode.
     *
     * @param name see the record
     * @param mode see the record
     * @param nodes see the record
     * @throws IllegalArgumentException if the mode is PERMITS, or EXCLUSIVE at {@link NodeRule#ANY} of several nodes
     */
    public LockRequest {
        Objects.requireNonNull(name, "name");
        if (Objects.requireNonNull(mode, "mode") == LockMode.PERMITS) {
            throw new IllegalArgumentException("a transaction takes locks, EXCLUSIVE or SHARED, and no permits of "
                    + name + "; use client.semaphore(name, capacity) for these");
        }
        if (mode == LockMode.EXCLUSIVE
                && nodes.isPresent()
                && 2 * nodes.get().needed() <= nodes.get().nodes().size()) {
            throw new IllegalArgumentException(
                    name + " EXCLUSIVE at ANY of " + nodes.get().nodes().size()
                            + " nodes would exclude nobody: another could be granted it at another node, and on each"
                            + " side of a split net somebody would. ANY is for SHARED; use MAJORITY or ALL");
        }
    }

    /**
     * A request at the member that decides on the name.
     *
     * @param name see the record
     * @param mode see the record
     */
    public LockRequest(LockName name, LockMode mode) {
        this(name, mode, Optional.empty());
    }

    /**
     * {@return the same request at those members of the cluster}
     *
     * @param set which, and how many of them
     * @throws IllegalArgumentException as of the record
     */
    public LockRequest at(NodeSet set) {
        return new LockRequest(name, mode, Optional.of(set));
    }

    /**
     * {@return a request for that lock alone}
     *
     * @param name the name of the lock
     * @throws IllegalArgumentException if it is not a name, see {@link LockName#of(String)}
     */
    public static LockRequest exclusive(String name) {
        return new LockRequest(LockName.of(name), LockMode.EXCLUSIVE);
    }

    /**
     * {@return a request for that lock beside other readers}
     *
     * @param name the name of the lock
     * @throws IllegalArgumentException if it is not a name, see {@link LockName#of(String)}
     */
    public static LockRequest shared(String name) {
        return new LockRequest(LockName.of(name), LockMode.SHARED);
    }
}
