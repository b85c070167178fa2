// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.spi;

import io.keyway.lock.Feature;
import io.keyway.lock.Guarantees;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockPage;
import io.keyway.lock.LockStatus;
import io.keyway.lock.UnsupportedFeatureException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/**
 * A store, seen through few blocking verbs. Thread-safe; never retries, sleeps or waits for a holder; starts no thread.
 * Each verb takes at most {@code limit} and ends early when its thread is interrupted.
 *
 * <p>A verb that throws {@link NotExecutedException} had surely no effect. With any other exception the outcome is
 * unknown, and the kit repeats {@link #withdraw} or {@link #release} until it is answered. Rules LK-1501 to LK-1512.
 */
public interface LockBackend extends AutoCloseable {

    /**
     * Connects, as far as the store needs it before the first verb; called first, again if it failed, and not any more
     * once it has returned. A {@link io.keyway.lock.LockException} that is not retryable fails each request that needs
     * the store. What it writes is visible to every later verb. No limit is passed: it takes at most the client's
     * {@code connectTimeout}, which a provider reads from its {@link OpenRequest}, and ends early when its thread is
     * interrupted.
     *
     * @param signals how the store speaks unasked; kept by the backend
     * @param client the life of this client, which makes the ids of its requests unique forever
     * @throws Exception if the store cannot be reached; a {@link io.keyway.lock.LockException} that is not retryable
     *     fails each request that needs it
     */
    void start(Signals signals, Incarnation client) throws Exception;

    /**
     * Takes, queues, re-checks and keeps the place alive: one verb, idempotent by {@code request.id()}. With a grant,
     * new or from an earlier attempt, the ttl runs anew from this attempt: belief is counted from the clock before it.
     * A request that does not queue leaves nothing at the store unless it is granted.
     *
     * @param request what is asked for; the same id means the same request
     * @param limit how long the call may take; it ends earlier when its thread is interrupted
     * @return what it came to
     * @throws Exception a {@link NotExecutedException} if it surely had no effect; anything else leaves the outcome
     *     unknown
     */
    Attempt attempt(Request request, Duration limit) throws Exception;

    /**
     * Changes the mode of a grant in one step, at which no other writer can be granted (lock conversion, as in the
     * distributed lock managers of VMS and Linux); needed with UPGRADE. It is {@link #attempt} in all that is not said
     * here, by {@code wanted.id()}: asked again and again, idempotent, kept alive, withdrawn.
     *
     * <ul>
     *   <li>From SHARED to EXCLUSIVE it waits for the other readers, before all that queue: nobody is granted
     *       meanwhile, no newcomer and no other reader either. It is shown as the first that waits, in mode EXCLUSIVE,
     *       and {@code held} stays, with the term that its renewals give it. Of two that wait, the second is
     *       {@link Attempt.Refused}, at once: each would wait for the other. One that does not queue is asked once, and
     *       is in nobody's way.
     *   <li>From EXCLUSIVE to SHARED it never waits.
     *   <li>With {@link Attempt.Granted} {@code held} is over, and what has taken its place has a token of its own,
     *       higher than all before, and a whole ttl; {@link io.keyway.lock.LockStatus.Holder#since} goes on.
     *   <li>A {@code held} that is not in force, by id and token, or was broken, is refused; an upgrade that waits ends
     *       with {@code held}.
     *   <li>{@link #withdraw} of an upgrade that waits leaves {@code held} alone. Of one that was granted, while none
     *       of its renewals has arrived, it makes the grant what it was: SHARED, by the id and token of {@code held},
     *       for what is left of the upgrade's term. Of a downgrade it ends the grant.
     * </ul>
     *
     * @param held the grant whose mode changes
     * @param wanted the request of the new grant, with an id and a mode of its own
     * @param limit how long the call may take; it ends earlier when its thread is interrupted
     * @return what it came to
     * @throws Exception a {@link NotExecutedException} if it surely had no effect; anything else leaves the outcome
     *     unknown
     */
    default Attempt convert(Grant held, Request wanted, Duration limit) throws Exception {
        throw new UnsupportedFeatureException(Feature.UPGRADE, "this store");
    }

    /**
     * Renews, in one round trip where the store can; one answer for each grant, in order.
     *
     * @param grants the grants to renew, at least one
     * @param limit how long the call may take; it ends earlier when its thread is interrupted
     * @return one answer for each grant, in their order
     * @throws Exception a {@link NotExecutedException} if it surely had no effect; anything else leaves the outcome
     *     unknown
     */
    List<Answer> renew(List<Grant> grants, Duration limit) throws Exception;

    /**
     * Ends the grant if it is in force; idempotent by {@code grant.id()} and token. Of one that was broken it frees the
     * place, and answers NOT_HELD; its request may be attempted again then ({@link Attempt.Waiting#broken}).
     *
     * @param grant the grant to end
     * @param limit how long the call may take; it ends earlier when its thread is interrupted
     * @return DONE if it ended the grant; NOT_HELD if that was not in force, as after an earlier release
     * @throws Exception a {@link NotExecutedException} if it surely had no effect; anything else leaves the outcome
     *     unknown
     */
    Answer release(Grant grant, Duration limit) throws Exception;

    /**
     * As {@link #release}, but the place of the grant stays until {@link Request#holdAtLeast()} has passed since it was
     * made, by the store's own time; needed with HOLD_AT_LEAST. The kit ends by it each grant that asked for such a
     * time and reached its owner.
     *
     * <p>The store also keeps the place by itself when the term of such a grant ends first. A place that is kept is no
     * grant in force: {@link #renew}, {@link #release} and a further call answer NOT_HELD, an attempt of its request
     * finds it like another's grant, {@link #withdraw} leaves it alone, {@link #show} shows it, {@link #breakGrant}
     * ends it at once. When its time has passed, waiters are told as of a release.
     *
     * @param grant the grant to end
     * @param limit how long the call may take; it ends earlier when its thread is interrupted
     * @return DONE if it ended the grant; NOT_HELD if that was not in force, as after an earlier call
     * @throws Exception a {@link NotExecutedException} if it surely had no effect; anything else leaves the outcome
     *     unknown
     */
    default Answer keep(Grant grant, Duration limit) throws Exception {
        throw new UnsupportedFeatureException(Feature.HOLD_AT_LEAST, "this store");
    }

    /** {@return the longest time that {@link Request#holdAtLeast()} may ask for; of interest with HOLD_AT_LEAST} */
    default Duration longestHoldAtLeast() {
        return LockOptions.MAX_TTL;
    }

    /**
     * Ends the queue place and the grant of that id; no later attempt of it succeeds. Idempotent. What it does to a
     * grant that changed its mode is said at {@link #convert}.
     *
     * <p>The id is remembered, also one that was never heard of, for longer than any message of its attempts can be
     * under way. The kit calls this when each of them has returned or thrown: what may still arrive is the message of
     * one that threw. It withdraws what it gives up; and what was released, or did not queue and was answered by
     * {@link Attempt.Waiting}, if an earlier attempt of it was not answered, though nothing of it stands any more.
     *
     * @param request the request that is given up
     * @param limit how long the call may take; it ends earlier when its thread is interrupted
     * @throws Exception a {@link NotExecutedException} if it surely had no effect; anything else leaves the outcome
     *     unknown
     */
    void withdraw(Request request, Duration limit) throws Exception;

    /**
     * Whether each verb surely ends within its limit, and within a second when its thread is interrupted, whatever the
     * store and the network do (rule LK-1505). It is asked before each call, on the thread that would make it. The kit
     * then lets a caller that waits anyhow make the call on its own thread, which saves two changes of thread;
     * otherwise calls run on threads of the kit, and one that outlasts its limit keeps no caller.
     *
     * @return whether the kit may call on the thread of a caller that waits
     */
    default boolean prompt() {
        return false;
    }

    /**
     * Whether grants and places in the queue last as long as the client's session with the store, whatever their ttl
     * is: ephemeral nodes, locks of a database connection. Nothing then bounds how long one stays that the kit could
     * not end, so that it goes on to release or withdraw it until that is answered, for as long as the client is open.
     * Otherwise the store ends what it does not hear of for its ttl, and the kit gives up after twice the ttl.
     *
     * @return whether grants last as long as the session
     */
    default boolean sessionBound() {
        return false;
    }

    /** {@return whether the store keeps when it granted a lock; if not, holders are shown since they asked} */
    default boolean notesGrants() {
        return true;
    }

    /**
     * The kit has forgotten that request, and calls no verb for it any more: whatever the backend kept for it in memory
     * can go, but for what {@link #withdraw} has to remember. Told once of each request that was submitted, when its
     * grant was released or has ended, or it was refused, withdrawn or given up. Called between verbs, on any thread;
     * must not block.
     *
     * @param request the request that is over
     */
    default void forgotten(Request request) {}

    /** {@return what the store offers} */
    Set<Feature> features();

    /** {@return what the store promises} */
    Guarantees guarantees();

    /**
     * As {@link io.keyway.lock.LockAdmin#list}; needed with LIST. As {@link #show}, it shows what was broken and has
     * not ended.
     *
     * @param prefix what the names begin with; empty for all
     * @param after the cursor of the page before, or empty for the first
     * @param max the size of the page, at least 1
     * @param limit how long the call may take; it ends earlier when its thread is interrupted
     * @return the page
     * @throws Exception a {@link NotExecutedException} if it surely had no effect; anything else leaves the outcome
     *     unknown
     */
    default LockPage list(String prefix, Optional<String> after, int max, Duration limit) throws Exception {
        throw new UnsupportedFeatureException(Feature.LIST, "this store");
    }

    /**
     * As {@link io.keyway.lock.LockAdmin#show}; needed with LIST. A grant that was broken is shown among the holders
     * for as long as its place is kept.
     *
     * @param key which lock or semaphore
     * @param limit how long the call may take; it ends earlier when its thread is interrupted
     * @return the holders and waiters; empty if there are none
     * @throws Exception a {@link NotExecutedException} if it surely had no effect; anything else leaves the outcome
     *     unknown
     */
    default Optional<LockStatus> show(LockKey key, Duration limit) throws Exception {
        throw new UnsupportedFeatureException(Feature.LIST, "this store");
    }

    /**
     * As {@link io.keyway.lock.LockAdmin#breakLease}; needed with BREAK. The place is kept until its holder has
     * released it, or its ttl has passed (rule LK-1105); meanwhile it is not in force: a further break is false,
     * {@link #renew} and {@link #release} answer NOT_HELD, and an attempt of its request neither brings it back nor
     * takes it away, since it may be one that was lost and comes late, while the holder believes: it is answered by
     * {@link Attempt.Waiting#broken}.
     *
     * @param key which lock or semaphore
     * @param token the token of the grant to end, never of a later one
     * @param reason reaches the holder where the store can tell it; one line
     * @param limit how long the call may take; it ends earlier when its thread is interrupted
     * @return whether it ended a grant in force
     * @throws Exception a {@link NotExecutedException} if it surely had no effect; anything else leaves the outcome
     *     unknown
     */
    default boolean breakGrant(LockKey key, long token, String reason, Duration limit) throws Exception {
        throw new UnsupportedFeatureException(Feature.BREAK, "this store");
    }

    /**
     * {@return the capacity less the permits that are out, at least 0; needed with SEMAPHORE}
     *
     * @param key which lock or semaphore
     * @param capacity the capacity in the caller's view
     * @param limit how long the call may take; it ends earlier when its thread is interrupted
     * @throws Exception a {@link NotExecutedException} if it surely had no effect; anything else leaves the outcome
     *     unknown
     */
    default int availablePermits(LockKey key, int capacity, Duration limit) throws Exception {
        throw new UnsupportedFeatureException(Feature.SEMAPHORE, "this store");
    }

    /**
     * {@return something of the store's own, as its driver}
     *
     * @param <T> the type that is looked for
     * @param type the class to look for, an interface or a class of the driver
     */
    default <T> Optional<T> unwrap(Class<T> type) {
        return Optional.empty();
    }

    /** Disconnects, if there is anything to. Grants and queue places stay; the kit has released what it could. */
    @Override
    default void close() throws Exception {}

    /**
     * How a store speaks unasked. All but {@code ended} and {@code endedAll} are hints: one that is lost costs time
     * only.
     *
     * <p>Called by any thread, also within a verb, {@link LockBackend#start} included: what is said there is heard
     * before the verb's answer. But for {@link #awaitDelivery} none of them waits for a verb. A store speaks when it
     * has left its own locks: the kit does on the calling thread what follows, and in time that a test moves
     * ({@link TimeSource#manual()}) this includes the next verb of the client that is told, in the midst of what such a
     * lock guards. On the machine's clock other threads make the verbs, and would wait for the lock.
     */
    interface Signals {
        /**
         * That key may have become free: attempt again now. A store with FIFO and WAKE_UP says it of all whose turn has
         * come, also when this client has given the key back itself.
         *
         * @param key which lock or semaphore
         */
        void recheck(LockKey key);

        /**
         * As {@link #recheck(LockKey)}, by a store that knows whose turn has come: that request is attempted now, and
         * no other.
         *
         * @param key which lock or semaphore
         * @param request its id
         */
        default void recheck(LockKey key, long request) {
            recheck(key);
        }

        /**
         * Messages may have been missed, as while a subscription was broken: as {@link #recheck(LockKey)}, of every key
         * for which a request waits. {@link #connected} does not imply it, since a store may have several connections.
         */
        default void recheckAll() {}

        /**
         * As {@link #recheck(LockKey)}, by a store that knows already what the attempt would come to: the request is
         * granted, and its waiter is told without another call. It may be lost or doubled, but what it says is
         * believed.
         *
         * @param request the request whose turn has come
         * @param word what the attempt would return; asked when the kit takes it, in one order with the answers to
         *     attempts, and while none of this request is under way, so that neither a pause nor an answer that came in
         *     between makes it wrong. Empty if that is not known any more: then the request is attempted
         */
        default void granted(Request request, Supplier<Optional<Attempt.Granted>> word) {
            recheck(request.key());
        }

        /**
         * Something is wrong with the store: all leases are doubted until they are renewed.
         *
         * @param why the reason, for people
         */
        void doubt(String why);

        /**
         * That grant is over, by the store's word. To BROKEN the kit answers by {@link LockBackend#release}, as soon as
         * the lease is lost: a store that waits for it, at most until the grant would have expired, keeps rule LK-1105.
         *
         * @param key which lock or semaphore
         * @param token the fencing token of the grant
         * @param cause why
         */
        void ended(LockKey key, long token, LeaseLoss.Cause cause);

        /**
         * As {@link #ended(LockKey, long, LeaseLoss.Cause)}, with a sentence for people, such as who broke it and why.
         *
         * @param key which lock or semaphore
         * @param token the fencing token of the grant
         * @param cause why
         * @param detail a sentence for people
         */
        default void ended(LockKey key, long token, LeaseLoss.Cause cause, String detail) {
            ended(key, token, cause);
        }

        /**
         * All grants of this client are over, by the store's word.
         *
         * @param cause why
         */
        void endedAll(LeaseLoss.Cause cause);

        /**
         * A connection to that server stands.
         *
         * @param server the server or peer, for people
         */
        void connected(String server);

        /**
         * The connection to that server broke; ends no lease.
         *
         * @param server the server or peer, for people
         * @param why the reason, for people
         */
        void disconnected(String server, String why);

        /**
         * Waits until what the client was told so far has reached the application's listeners and futures; for stores
         * whose time a test moves ({@link TimeSource#manual()}). Returns at once if called by one of them.
         *
         * @param limit of real time
         */
        default void awaitDelivery(Duration limit) {}

        /**
         * Has the kit run the loop on a thread of its own, again when it ends or fails, until close interrupts it.
         *
         * @param name a name for the thread, after the client's
         * @param loop what to run
         */
        void background(String name, Loop loop);
    }

    /** A blocking subscription and the like. */
    @FunctionalInterface
    interface Loop {
        /**
         * Runs until interrupted.
         *
         * @throws Exception when it fails; it is run again
         */
        void run() throws Exception;
    }
}
