// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * One candidate of an {@link Election}, from its first stand to its close. Any thread may use it. Thread-safe.
 *
 * <p>No answer is told by an event alone: {@link #isLeading()} is computed at each call from the clock.
 */
public interface Candidacy extends AutoCloseable {

    /** {@return the name under which it stands} */
    String name();

    /** {@return whether it leads, computed from the clock at this call; false exactly from the deadline on} */
    boolean isLeading();

    /**
     * {@return the lease by which it leads now; empty while it does not} Its release gives up the leadership as
     * {@link #surrender()} does: the listener is notified before the lock is free. {@link Lease#release()} waits for
     * that, at most a quarter of the ttl, and then for the outcome. On the event executor, where it would keep the
     * listener waiting, it does not wait, and returns {@link ReleaseOutcome#UNKNOWN}.
     */
    Optional<Lease> leadership();

    /**
     * {@return a stage that completes when it leads, at once if it does} It has the lease, which may have been lost
     * again when the dependent runs, on the event executor. It fails when the candidacy ends.
     */
    CompletionStage<Lease> elected();

    /**
     * {@return a stage that completes when the candidacy has been closed, and fails if it ended by itself} It ends by
     * itself when the client is closed ({@link ClientClosedException}), and when the store refuses the client for good.
     */
    CompletionStage<Void> ended();

    /**
     * Gives the leadership up, if it leads, and stands again, at the end of the queue where there is one. Listeners are
     * told before the lock is given back, or a quarter of the ttl after they should have been.
     */
    void surrender();

    /**
     * Gives the leadership to a candidate that stands: no other candidate leads before it, unless the time is over or
     * this process dies. After that it stands again itself.
     *
     * @param candidate the name of the candidate that is to lead
     * @param limit how long it may take
     * @return whether that candidate leads; if not, {@link #isLeading()} says whether this one went on, since the other
     *     did not stand or somebody else hands over, or anybody may have been elected since the time was over
     * @throws IllegalStateException if this one does not lead
     * @throws UnsupportedFeatureException without {@link Feature#LIST}
     * @throws LockException if the store gave no answer; {@link #isLeading()} says whether this one leads
     * @throws InterruptedException if interrupted while waiting; the hand-over is not waited for then
     */
    boolean handOver(String candidate, Duration limit) throws InterruptedException;

    /**
     * Stands no more. If it leads, it gives the leadership up as {@link #surrender()} does: it waits until the listener
     * has been notified, at most a quarter of the ttl, then releases the lock, and waits for the answer at most
     * {@code requestTimeout}; on the event executor it waits for neither. If it does not lead, it withdraws, without
     * waiting. Never throws; idempotent.
     */
    @Override
    void close();
}
