// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

/** What a thread wants of a name. Public, since a {@link FormerKeyway} sees it from a loader of its own. */
public enum Use {
    /** A lock that nobody else holds. */
    LOCK,
    /** The same of a read-write lock. */
    WRITE,
    /** Beside others that read. */
    READ,
    /** One of {@link #PERMITS}. */
    PERMIT,
    /** A transaction of that lock alone, from its begin to its end. */
    TRANSACTION;

    /** The limit of each semaphore. */
    static final int PERMITS = 10;
}
