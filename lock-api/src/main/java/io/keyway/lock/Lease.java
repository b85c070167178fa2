// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.time.Duration;
import java.util.concurrent.CompletionStage;

/**
 * A held lock. The lease <em>is</em> the ownership: any thread may use or close it.
 *
 * <p>What the state says is a belief. The holder stops believing at the deadline (the send time of the last request
 * that the authority answered, plus 3/4 ttl); the authority gives the lock to another one ttl after it received that
 * request at the earliest. So a live holder has about a quarter of the ttl to stop. A suspended program can act after
 * its lease ended: where that would do damage, hand {@link #token()} to the resource and let it refuse lower ones.
 * Rules LK-501 to LK-515, LK-701 to LK-708 and LK-801 to LK-807.
 */
public interface Lease extends AutoCloseable {

    /** What the holder may believe. */
    enum State {
        /** Held. */
        HELD,
        /** Held, but overdue for renewal or doubted by the store. */
        DOUBTFUL,
        /** Ended other than by a release; final. */
        LOST,
        /** Released; final. */
        RELEASED
    }

    /** Returns the name of the lock or semaphore. */
    LockName name();

    /** Returns how the lease shares its lock with others. */
    LockMode mode();

    /** Returns the number of permits; 1 for a lock. */
    int permits();

    /**
     * Returns the fencing token: unique to this grant, and higher than all earlier ones of the name where FENCING is
     * declared.
     */
    long token();

    /** Returns the ttl as granted. */
    Duration ttl();

    /** Returns the state, computed from the monotonic clock at this call. */
    State state();

    /** Returns the time until belief ends if no renewal succeeds: at most 3/4 ttl, zero if the lease has ended. */
    Duration remaining();

    /** Returns whether the state is HELD or DOUBTFUL; false exactly from the deadline on. */
    boolean isHeld();

    /**
     * Returns normally only if the lease is held.
     *
     * @throws LeaseLostException if it was lost
     * @throws IllegalStateException if it was released
     */
    void ensureHeld();

    /**
     * Returns a stage that completes once, with the cause, if the lease is lost; never after a normal release. What is
     * chained to it runs on the event executor.
     */
    CompletionStage<LeaseLoss> lost();

    /**
     * Ends the lease, waiting at most {@code requestTimeout} for the answer. Keeps the interrupt flag and is not ended
     * by it. A repeated call returns the outcome of the first.
     */
    ReleaseOutcome release();

    /** Ends the lease without waiting; the stage never fails. */
    CompletionStage<ReleaseOutcome> releaseAsync();

    /** Does what {@link #release()} does and never throws. */
    @Override
    void close();
}
