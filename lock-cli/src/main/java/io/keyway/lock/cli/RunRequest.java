// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import io.keyway.lock.DistributedLock;
import io.keyway.lock.DistributedReadWriteLock;
import io.keyway.lock.DistributedSemaphore;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockSet;
import io.keyway.lock.WriterPolicy;
import io.keyway.lock.spi.TreeModes;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** What a run wants to hold: a lock, a share of it, permits of the semaphore of that name, or several locks at once. */
interface RunRequest {
    /** The locks, or the semaphore. */
    List<LockKey> keys();

    /** A request waits for one of these at a time: the keys, and, if names are trees, the levels above them. */
    default List<LockKey> waits() {
        Set<LockKey> all = new LinkedHashSet<>(keys());
        for (LockKey key : keys()) {
            if (key.kind() == LockKey.Kind.LOCK) {
                TreeModes.levels(key.name()).forEach(level -> all.add(LockKey.lock(level)));
            }
        }
        return List.copyOf(all);
    }

    HeldLocks acquire() throws InterruptedException;

    Optional<HeldLocks> tryAcquire(Duration wait) throws InterruptedException;

    static RunRequest exclusive(LockClient client, LockName name, LockOptions options) {
        return of(client.lock(name).with(options));
    }

    static RunRequest shared(LockClient client, LockName name, LockOptions options) {
        return of(client.readWriteLock(name).read().with(options));
    }

    /** The lock of that name and of all below it. */
    static RunRequest tree(LockClient client, LockName name, boolean shared, LockOptions options) {
        DistributedReadWriteLock both = client.tree(name);
        return of((shared ? both.read() : both.write()).with(options));
    }

    /** The writer of the lock, with that policy. */
    static RunRequest draining(LockClient client, LockName name, WriterPolicy policy, LockOptions options) {
        return of(client.readWriteLock(name, policy).write().with(options));
    }

    static RunRequest permits(LockClient client, LockName name, Permits permits, LockOptions options) {
        DistributedSemaphore semaphore =
                client.semaphore(name, permits.capacity()).with(options);
        return new RunRequest() {
            @Override
            public List<LockKey> keys() {
                return List.of(LockKey.semaphore(name));
            }

            @Override
            public HeldLocks acquire() throws InterruptedException {
                return HeldLocks.of(semaphore.acquire(permits.count()));
            }

            @Override
            public Optional<HeldLocks> tryAcquire(Duration wait) throws InterruptedException {
                return semaphore.tryAcquire(permits.count(), wait).map(HeldLocks::of);
            }
        };
    }

    /** All of them or none. */
    static RunRequest several(LockClient client, List<LockName> names, LockOptions options) {
        LockSet locks = client.locks(names).with(options);
        return new RunRequest() {
            @Override
            public List<LockKey> keys() {
                return locks.names().stream().map(LockKey::lock).toList();
            }

            @Override
            public HeldLocks acquire() throws InterruptedException {
                return HeldLocks.of(locks.acquire());
            }

            @Override
            public Optional<HeldLocks> tryAcquire(Duration wait) throws InterruptedException {
                return locks.tryAcquire(wait).map(HeldLocks::of);
            }
        };
    }

    private static RunRequest of(DistributedLock lock) {
        return new RunRequest() {
            @Override
            public List<LockKey> keys() {
                return List.of(LockKey.lock(lock.name()));
            }

            @Override
            public HeldLocks acquire() throws InterruptedException {
                return HeldLocks.of(lock.acquire());
            }

            @Override
            public Optional<HeldLocks> tryAcquire(Duration wait) throws InterruptedException {
                return lock.tryAcquire(wait).map(HeldLocks::of);
            }
        };
    }
}
