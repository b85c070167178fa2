// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.spi;

import io.keyway.lock.Feature;
import io.keyway.lock.Guarantees;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockEvent;
import io.keyway.lock.LockException;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockPage;
import io.keyway.lock.LockStatus;
import io.keyway.lock.UnsupportedFeatureException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletionStage;

/**
 * What the façade stands on: requests go in, grants and their ends come out by {@link Sink}; nothing blocks. Rule
 * LK-1508.
 *
 * <p>The engine asks again, connects again, renews what it has granted, watches the deadlines and gives back what has
 * lapsed, a quarter of the ttl later or when {@link Hold#release} says that its owner has stopped (rule LK-516).
 * The façade ends waits, at their limit too, and leases by {@code Renewal.NONE}, {@code maxHold} and close; it reports
 * {@code warnAfter}, and tells the application.
 */
public interface LockEngine extends AutoCloseable {

    /** {@return the clock on which every deadline of this engine is stated} */
    TimeSource time();

    /**
     * Takes a request; may call the sink before it returns.
     *
     * @param request what is asked for
     * @param sink where its fate is told
     */
    void submit(Request request, Sink sink);

    /**
     * As {@link #submit}, by a thread that waits for the outcome: the engine may use it for what it has to ask, for at
     * most the client's request timeout. An interrupt ends that early and is kept. It need not.
     *
     * @param request what is asked for
     * @param sink where its fate is told
     */
    default void submitWaiting(Request request, Sink sink) {
        submit(request, sink);
    }

    /**
     * A re-acquire that needs no message, as from a cache; asked before each acquire. True: {@code sink.granted} was
     * called, by this thread, and before anything else is told to the sink. False: nothing happened; use
     * {@link #submit}. The capacity of this moment binds it as it binds a request (rule LK-1301).
     *
     * @param key which lock or semaphore
     * @param mode the mode that is asked for
     * @param permits how many; 1 for a lock
     * @param capacity the capacity in the caller's view, 0 if there is no resource now; 1 for a lock
     * @param ttl the ttl that is asked for; a cached grant of another one does not serve
     * @param metadata what the owner says about itself
     * @param sink where a grant is told
     * @return whether the grant was told
     */
    default boolean reacquire(
            LockKey key,
            LockMode mode,
            int permits,
            int capacity,
            Duration ttl,
            Map<String, String> metadata,
            Sink sink) {
        return false;
    }

    /**
     * Changes the mode of a grant, as {@link LockBackend#convert}; needed with UPGRADE. May call the sink before it
     * returns. When it calls {@code sink.granted} the old hold is over, its sink is told nothing, and a release of it
     * that is under way, or comes later, ends the new one. Unless that happens the old hold stays as it was.
     *
     * @param held of this engine
     * @param token of {@code held}
     * @param wanted the request of the new grant, in the new mode
     * @param sink where its fate is told
     */
    default void convert(Hold held, long token, Request wanted, Sink sink) {
        sink.failed(
                new UnsupportedFeatureException(Feature.UPGRADE, held.server().orElse("this engine")));
    }

    /**
     * {@return whether every lock of its clients is one of a tree, see {@link io.keyway.lock.LockClient#tree}} Needs
     * TREE.
     */
    default boolean locksTrees() {
        return false;
    }

    /**
     * Passes a probe on to whoever is in the way of that request, as the authority of the lock knows it when it passes:
     * to the users of all grants that keep it from being granted, or, if there is none, of the requests before it that
     * do. To {@link Observer#probed} of their clients; this one may be among them. Nobody if the request does not wait
     * any more. Needed with TRANSACTIONS. May be lost, and must not be made up.
     *
     * @param key the lock
     * @param request a request of this engine that was submitted, by its id
     * @param probe what to pass on
     */
    default void probe(LockKey key, long request, Probe probe) {}

    /**
     * Ends the queue place of the request, and its grant if one comes; idempotent. May come before {@link #submit} has
     * returned, again, and when the request is over. The sink is told nothing of it. A grant that is being told already
     * need not be ended: the façade releases it.
     *
     * @param request the request, as it was submitted or is to be
     */
    void withdraw(Request request);

    /**
     * As {@link #withdraw(Request)}, of a change of mode that {@link #convert} was asked for. A change of the same
     * grant that is asked for after this has returned comes after it: it is not refused because of this one.
     *
     * @param held the hold whose mode was to change
     * @param wanted the request, as it was given to {@link #convert}
     */
    default void withdraw(Hold held, Request wanted) {
        withdraw(wanted);
    }

    /**
     * Sets who is told of connections; called at most once, first.
     *
     * @param observer who is told
     */
    default void observe(Observer observer) {}

    /** {@return what the engine offers} */
    Set<Feature> features();

    /** {@return what the engine promises} */
    Guarantees guarantees();

    /**
     * As {@link LockBackend#longestHoldAtLeast}.
     *
     * @return the longest time that {@link Request#holdAtLeast()} may ask for
     */
    default Duration longestHoldAtLeast() {
        return LockOptions.MAX_TTL;
    }

    /**
     * As {@link io.keyway.lock.LockAdmin#list}.
     *
     * @param prefix what the names begin with; empty for all
     * @param after the cursor of the page before, or empty for the first
     * @param max the size of the page, at least 1
     * @param limit how long the answer may take; the stage then fails
     * @return the page; fails with a {@link LockException} if that cannot be told
     */
    CompletionStage<LockPage> list(String prefix, Optional<String> after, int max, Duration limit);

    /**
     * As {@link io.keyway.lock.LockAdmin#show}.
     *
     * @param key which lock or semaphore
     * @param limit how long the answer may take; the stage then fails
     * @return the holders and waiters; empty if there are none
     */
    CompletionStage<Optional<LockStatus>> show(LockKey key, Duration limit);

    /**
     * Waits until who holds a lock or semaphore, or waits for it, is not as it was at that version, as its authority
     * sees it. A hint, and nothing more: whoever is told asks {@link #show}, and asks that from time to time in any
     * case.
     *
     * @param key which one
     * @param known the version of before, as this method told it; 0 if none is known
     * @param limit how long to wait; the stage fails some time after that if nothing was answered
     * @return the version of now: a positive number that is never the same for two different states, told as soon as it
     *     is not {@code known}, and within {@code limit} in any case; a negative one if this authority does not tell.
     *     Empty if the engine never tells
     */
    default Optional<CompletionStage<Long>> change(LockKey key, long known, Duration limit) {
        return Optional.empty();
    }

    /**
     * As {@link io.keyway.lock.LockAdmin#breakLease}.
     *
     * @param key which lock or semaphore
     * @param token the token of the grant to end
     * @param reason why, for the holder and for people; one line
     * @param limit how long the answer may take; the stage then fails
     * @return whether it ended a grant in force
     */
    CompletionStage<Boolean> breakGrant(LockKey key, long token, String reason, Duration limit);

    /**
     * {@return the capacity less the permits that are out, at least 0}
     *
     * @param key which lock or semaphore
     * @param capacity the capacity in the caller's view
     * @param limit how long the answer may take; the stage then fails
     */
    CompletionStage<Integer> availablePermits(LockKey key, int capacity, Duration limit);

    /**
     * {@return something of the engine's own}
     *
     * @param <T> the type that is looked for
     * @param type the class to look for, an interface or a class of the driver
     */
    default <T> Optional<T> unwrap(Class<T> type) {
        return Optional.empty();
    }

    /**
     * Ends the engine within {@code closeTimeout}. The façade has withdrawn what waits, told the leases and called
     * release on them before: the engine sends that, as far as there is time, and what it cannot send is left to
     * expire. It calls no sink afterwards.
     */
    @Override
    void close();

    /** Where the fate of one request goes; called in order, one at a time, never under a lock of the engine. */
    interface Sink {
        /**
         * The authority has answered: the request waits for others, or, a soft writer's, for its time. A wait that ends
         * is empty from now on, and no {@link io.keyway.lock.LockUnavailableException}. May be repeated.
         *
         * @param ahead for people; whether it counts the holders is up to the engine
         * @param holders for people
         */
        void waiting(OptionalInt ahead, List<Owner> holders);

        /**
         * As {@link #doubt}, before a grant and by the authority's own word, as of one that was just started: what
         * {@link #waiting} said does not count any more.
         *
         * @param why the reason, for people
         */
        void closed(String why);

        /**
         * Final, for {@code queue=false} and conversions: held by another. Not followed by a withdrawal: nothing of the
         * request is left. Over a backend, what {@link Attempt.Waiting} is for a request that does not queue, and
         * {@link Attempt.Refused}.
         *
         * @param holders who holds, for people; empty where that is not known
         */
        void refused(List<Owner> holders);

        /**
         * The request has its grant. Once only: what a second call brings is released by its token, even if it is the
         * same, and so is a grant whose request was withdrawn or has failed.
         *
         * @param hold what the lease stands on
         * @param token its fencing token
         */
        void granted(Hold hold, long token);

        /**
         * The grant may be in trouble; belief goes on until its deadline. Before a grant: why nothing is answered yet;
         * the request goes on.
         *
         * @param why the reason, for people
         */
        void doubt(String why);

        /** The doubt is over. */
        void certain();

        /**
         * Final: the hold is over, by the engine's or the store's word. When it returns the lease is LOST.
         *
         * @param cause why
         * @param detail a sentence for people; empty where there is nothing to say
         */
        void ended(LeaseLoss.Cause cause, String detail);

        /**
         * Final, before a grant, for what asking again cannot cure. Not followed by a withdrawal: the engine cleans up
         * what may stand.
         *
         * @param e what the caller is told
         */
        void failed(LockException e);
    }

    /** What a granted lease stands on. Shared by all leases cut from one cached grant, hence the token in each call. */
    interface Hold {
        /** {@return the ttl as granted} */
        Duration ttl();

        /**
         * {@return the end of belief on {@link #time()}: echo + 3/4 ttl} It moves forward with each extension; a
         * volatile read.
         */
        long deadlineNanos();

        /**
         * Ends the grant; idempotent. Already complete when the release is local. After an end that the engine told, or
         * that the deadline brought, it says that the owner has stopped: an engine that passes the lock on only then
         * need not wait longer. The answer is then of no interest. A grant that asked for a
         * {@link Request#holdAtLeast()} is ended as by {@link LockBackend#keep}.
         *
         * @param token the token of the lease that was cut from this hold
         * @return what became of it
         */
        CompletionStage<Answer> release(long token);

        /**
         * Ends a grant that reached nobody, at once, whatever its {@link Request#holdAtLeast()}.
         *
         * @param token the token of the lease that was cut from this hold
         * @return what became of it
         */
        default CompletionStage<Answer> abandon(long token) {
            return release(token);
        }

        /**
         * As {@link #release}, by a thread that waits for the answer, as {@link LockEngine#submitWaiting}.
         *
         * @param token the token of the lease that was cut from this hold
         * @return what became of it
         */
        default CompletionStage<Answer> releaseWaiting(long token) {
            return release(token);
        }

        /**
         * A caller saw the deadline pass before the engine did: final; the engine gives the grant back by its token
         * when its owner has had time to stop (rule LK-516), and need not say {@link Sink#ended}.
         *
         * @param token the token of the lease that was cut from this hold
         */
        void lapsed(long token);

        /** {@return the server or peer that granted, where it is known} */
        Optional<String> server();

        /**
         * {@return what {@link io.keyway.lock.Lease#permitsOut()} tells; empty where the authority does not tell it}
         */
        default OptionalInt permitsOut() {
            return OptionalInt.empty();
        }
    }

    /** Who is told of connections. */
    interface Observer {
        /**
         * A connection stands.
         *
         * @param server the server or peer, for people
         */
        void connected(String server);

        /**
         * A connection broke; ends no lease.
         *
         * @param server the server or peer, for people
         * @param why the reason, for people
         */
        void disconnected(String server, String why);

        /**
         * What a member says of its cluster has changed.
         *
         * @param type {@link LockEvent.Type#CLUSTER_UP}, CLUSTER_DOWN, LOCK_READY or NO_LOCK
         * @param server the member, for people
         */
        default void clusterChanged(LockEvent.Type type, String server) {}

        /**
         * A probe came, from somebody in whose way a user of this client is.
         *
         * @param key the lock
         * @param token of the grant in the way, as its sink was told it; 0 if it is a request
         * @param ahead the id of the request in the way; 0 if it is a grant
         * @param probe what came
         */
        default void probed(LockKey key, long token, long ahead, Probe probe) {}

        /**
         * Waits until what the engine has told its sinks so far has reached the application's listeners and futures;
         * for engines whose time a test moves. Returns at once if called by one of them.
         *
         * @param limit of real time
         */
        default void awaitDelivery(Duration limit) {}
    }
}
