// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import io.keyway.lock.DistributedLock;
import io.keyway.lock.DistributedSemaphore;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import java.time.Duration;
import java.util.Optional;

/** What a run wants to hold: the lock, a share of it, or permits of the semaphore of that name. */
interface LockRequest {
    LockKey key();

    Lease acquire() throws InterruptedException;

    Optional<Lease> tryAcquire(Duration wait) throws InterruptedException;

    static LockRequest exclusive(LockClient client, LockName name, LockOptions options) {
        return of(client.lock(name).with(options));
    }

    static LockRequest shared(LockClient client, LockName name, LockOptions options) {
        return of(client.readWriteLock(name).read().with(options));
    }

    static LockRequest permits(LockClient client, LockName name, Permits permits, LockOptions options) {
        DistributedSemaphore semaphore =
                client.semaphore(name, permits.capacity()).with(options);
        return new LockRequest() {
            @Override
            public LockKey key() {
                return LockKey.semaphore(name);
            }

            @Override
            public Lease acquire() throws InterruptedException {
                return semaphore.acquire(permits.count());
            }

            @Override
            public Optional<Lease> tryAcquire(Duration wait) throws InterruptedException {
                return semaphore.tryAcquire(permits.count(), wait);
            }
        };
    }

    private static LockRequest of(DistributedLock lock) {
        return new LockRequest() {
            @Override
            public LockKey key() {
                return LockKey.lock(lock.name());
            }

            @Override
            public Lease acquire() throws InterruptedException {
                return lock.acquire();
            }

            @Override
            public Optional<Lease> tryAcquire(Duration wait) throws InterruptedException {
                return lock.tryAcquire(wait);
            }
        };
    }
}
