// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.time.Duration;
import java.util.Set;

/**
 * A connection to a coordination store or to peers; opened by {@link Locks}, thread-safe, made to be kept.
 *
 * <p>Any method but {@link #close()}, {@link #name()} and {@link #url()} throws {@link ClientClosedException} once the
 * client is closed.
 */
public interface LockClient extends AutoCloseable {

    /** Returns the name by which others see this client; {@code user@host:pid} unless set. */
    String name();

    /** Returns the URL that it was opened with. */
    LockUrl url();

    /** Returns what the provider offers, as opened. */
    Set<Feature> features();

    /** Returns what the provider promises, as opened. */
    Guarantees guarantees();

    /**
     * Returns the lock of that name.
     *
     * @throws IllegalArgumentException if it is not a name, see {@link LockName#of(String)}
     */
    default DistributedLock lock(String name) {
        return lock(LockName.of(name));
    }

    /** Returns the lock of that name. */
    DistributedLock lock(LockName name);

    /**
     * Returns the read-write lock of that name.
     *
     * @throws IllegalArgumentException if it is not a name, see {@link LockName#of(String)}
     * @throws UnsupportedFeatureException without READ_WRITE
     */
    default DistributedReadWriteLock readWriteLock(String name) {
        return readWriteLock(LockName.of(name));
    }

    /**
     * Returns the read-write lock of that name.
     *
     * @throws UnsupportedFeatureException without READ_WRITE
     */
    DistributedReadWriteLock readWriteLock(LockName name);

    /**
     * Returns the semaphore of that name.
     *
     * @throws IllegalArgumentException if it is not a name, see {@link LockName#of(String)}
     * @throws UnsupportedFeatureException without SEMAPHORE
     */
    default DistributedSemaphore semaphore(String name, Capacity capacity) {
        return semaphore(LockName.of(name), capacity);
    }

    /**
     * Returns the semaphore of that name.
     *
     * @throws UnsupportedFeatureException without SEMAPHORE
     */
    DistributedSemaphore semaphore(LockName name, Capacity capacity);

    /** Returns the view of all clients' locks. */
    LockAdmin admin();

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

    /** Registers a listener for what happens to this client's locks and connections. */
    Subscription addListener(LockListener listener);

    /**
     * Returns something of the provider's own.
     *
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
