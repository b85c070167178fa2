// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The election of one leader among candidates, over one lock: who holds the lock leads. A stateless view, made by
 * {@link LockClient#election(String)}; nothing is registered anywhere until somebody stands. Thread-safe.
 *
 * <pre>{@code
 * client.election("billing/scheduler").lead(lease -> {
 *     runSchedulerUntilInterrupted(lease.token());
 *     return null;
 * });
 * }</pre>
 *
 * <p>A leader leads as long as it believes in its lease, and not a moment longer. A program that is paused can act as
 * leader after its time; where that does damage, let the resource refuse its {@linkplain Lease#token() token}, which
 * rises from leader to leader.
 *
 * <p>The lock is the one that {@link LockClient#lock(String)} gives, so that {@code keyway show} shows the leader and
 * the candidates, and {@code keyway break} deposes it. No argument may be null. Rules LK-1801 to LK-1810.
 */
public interface Election {
    /** How often an observer asks unless it says otherwise. */
    Duration INTERVAL = Duration.ofSeconds(1);

    /** {@return the name of the election, which is that of its lock} */
    LockName name();

    /**
     * {@return a view of the same election with the fields that {@code options} sets laid over those of this one} The
     * ttl says how long a leader that is silent keeps others waiting; the metadata is what others see of the candidate.
     *
     * @param options what to change; a field that it leaves open stays as it is
     * @throws IllegalArgumentException if the ttl is outside the provider's bounds
     */
    Election with(LockOptions options);

    /**
     * {@return a view of the same election whose candidates stand under that name} Otherwise they stand under the name
     * of their client. Give each candidate a name of its own: a hand-over goes to whoever has the name.
     *
     * @param candidate the name, not empty; it travels in the metadata of the lease, under {@code candidate}
     * @throws IllegalArgumentException if it is empty, or too long together with the metadata
     */
    Election as(String candidate);

    /**
     * {@return the election of the same name whose candidates stand for its {@linkplain LockClient#lock(LockName,
     * NodeSet) lock over those nodes}} So whoever leads has been granted the lock by a majority of them: on the two
     * sides of a split net one leads at the most, and one can as long as a majority is on one side. All candidates and
     * observers name the same nodes.
     *
     * @param nodes the members that elect, and how many of them have to; {@link NodeRule#MAJORITY} as a rule
     * @throws IllegalArgumentException if the rule is ANY, which would elect several
     * @throws IllegalStateException if this election is one over nodes
     * @throws UnsupportedFeatureException without {@link Feature#NODE_SETS}
     */
    default Election at(NodeSet nodes) {
        throw new UnsupportedFeatureException(Feature.NODE_SETS, "the election of " + name());
    }

    /**
     * Stands for election at once, in the background, until the candidacy is closed: when it is elected and loses the
     * leadership, it stands again. No thread is taken.
     *
     * @param listener told of what becomes of this candidacy, one event at a time and in order, on the event executor
     * @return the candidacy
     */
    Candidacy stand(ElectionListener listener);

    /**
     * Stands for election as {@link #stand(ElectionListener)}, and tells nobody.
     *
     * @return the candidacy
     */
    default Candidacy stand() {
        return stand(event -> {});
    }

    /**
     * Stands for election and does the work, on this thread, whenever it leads, until a run of the work ends while it
     * leads: that run's result is returned, or what it threw is thrown. When the leadership is lost this thread is
     * interrupted once, and when the work has ended it stands again, not before: as long as the work goes on others
     * may lead. So the work must end when it is interrupted, and bear to be done again.
     *
     * <p>An interrupt from elsewhere that the thread has not seen when the leadership is lost outlives the work, so
     * that this ends with {@link InterruptedException}. One that comes between the loss and the end of the work cannot
     * be told from that of the loss, and may be taken for it: interrupt again, or close the client.
     *
     * @param <T> the type of the work's result
     * @param <X> what the work may throw
     * @param work what the leader does, with the lease by which it leads
     * @return what the work returned
     * @throws X what the work threw while it led
     * @throws LockException if the store refuses this client for good
     * @throws ClientClosedException if the client is closed
     * @throws InterruptedException if interrupted while it does not lead
     */
    <T, X extends Exception> T lead(LockedFunction<T, X> work) throws X, InterruptedException;

    /**
     * Tells of changes of the leader, without standing: it asks the store about every {@link #INTERVAL}.
     *
     * @param listener who is told, see {@link #observe(ElectionListener, Duration)}
     * @return how to end it; it also ends with the client
     * @throws UnsupportedFeatureException without {@link Feature#LIST}
     */
    default Subscription observe(ElectionListener listener) {
        return observe(listener, INTERVAL);
    }

    /**
     * Tells of changes of the leader, without standing. It asks the store again and again, each time after between
     * three and five quarters of {@code every}, so that many observers do not ask at once; a leader that comes and goes
     * in between is not seen. ELECTED tells of the first leader that it sees and of each new one, SURRENDERED that the
     * one told of last leads no more, UNCERTAIN that the store does not answer, CERTAIN that it does again.
     *
     * @param listener told one event at a time and in order, on the event executor
     * @param every about how long to wait between two questions; more than zero
     * @return how to end it; it also ends with the client
     * @throws IllegalArgumentException if {@code every} is not positive
     * @throws UnsupportedFeatureException without {@link Feature#LIST}
     */
    Subscription observe(ElectionListener listener, Duration every);

    /**
     * {@return who leads, in the eyes of the store; empty if nobody does} The answer can be old when it is read.
     *
     * @throws UnsupportedFeatureException without {@link Feature#LIST}, before anything is sent
     * @throws LockUnavailableException if the store gave no answer
     * @throws InterruptedException if interrupted while waiting
     */
    Optional<Candidate> leader() throws InterruptedException;

    /**
     * {@return who leads and who stands: the leader first, then the others in the order of the queue, where the
     * provider has one} The answer can be old when it is read.
     *
     * @throws UnsupportedFeatureException without {@link Feature#LIST}, before anything is sent
     * @throws LockUnavailableException if the store gave no answer
     * @throws InterruptedException if interrupted while waiting
     */
    List<Candidate> candidates() throws InterruptedException;
}
