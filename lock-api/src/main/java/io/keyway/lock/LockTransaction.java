// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.function.UnaryOperator;

/**
 * Several locks that are taken together or one after the other, in any order, with the detection of deadlocks: if
 * transactions wait for each other in a circle, one of them gives way, without any time limit. From
 * {@link LockClient#transaction()}, with {@link Feature#TRANSACTIONS}. Thread-safe; any thread may use or close it.
 *
 * <p>Its locks are locks like any others: {@code client.lock(name)} and a transaction exclude each other, each lock has
 * a token, is renewed, is seen by {@link LockAdmin#show} and can be lost. A deadlock in which somebody waits without a
 * transaction is not found.
 *
 * <p>A lock that this transaction holds SHARED and asks for EXCLUSIVE is upgraded without a gap, as by
 * {@link DistributedReadWriteLock#tryUpgrade}; of two readers that want this the second is aborted. What is held
 * EXCLUSIVE serves SHARED too.
 *
 * <p><b>Giving way.</b> What a call has returned is held, and so is everything as soon as nothing is waited for: the
 * user may know it, and nothing of that is ever given up. What was granted otherwise can be surrendered and asked for
 * again, behind all who wait; no call has returned it. So can its place among those who wait for a lock. If a
 * lock of the former kind is in the way, the transaction is aborted: {@link DeadlockException}, and it waits for
 * nothing any more. What it held it holds until it is closed, so that the work can be undone first:
 * {@link #ensureHeld(String)} and {@link #token} answer for it still.
 *
 * <p><b>Several threads</b> may each wait for locks of their own in one transaction. A call that takes locks waits for
 * these and no others, and returns or throws for these. When a request fails, the calls that wait for its lock throw,
 * and if there are none {@link #awaitAll} does; until then {@link #status()} is FAILED, and {@link #ensureHeld()}
 * throws it.
 *
 * <pre>{@code
 * try (LockTransaction transfer = client.transaction()) {
 *     transfer.lockAll(List.of(LockRequest.exclusive("account/7"), LockRequest.exclusive("account/9")));
 *     move(100, transfer.token("account/7"), transfer.token("account/9"));
 * }
 * }</pre>
 *
 * <p>Each method that takes a lock throws {@link DeadlockException} once the transaction is aborted,
 * {@link LeaseLostException} once it has lost a lock that it had been told to hold, {@link ClientClosedException} if
 * the client is closed, {@link LockUnavailableException} where that would end a single request, and
 * {@link IllegalStateException} once the transaction is closed. Rules LK-1901 to LK-1917.
 */
public interface LockTransaction extends AutoCloseable {

    /** How a transaction stands. */
    enum Status {
        /** It holds nothing and waits for nothing. */
        NO_LOCKS,
        /** Something that was asked for is not held. */
        WAITING,
        /** A request has failed, and no call has said so: {@link LockTransaction#awaitAll} will. */
        FAILED,
        /** All that was asked for is held. */
        HELD,
        /** A lock that it had been told to hold was lost. Final until it is closed. */
        LOST,
        /** It gave way in a deadlock. Final until it is closed. */
        ABORTED,
        /** Closed; final. */
        CLOSED
    }

    /** {@return what it is called in {@link Deadlock}; unique} */
    String id();

    /**
     * Asks for that lock, and waits until it is held. As {@link #lockAll} of it alone.
     *
     * @param name the name of the lock
     * @param mode EXCLUSIVE or SHARED
     * @throws java.util.concurrent.CancellationException as {@link #lockAll}
     * @throws InterruptedException as {@link #lockAll}
     */
    default void lock(String name, LockMode mode) throws InterruptedException {
        lockAll(List.of(new LockRequest(LockName.of(name), mode)));
    }

    /**
     * Asks for that lock EXCLUSIVE, and waits until it is held.
     *
     * @param name the name of the lock
     * @throws java.util.concurrent.CancellationException as {@link #lockAll}
     * @throws InterruptedException as {@link #lockAll}
     */
    default void lock(String name) throws InterruptedException {
        lock(name, LockMode.EXCLUSIVE);
    }

    /**
     * Asks for that lock at those members of the cluster, and waits until it is held. It is granted when as many of
     * them have granted it as the rule says, and lost when fewer than that are left. The members are asked one after
     * the other, in the order of their ids; one that does not answer is passed over where the rule can
     * be met without it. Where it cannot, the request fails, unless
     * {@link TransactionOptions#withAwaitNodes} has it wait for the return of nodes.
     *
     * <p>A lock over nodes and {@code client.lock} of its name do not know of each other. It cannot be upgraded. Needs
     * {@link Feature#NODE_SETS}; rules LK-2101 to LK-2107.
     *
     * @param name the name of the lock, of at most 15 segments
     * @param mode EXCLUSIVE or SHARED
     * @param nodes the ids of members, as of {@link NodeSet}
     * @param rule how many of them have to grant it
     * @throws IllegalArgumentException if that is no set of nodes, or EXCLUSIVE at ANY of several, which is refused; or
     *     if the list and the lock's metadata have more than {@link LockOptions#MAX_METADATA_BYTES} together
     * @throws LockUnavailableException if too few of the nodes answer within {@code requestTimeout}; if one of them is
     *     no member, or has the lock for somebody with another list or rule, it is not retryable
     * @throws UnsupportedFeatureException without NODE_SETS
     * @throws java.util.concurrent.CancellationException as {@link #lockAll}
     * @throws InterruptedException as {@link #lockAll}
     */
    default void lock(String name, LockMode mode, Collection<String> nodes, NodeRule rule) throws InterruptedException {
        lockAll(List.of(new LockRequest(LockName.of(name), mode).at(NodeSet.of(rule, nodes))));
    }

    /**
     * Asks for that lock and does not wait: {@link #awaitAll} does.
     *
     * @param name the name of the lock
     * @param mode EXCLUSIVE or SHARED
     */
    default void lockAsync(String name, LockMode mode) {
        lockAsync(List.of(new LockRequest(LockName.of(name), mode)));
    }

    /**
     * Asks for those locks, all at once, and does not wait. What is held already, or asked for, in that mode or
     * EXCLUSIVE is not asked for again. What is asked for one after the other is not asked for at once: a lock that is
     * granted before the next one is asked for counts as one that the user may know of.
     *
     * @param requests which locks; each name once
     * @throws IllegalArgumentException if a name is there twice
     * @throws IllegalStateException if a name is being waited for SHARED and is now wanted EXCLUSIVE; nothing is asked
     *     for
     */
    void lockAsync(Collection<LockRequest> requests);

    /**
     * Asks for those locks, all at once, and waits until they are held, whatever else was asked for. None of
     * them counts as held before all are. If this throws, what was asked for and has not failed is still asked for, see
     * {@link #cancel}.
     *
     * @param requests as of {@link #lockAsync(Collection)}
     * @throws java.util.concurrent.CancellationException if another thread has cancelled one of the requests, or has
     *     given that lock back
     * @throws InterruptedException if interrupted
     */
    void lockAll(Collection<LockRequest> requests) throws InterruptedException;

    /**
     * Asks for that lock and waits until it is held, but not longer than {@code wait}; then this request is cancelled.
     * Zero or less asks once, and waits for the answer to that alone.
     *
     * @param name the name of the lock
     * @param mode EXCLUSIVE or SHARED
     * @param wait how long to wait
     * @return whether it is held; if not, what was held is held as before and nothing more, also where another thread
     *     has cancelled the request
     * @throws InterruptedException if interrupted; the request is cancelled
     */
    boolean tryLock(String name, LockMode mode, Duration wait) throws InterruptedException;

    /**
     * Waits until nothing is missing of what was asked for, by any thread, and not cancelled since; returns at once if
     * nothing was. A request that fails, and that no call waits for by its name, ends the wait by its exception; other
     * ones that have failed are suppressed in that. A failure is kept until a wait that began after
     * the request has thrown it.
     *
     * @throws InterruptedException if interrupted; nothing else changes
     */
    void awaitAll() throws InterruptedException;

    /**
     * As {@link #awaitAll()}, for that long at the most.
     *
     * @param limit how long to wait
     * @return whether all is held; if not, the requests go on
     * @throws InterruptedException if interrupted; nothing else changes
     */
    boolean awaitAll(Duration limit) throws InterruptedException;

    /**
     * Ends the wait for that lock: calls that wait for it end with a {@link java.util.concurrent.CancellationException}
     * ({@link #tryLock} returns false). What a call has returned stays held, also a lock that was to be upgraded, as a
     * reader's. What was granted and not returned goes back.
     *
     * @param name the name of the lock
     * @return whether it was waited for
     */
    boolean cancel(String name);

    /**
     * Goes to the end of that lock's queue, by the user's own wish: whoever waits for it now comes first, and then this
     * transaction is granted it again. A request that waits gives up its place. A lock that is held goes back, <b>also
     * one that the user has been told is held</b>: nothing may be going on under it any more, in any thread, and
     * {@link #awaitAll} waits until it is held again, under another token. Returns at once. It is no deadlock, and does
     * not count as the transaction's giving way.
     *
     * @param name the name of the lock
     * @throws IllegalStateException if it is neither held nor waited for, is being upgraded, or is a lock over nodes
     */
    void surrender(String name);

    /**
     * {@return how it behaves now} With the age that it has by now.
     */
    TransactionOptions options();

    /**
     * Changes how it behaves, while it waits or not. What it does in a deadlock, its priority and its age hold from now
     * on; a deadlock that is being resolved at this moment may still be resolved as before, and if somebody's rank is
     * changed just then two may give way. Options of locks hold for those that are asked for from now on.
     *
     * @param change is given the options of now and returns those that are to be
     * @throws IllegalArgumentException if options of locks are outside the provider's bounds
     */
    void change(UnaryOperator<TransactionOptions> change);

    /**
     * Gives that lock back, before the others. In a transaction of trees what is above it goes back too, unless another
     * lock needs it: that is changed to the mode that is still needed.
     *
     * @param name the name of the lock
     * @return what became of it
     * @throws IllegalStateException if it is not held, is being upgraded, or is above another one of trees
     */
    ReleaseOutcome unlock(String name);

    /**
     * {@return the fencing token of that lock}
     *
     * @param name the name of the lock
     * @throws IllegalStateException if the user cannot know that it is held, since the transaction waits for it or for
     *     more: what it has by then may be surrendered
     * @throws UnsupportedFeatureException if it is a lock over several nodes that need not all grant it: of these only
     *     {@link #tokens} tell who came later
     */
    long token(String name);

    /**
     * {@return the fencing tokens of that lock by the node that gave them} Of a lock without nodes it is the one token,
     * under the empty text. A resource that keeps the highest token of each node, and refuses whoever shows a lower one
     * of any node, refuses each exclusive holder whose successor it has seen: the two have a node in common.
     *
     * @param name the name of the lock
     * @throws IllegalStateException as {@link #token}
     */
    default Map<String, Long> tokens(String name) {
        return Map.of("", token(name));
    }

    /**
     * Returns normally only if all that was asked for is held now. To be called before each effect that the locks
     * protect.
     *
     * @throws IllegalStateException if it waits for something
     * @throws LockUnavailableException if a request has failed, and no call has said so; {@link #awaitAll} does
     */
    void ensureHeld();

    /**
     * Returns normally only if that lock is held now, and a call has returned it or all was held. Whatever else is
     * waited for, and also after a deadlock or the loss of another lock: for a thread that works under this one, or
     * undoes what it did.
     *
     * @param name the name of the lock
     * @throws LeaseLostException if it was lost
     * @throws IllegalStateException if it is not held, or no call has returned it
     */
    void ensureHeld(String name);

    /** {@return how it stands, by the monotonic clock at this call} The answer can be old when it is read. */
    Status status();

    /**
     * {@return a stage that completes once, with the first cause, if a lock is lost of which the user had been told
     * that it was held; never after it was given back} As {@link Lease#lost()}.
     */
    CompletionStage<LeaseLoss> lost();

    /** {@return the deadlocks in which it was, the last 100 of which it heard, in order} For people. */
    List<Deadlock> deadlocks();

    /**
     * {@return what it holds, what it waits for, and who is in the way} Asks the authority of each lock that is waited
     * for, at most {@code requestTimeout}.
     *
     * @throws LockUnavailableException if one gives no answer
     * @throws InterruptedException if interrupted
     */
    TransactionReport explain() throws InterruptedException;

    /**
     * Ends the transaction: it waits for nothing, and gives all its locks back, each within {@code requestTimeout}.
     * Idempotent; never throws.
     */
    @Override
    void close();
}
