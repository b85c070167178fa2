// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.time.Duration;
import java.util.Set;

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
     * {@return the read-write lock of that name}
     *
     * @param name the name of the lock
     * @throws UnsupportedFeatureException without READ_WRITE
     */
    DistributedReadWriteLock readWriteLock(LockName name);

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

    /** {@return the view of all clients' locks} */
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
