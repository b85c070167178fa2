// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import io.keyway.lock.spi.ClientServices;
import java.time.Duration;
import java.util.Collection;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * A connection to a coordination store or to peers; opened by {@link Locks}, thread-safe, made to be kept: one for a
 * program, for as long as it runs.
 *
 * <p>The views that it gives (locks, semaphores, {@link #admin()}) cost nothing and hold nothing. A view is refused
 * with {@link IllegalArgumentException} if the ttl of the client's options or URL is outside the provider's bounds.
 *
 * <p>Any method but {@link #close()}, {@link #name()} and {@link #url()} throws {@link ClientClosedException} once the
 * client is closed.
 */
public interface LockClient extends AutoCloseable {

    /** {@return the name by which others see this client; {@code user@host:pid} unless set} */
    String name();

    /** {@return the URL that it was opened with} */
    LockUrl url();

    /** {@return what the provider offers, as opened} */
    Set<Feature> features();

    /** {@return what the provider promises, as opened} */
    Guarantees guarantees();

    /**
     * {@return the lock of that name}
     *
     * @param name the name of the lock
     * @throws IllegalArgumentException if it is not a name, see {@link LockName#of(String)}
     */
    default DistributedLock lock(String name) {
        return lock(LockName.of(name));
    }

    /**
     * {@return the lock of that name}
     *
     * @param name the name of the lock
     */
    DistributedLock lock(LockName name);

    /**
     * {@return the read-write lock of that name}
     *
     * @param name the name of the lock
     * @throws IllegalArgumentException if it is not a name, see {@link LockName#of(String)}
     * @throws UnsupportedFeatureException without READ_WRITE
     */
    default DistributedReadWriteLock readWriteLock(String name) {
        return readWriteLock(LockName.of(name));
    }

    /**
     * {@return the lock of that name over several nodes, see {@link #lock(LockName, NodeSet)}}
     *
     * @param name the name of the lock
     * @param nodes the members that have to grant it, and how many of them
     * @throws IllegalArgumentException if it is not a name, see {@link LockName#of(String)}
     * @throws UnsupportedFeatureException without NODE_SETS
     */
    default DistributedLock lock(String name, NodeSet nodes) {
        return lock(LockName.of(name), nodes);
    }

    /**
     * {@return the lock of that name that is granted by a majority of the nodes, or by all} With a majority it goes on
     * while a minority of them is away. It is the lock that {@link LockRequest} names by the same nodes in a
     * {@linkplain #transaction() transaction}, and another one than {@link #lock(LockName)}.
     *
     * <p>Its lease has one token, which rises over all holders that came by this method: when the nodes have granted,
     * each of them is asked to go on above the highest of its tokens, which costs one more message to each. With a
     * majority the other nodes are asked as well when it is held, and a node whose part was lost is asked again: the
     * lease is believed as long as that of a majority is. It is lost when fewer are left, or an operator breaks one.
     *
     * <p>Whoever waits for it waits for nodes that are away, too. {@link DistributedLock#tryAcquire()} is answered when
     * a majority cannot be had at once.
     *
     * @param name the name of the lock; of at most 15 segments
     * @param nodes the members that have to grant it, and how many of them; all who use the name state the same ones
     * @throws IllegalArgumentException if the rule is ANY, which would grant it to several
     * @throws UnsupportedFeatureException without NODE_SETS
     */
    default DistributedLock lock(LockName name, NodeSet nodes) {
        throw new UnsupportedFeatureException(Feature.NODE_SETS, url().toString());
    }

    /**
     * {@return the read-write lock of that name}
     *
     * @param name the name of the lock
     * @throws UnsupportedFeatureException without READ_WRITE
     */
    DistributedReadWriteLock readWriteLock(LockName name);

    /**
     * {@return the read-write lock of that name, whose writer does to readers what that policy says}
     *
     * @param name the name of the lock
     * @param policy of {@link DistributedReadWriteLock#write}; readers and upgrades do not know it
     * @throws IllegalArgumentException if it is not a name, see {@link LockName#of(String)}
     * @throws UnsupportedFeatureException without READ_WRITE, or with a soft policy and without DRAIN
     */
    default DistributedReadWriteLock readWriteLock(String name, WriterPolicy policy) {
        return readWriteLock(LockName.of(name), policy);
    }

    /**
     * {@return the read-write lock of that name, whose writer does to readers what that policy says} A soft writer is
     * asked for with a time limit: {@link DistributedLock#acquire} and {@link DistributedLock#acquireAsync} of it throw
     * {@link UnsupportedOperationException} and send nothing.
     *
     * @param name the name of the lock
     * @param policy of {@link DistributedReadWriteLock#write}; readers and upgrades do not know it
     * @throws UnsupportedFeatureException without READ_WRITE, or with a soft policy and without DRAIN
     */
    DistributedReadWriteLock readWriteLock(LockName name, WriterPolicy policy);

    /**
     * {@return the lock of that name and of all names below it, see {@link #tree(LockName)}}
     *
     * @param name a path of 1 to 16 segments
     * @throws IllegalArgumentException if it is not a name, see {@link LockName#of(String)}
     * @throws UnsupportedFeatureException without TREE
     */
    default DistributedReadWriteLock tree(String name) {
        return tree(LockName.of(name));
    }

    /**
     * {@return the lock of that name and of all names below it: its writer excludes whoever has a lock of a tree at,
     * below or above that name, and its readers exclude such writers} Whoever has one beside it, as {@code a/c} is
     * beside {@code a/b}, is not excluded. Its lease ends if the grant of any of its levels does; its token is that of
     * its name, and rises over the grants of that name.
     *
     * <p>A name is flat or of a tree: as long as a lock of one kind is held, waited for or kept in a client's cache,
     * whoever asks for the other kind is refused with a {@link LockUnavailableException} that is not retryable, or
     * waits; they never stand beside each other. A flat lock and a lock of a tree of different names do not know of
     * each other.
     *
     * <p>Change its mode in a {@linkplain TransactionOptions#withTree transaction of trees}: {@code tryUpgrade} and
     * {@code downgrade} throw {@link UnsupportedFeatureException}. Whoever holds one lock of a tree and waits for
     * another should have both in one such transaction, too: a third who waits for a name above both would be waited
     * for.
     *
     * @param name a path of 1 to 16 segments
     * @throws UnsupportedFeatureException without TREE
     */
    default DistributedReadWriteLock tree(LockName name) {
        throw new UnsupportedFeatureException(Feature.TREE, url().toString());
    }

    /**
     * {@return the semaphore of that name}
     *
     * @param name the name of the semaphore
     * @param capacity how many permits there are, in the view of this caller; asked once for each call
     * @throws IllegalArgumentException if it is not a name, see {@link LockName#of(String)}
     * @throws UnsupportedFeatureException without SEMAPHORE
     */
    default DistributedSemaphore semaphore(String name, Capacity capacity) {
        return semaphore(LockName.of(name), capacity);
    }

    /**
     * {@return the semaphore of that name}
     *
     * @param name the name of the semaphore
     * @param capacity how many permits there are, in the view of this caller; asked once for each call
     * @throws UnsupportedFeatureException without SEMAPHORE
     */
    DistributedSemaphore semaphore(LockName name, Capacity capacity);

    /**
     * {@return several locks that are held all together or not at all}
     *
     * @param names the names of the locks, in any order: 1 to {@value LockSet#MAX_NAMES}, each once
     * @throws IllegalArgumentException if one is not a name, see {@link LockName#of(String)}, if there is none, one
     *     twice, or too many
     */
    default LockSet locks(String... names) {
        return locks(Stream.of(names).map(LockName::of).toList());
    }

    /**
     * {@return several locks that are held all together or not at all}
     *
     * @param names the names of the locks, in any order: 1 to {@value LockSet#MAX_NAMES}, each once
     * @throws IllegalArgumentException if there is none, one twice, or too many
     */
    default LockSet locks(Collection<LockName> names) {
        return SortedLocks.of(this::lock, unwrap(ClientServices.class), names);
    }

    /**
     * {@return the election of that name, over the lock of that name}
     *
     * @param name the name of the election
     * @throws IllegalArgumentException if it is not a name, see {@link LockName#of(String)}, or too long
     */
    default Election election(String name) {
        return election(LockName.of(name));
    }

    /**
     * {@return the election of that name, over the lock of that name}
     *
     * @param name the name of the election; at most 500 bytes of UTF-8
     * @throws IllegalArgumentException if it is too long
     */
    default Election election(LockName name) {
        return FencedElection.of(this, name);
    }

    /**
     * {@return a transaction with the usual options, which holds nothing yet}
     *
     * @throws UnsupportedFeatureException without TRANSACTIONS
     */
    default LockTransaction transaction() {
        return transaction(TransactionOptions.defaults());
    }

    /**
     * {@return a transaction, which holds nothing yet}
     *
     * @param options how it is to behave
     * @throws UnsupportedFeatureException without TRANSACTIONS
     * @throws IllegalArgumentException if the options of its locks are outside the provider's bounds
     */
    default LockTransaction transaction(TransactionOptions options) {
        throw new UnsupportedFeatureException(Feature.TRANSACTIONS, url().toString());
    }

    /** {@return the view of all clients' locks} */
    LockAdmin admin();

    /**
     * Watches the lock of that name, as {@link #watch(LockKey, Consumer)}.
     *
     * @param name the name of the lock
     * @param listener who is told
     * @return how to end it
     * @throws IllegalArgumentException if it is not a name, see {@link LockName#of(String)}
     * @throws UnsupportedFeatureException without LIST
     */
    default Subscription watch(String name, Consumer<LockSnapshot> listener) {
        return watch(LockKey.lock(name), listener);
    }

    /**
     * Tells who holds a lock or semaphore and who waits for it: at once, and again when that has changed, until the
     * subscription or the client is closed. What the authority does not tell by itself is asked for each second.
     *
     * @param key which one
     * @param listener is told each snapshot on the event executor, one at a time; see
     *     {@link #watch(LockKey, Duration, Consumer)}
     * @return how to end it
     * @throws UnsupportedFeatureException without LIST
     */
    default Subscription watch(LockKey key, Consumer<LockSnapshot> listener) {
        return watch(key, QueueWatch.EVERY, listener);
    }

    /**
     * Tells who holds a lock or semaphore and who waits for it: at once, and again when that has changed, until the
     * subscription or the client is closed. Snapshots never go back, also after a restart of the authority, and may be
     * merged: whoever listens slowly is told the newest. Nothing is told before the first answer. When the authority
     * does not answer any more, that is told once, see {@link LockSnapshot#certain}, and so is the first answer after
     * that. Rules LK-1107 to LK-1109.
     *
     * <p>A lock that changes all the time is asked for each 20 ms at the most. Which servers come and go is told by
     * {@link #addListener}: {@link LockEvent.Type#CONNECTED} and {@link LockEvent.Type#DISCONNECTED}.
     *
     * @param key which one
     * @param every how long a change may stay unseen if the authority does not tell it: within a quarter more, and the
     *     time of an answer. The native lease service tells what its member knows: all but what happens within one
     *     client, as when a lock goes from one thread to another or into that client's cache. Other providers tell
     *     nothing by themselves, so that they are asked that often
     * @param listener is told on the event executor, one snapshot at a time; what it throws is logged
     * @return how to end it
     * @throws UnsupportedFeatureException without LIST
     * @throws IllegalArgumentException if {@code every} is not positive
     */
    default Subscription watch(LockKey key, Duration every, Consumer<LockSnapshot> listener) {
        Objects.requireNonNull(key, "key");
        Objects.requireNonNull(listener, "listener");
        if (every.isNegative() || every.isZero()) {
            throw new IllegalArgumentException(
                    "A watcher of " + key.name() + " asks after more than no time, not " + every);
        }
        if (!features().contains(Feature.LIST)) {
            throw new UnsupportedFeatureException(Feature.LIST, url().toString());
        }
        return QueueWatch.begin(unwrap(ClientServices.class), key, every, listener);
    }

    /**
     * Asks the store something that takes no lock and waits for its answer, at most {@code requestTimeout}: whether
     * locks can be reached. Of a cluster it asks one member, of several servers one.
     *
     * @return how long the answer took
     * @throws LockUnavailableException if none came
     * @throws UnsupportedFeatureException without LIST
     * @throws InterruptedException if interrupted
     */
    default Duration ping() throws InterruptedException {
        long begun = System.nanoTime();
        admin().show(LockKey.lock("keyway/ping"));
        return Duration.ofNanos(System.nanoTime() - begun);
    }

    /**
     * Registers a listener for what happens to this client's locks and connections. It hears of what happens from now
     * on, until the registration is closed or the client is.
     *
     * @param listener who is told
     * @return how to end the registration
     */
    Subscription addListener(LockListener listener);

    /**
     * {@return something of the provider's own}
     *
     * @param <T> the type that is looked for
     * @param type the class to look for, such as the driver's
     * @throws IllegalArgumentException if it has nothing of that type
     */
    <T> T unwrap(Class<T> type);

    /**
     * Ends the client, within {@code closeTimeout}; idempotent. New calls are refused, waiters end with
     * {@link ClientClosedException}, each held lease becomes LOST with CLIENT_CLOSED and is told so before its release
     * is sent, threads are joined. What could not be sent expires at the authority. Rules LK-1001 to LK-1006.
     */
    @Override
    void close();
}
