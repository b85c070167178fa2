// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The request was ended because its waiting was part of a deadlock. Nothing is held by this call; it may be tried
 * again. Of a {@link LockTransaction}: it is aborted and waits for nothing any more; what it had been told to hold it
 * holds until it is closed, and the others of the cycle wait for that.
 */
public final class DeadlockException extends LockException {
    private static final long serialVersionUID = 1L;

    private final transient @Nullable Deadlock deadlock;
    private final int nextAge;

    /**
     * Makes the exception; {@code name} is the lock that was waited for, null if there were several.
     *
     * @param message what was asked, what is wrong, what to do; secrets masked
     * @param name the lock that was waited for, null if there were several
     */
    public DeadlockException(String message, @Nullable LockName name) {
        super(message, null, name, null, true, false);
        this.deadlock = null;
        this.nextAge = 1;
    }

    /**
     * Makes the exception of a transaction.
     *
     * @param deadlock what it was aborted for
     * @param nextAge how often its work has given way by now
     */
    public DeadlockException(Deadlock deadlock, int nextAge) {
        super(
                "The transaction was aborted to end a deadlock: " + deadlock
                        + ". Undo what it has begun, close it, and try again with withAge(" + nextAge + ").",
                null,
                deadlock.cycle().get(0).waitsFor(),
                null,
                true,
                false);
        this.deadlock = deadlock;
        this.nextAge = nextAge;
    }

    /** {@return who waited for whom; empty if that is not known, and after serialisation} */
    public Optional<Deadlock> deadlock() {
        return Optional.ofNullable(deadlock);
    }

    /** {@return the age for whoever tries the same work again, see {@link TransactionOptions#withAge}; at least 1} */
    public int nextAge() {
        return nextAge;
    }
}
