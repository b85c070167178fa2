// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

/**
 * The locks of one client, re-entrant by thread and name, which give leases; made by
 * {@link JavaLocks#reentrant(LockClient)}.
 *
 * <p>A thread that acquires a name again which it has acquired by the same object, and not yet closed as often, gets at
 * once another lease of the same grant, with the same token. The lock is released with the last of these leases, in
 * whatever order they are closed.
 */
public interface ReentrantLocks {
    /**
     * {@return the re-entrant lock of that name; two of one name are the same lock to the thread}
     *
     * @param name the name of the lock
     * @throws IllegalArgumentException if it is not a name, see {@link LockName#of(String)}
     */
    default DistributedLock lock(String name) {
        return lock(LockName.of(name));
    }

    /**
     * {@return the re-entrant lock of that name; two of one name are the same lock to the thread}
     *
     * @param name the name of the lock
     */
    DistributedLock lock(LockName name);

    /**
     * {@return how many leases of that name the current thread has acquired that are not closed yet}
     *
     * @param name the name of the lock
     */
    int holdCount(LockName name);
}
