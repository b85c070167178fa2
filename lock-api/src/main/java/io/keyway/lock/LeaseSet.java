// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import io.keyway.lock.spi.ClientServices;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;

/**
 * Several held locks that are believed together, see {@link LockSet}. When one of them is lost, belief in all ends at
 * that moment. Any thread may use or close it. Thread-safe.
 *
 * <p>After a loss the other locks are given back when the owner says by {@link #release()} or {@link #close()} that the
 * work has stopped, or else a quarter of the ttl after the loss was seen: until then nobody else can have them. The
 * lock that was lost can be another's as {@link Lease} and {@link LeaseLoss.Cause} have it. Rules LK-1701 to LK-1709.
 */
public interface LeaseSet extends AutoCloseable {

    /**
     * {@return leases that are held together, as one set} For those who make sets; users get theirs from
     * {@link LockSet}.
     *
     * @param services of the client whose leases they are
     * @param leases at least one; they are given back in the opposite order
     * @param names what the set has for its users: all names of the leases, or some
     */
    static LeaseSet of(ClientServices services, List<Lease> leases, List<LockName> names) {
        return HeldSet.of(services, leases, names);
    }

    /** {@return the names of the locks, in the order in which they were acquired; unmodifiable} */
    List<LockName> names();

    /**
     * {@return the fencing token of one of the locks, see {@link Lease#token()}}
     *
     * @param name one of {@link #names()}
     * @throws IllegalArgumentException if it is none of them
     */
    long token(LockName name);

    /**
     * {@return the fencing token of one of the locks, see {@link Lease#token()}}
     *
     * @param name one of {@link #names()}
     * @throws IllegalArgumentException if it is none of them
     */
    default long token(String name) {
        return token(LockName.of(name));
    }

    /** {@return the fencing tokens by name, in the order of {@link #names()}; unmodifiable} */
    Map<LockName, Long> tokens();

    /** {@return the shortest ttl of the leases, as granted} */
    Duration ttl();

    /**
     * {@return the state of all, computed at this call: LOST if one of them was lost before the release, DOUBTFUL if
     * one of them is}
     */
    Lease.State state();

    /** {@return the time until belief ends if no renewal succeeds: the shortest of the leases; zero if it has ended} */
    Duration remaining();

    /** {@return whether the state is HELD or DOUBTFUL; false exactly from the first deadline on} */
    boolean isHeld();

    /**
     * Returns normally only if all are held.
     *
     * @throws LeaseLostException if one was lost; it names the first that was seen to be, and its token
     * @throws IllegalStateException if they were released
     */
    void ensureHeld();

    /**
     * {@return a stage that completes once if one of the leases is lost, with the cause and a detail that names the
     * lock; never after a normal release} What is chained to it runs on the event executor, as with
     * {@link Lease#lost()}.
     */
    CompletionStage<LeaseLoss> lost();

    /**
     * Ends all leases, waiting at most {@code requestTimeout} for the answers. From the call on {@link #isHeld()} is
     * false. An interrupt does not end the call, and the thread's interrupt flag stays set.
     *
     * @return ALREADY_LOST if one of them was lost, else UNKNOWN if one was not answered, else RELEASED; a repeated
     *     call returns the same
     */
    ReleaseOutcome release();

    /**
     * Ends all leases as {@link #release()}, without waiting.
     *
     * @return what becomes of them, within {@code requestTimeout}; the stage never fails
     */
    CompletionStage<ReleaseOutcome> releaseAsync();

    /** Does what {@link #release()} does and never throws, so that it hides no exception of the work. */
    @Override
    void close();
}
