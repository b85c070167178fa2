// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.util.Locale;

/** What a provider may offer beyond exclusive locks, renewal and loss notification; each is yes or no. */
public enum Feature {
    /** Shared mode. */
    READ_WRITE,
    /** Semaphores. */
    SEMAPHORE,
    /**
     * Tokens that are unique per grant and rise strictly per name, under the condition in {@link Guarantees#tokens()};
     * see {@link Lease#token()}.
     */
    FENCING,
    /** Waiters are granted in the order of their arrival. */
    FIFO,
    /** {@link LockAdmin#list} and {@link LockAdmin#show}. */
    LIST,
    /** {@link LockAdmin#breakLease}. */
    BREAK,
    /** A waiter is woken by the release, it does not poll. */
    WAKE_UP,
    /** A released lock may stay with the client for a re-acquire without a message. */
    CACHING,
    /** {@link DistributedReadWriteLock#tryUpgrade}. */
    UPGRADE,
    /** {@link LockOptions#withHoldAtLeast}. */
    HOLD_AT_LEAST,
    /** Writers that keep no reader waiting: {@link LockClient#readWriteLock(LockName, WriterPolicy)}. */
    DRAIN,
    /** {@link LockClient#transaction}: several locks, with detection of deadlocks. */
    TRANSACTIONS,
    /** {@link LockClient#tree}: a lock of a name and of all names below it. */
    TREE,
    /** Locks that are granted at several members of a cluster: {@link LockRequest#at}. */
    NODE_SETS;

    /** {@return the spelling in URLs and messages: lower case with hyphens, as {@code read-write}} */
    public String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
