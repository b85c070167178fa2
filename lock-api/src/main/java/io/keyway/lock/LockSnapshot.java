// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.util.Objects;

/**
 * What a watcher of a lock or semaphore is told, see {@link LockClient#watch(LockKey, java.util.function.Consumer)}.
 *
 * @param version of what is told to this watcher: 1 at first, and higher each time; those of two watchers have nothing
 *     to do with each other
 * @param status who holds and who waits; nobody at all if it is free. Its durations are those of the moment at which
 *     this was asked for
 * @param certain false while the authority does not answer: then the status is what it said last
 */
public record LockSnapshot(long version, LockStatus status, boolean certain) {

    /**
     * Checks that there is a status.
     *
     * @param version see the record
     * @param status see the record
     * @param certain see the record
     */
    public LockSnapshot {
        Objects.requireNonNull(status, "status");
    }

    /** {@return whether nobody holds it, as far as is known} */
    public boolean isFree() {
        return status.holders().isEmpty();
    }
}
