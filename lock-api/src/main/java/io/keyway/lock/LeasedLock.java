// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.util.Optional;
import java.util.concurrent.locks.Lock;

/** A {@link Lock} over a distributed lock, bound to the thread and re-entrant; made by {@link JavaLocks}. */
public interface LeasedLock extends Lock {
    /** {@return the lease by which the current thread holds this lock; empty if it does not} The lease may be LOST. */
    Optional<Lease> currentLease();

    /** {@return how often the current thread has locked and not unlocked; 0 if not at all} */
    int holdCount();
}
