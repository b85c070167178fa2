// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.UnifiedJedis;

/** The driver's own client, with connections of its own: made when it is first asked for. */
final class LazyDriver<C extends UnifiedJedis> implements AutoCloseable {

    private final Class<C> kind;
    private final Supplier<C> maker;
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable C made;

    LazyDriver(Class<C> kind, Supplier<C> maker) {
        this.kind = kind;
        this.maker = maker;
    }

    /** Returns it if it is of that type, which is Jedis's. */
    <T> Optional<T> unwrap(Class<T> type) {
        if (!UnifiedJedis.class.isAssignableFrom(type) || !type.isAssignableFrom(kind)) {
            return Optional.empty();
        }
        lock.lock();
        try {
            C client = made;
            if (client == null) {
                client = maker.get();
                made = client;
            }
            return Optional.of(type.cast(client));
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        lock.lock();
        try {
            if (made != null) {
                made.close();
            }
        } finally {
            lock.unlock();
        }
    }
}
