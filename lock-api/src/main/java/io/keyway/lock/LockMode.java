// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

/**
 * How a grant shares its lock with others. A lock of a tree (see {@link LockClient#tree}) has grants of its own name
 * and of all names above it, in modes that no flat lock has.
 */
public enum LockMode {
    /** Alone: no other grant of the lock stands beside it. */
    EXCLUSIVE,
    /** Beside other shared grants, never beside an exclusive one. */
    SHARED,
    /** Some permits of a semaphore. */
    PERMITS,
    /** Of a tree, "IS": its holder reads something below this name. */
    INTENT_SHARED,
    /** Of a tree, "IX": its holder writes something below this name. */
    INTENT_EXCLUSIVE,
    /** Of a tree, "S": its holder reads this name and all below it. */
    TREE_SHARED,
    /** Of a tree, "SIX": one transaction reads this name and all below it, and writes something below it. */
    TREE_SHARED_INTENT_EXCLUSIVE,
    /** Of a tree, "X": its holder writes this name and all below it. */
    TREE_EXCLUSIVE;

    /** {@return whether it is a mode of a tree's levels} */
    public boolean isTree() {
        return compareTo(PERMITS) > 0;
    }

    /** {@return whether it is that of a level above what its holder reads or writes} */
    public boolean isIntention() {
        return this == INTENT_SHARED || this == INTENT_EXCLUSIVE;
    }

    /** {@return whether no other grant of the lock ever stands beside one in this mode} */
    public boolean isAlone() {
        return this == EXCLUSIVE || this == TREE_EXCLUSIVE;
    }
}
