// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.time.Duration;
import java.util.OptionalInt;
import java.util.concurrent.CompletionStage;

/**
 * A held lock. The lease <em>is</em> the ownership: any thread may use or close it. Thread-safe.
 *
 * <p>What the state says is a belief. The holder stops believing at the deadline (the send time of the last request
 * that the authority answered, plus 3/4 ttl); the authority gives the lock to another one ttl after it received that
 * request at the earliest. So a live holder has about a quarter of the ttl to stop. How firmly that is promised is in
 * {@link Guarantees#belief()}.
 *
 * <p>A suspended program can act after its lease ended. Where that would do damage, hand {@link #token()} to the
 * resource and let it refuse lower ones:
 *
 * <pre>{@code
 * try (Lease lease = client.lock("orders/7").acquire()) {
 *     while (hasMore()) {
 *         lease.ensureHeld(); // throws LeaseLostException when the lease has ended
 *         write(next(), lease.token()); // UPDATE ... WHERE fence <= :token
 *     }
 * }
 * }</pre>
 *
 * <p>Rules LK-501 to LK-516, LK-701 to LK-708 and LK-801 to LK-807.
 */
public interface Lease extends AutoCloseable {

    /** What the holder may believe. A lease begins as HELD; LOST and RELEASED are final. */
    enum State {
        /** Held. */
        HELD,
        /** Held, but overdue for renewal (from 5/8 ttl on) or doubted by the store; HELD again after a renewal. */
        DOUBTFUL,
        /** Ended other than by a release; final. */
        LOST,
        /** Released; final. */
        RELEASED
    }

    /** {@return the name of the lock or semaphore} */
    LockName name();

    /** {@return how the lease shares its lock with others} */
    LockMode mode();

    /** {@return the number of permits; 1 for a lock} */
    int permits();

    /**
     * {@return how many permits of the semaphore were out with this grant, its own among them, as the authority counted
     * when it made it} It tells how busy the resources were then: with a {@link Capacity} of {@code limit} permits for
     * each of them, {@code permitsOut} of {@code limit} and less mean that one would have been enough. Empty for a
     * lock, and where the provider does not tell.
     */
    default OptionalInt permitsOut() {
        return OptionalInt.empty();
    }

    /**
     * {@return the fencing token of this grant} It never changes, also over renewals. With {@link Feature#FENCING} it
     * is higher than the tokens of all earlier grants of the name, under the condition of {@link Guarantees#tokens()};
     * with {@link Feature#CACHING} than those of earlier grants that exclude it, so that readers beside each other, and
     * permits, have tokens in no order. Without, it is unique among them.
     */
    long token();

    /**
     * {@return the ttl as granted} It may differ from what was asked for where the store negotiates it, as with a
     * session of ZooKeeper.
     */
    Duration ttl();

    /** {@return the state, computed from the monotonic clock at this call} The answer can be old when it is read. */
    State state();

    /** {@return the time until belief ends if no renewal succeeds: at most 3/4 ttl, zero if the lease has ended} */
    Duration remaining();

    /** {@return whether the state is HELD or DOUBTFUL; false exactly from the deadline on} */
    boolean isHeld();

    /**
     * Returns normally only if the lease is held. To be called before each effect that the lock protects.
     *
     * @throws LeaseLostException if the lease was lost
     * @throws IllegalStateException if the lease was released
     */
    void ensureHeld();

    /**
     * {@return a stage that completes once, with the cause, if the lease is lost; never after a normal release} What is
     * chained to it runs on the event executor, within about 50 ms of the deadline if that is free. Nobody may wait
     * there for another future of this client.
     */
    CompletionStage<LeaseLoss> lost();

    /**
     * Ends the lease, waiting at most {@code requestTimeout} for the answer. From the call on {@link #isHeld()} is
     * false. An interrupt does not end the call, and the thread's interrupt flag stays set. The release of a lease that
     * was lost ends nothing of another holder's; it says that the work has stopped, so that the lock can go on sooner.
     *
     * @return what became of it; a repeated call returns the outcome of the first
     */
    ReleaseOutcome release();

    /**
     * Ends the lease as {@link #release()}, without waiting.
     *
     * @return what becomes of it, within {@code requestTimeout}; the stage never fails
     */
    CompletionStage<ReleaseOutcome> releaseAsync();

    /** Does what {@link #release()} does and never throws, so that it hides no exception of the work. */
    @Override
    void close();
}
