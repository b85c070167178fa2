// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli.load;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Locks;
import io.keyway.lock.peer.MemoryWorld;
import io.keyway.lock.peer.local.HostLauncher;
import io.keyway.lock.tck.process.ClientProcess;
import io.keyway.lock.tck.proxy.FaultProxy;
import io.keyway.lock.tck.proxy.ServerProxies;
import java.io.IOException;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** A client in a scenario: acquires, asks and releases one lock, and can be cut from the servers. */
abstract class Actor implements AutoCloseable {
    /** The token; empty if it was not granted in time. */
    abstract OptionalLong acquire(String name, Duration wait) throws InterruptedException;

    abstract boolean isHeld(String name) throws InterruptedException;

    /** Whether the loss of that lease is told within that time. */
    abstract boolean isToldOfLoss(String name, Duration within) throws InterruptedException;

    abstract void release(String name) throws InterruptedException;

    /** From now on nobody hears it. */
    abstract void cut() throws IOException, InterruptedException;

    /** It is heard again. */
    abstract void heal() throws IOException, InterruptedException;

    /** Whether it can be asked while it is cut. */
    boolean answersWhileCut() {
        return true;
    }

    @Override
    public abstract void close() throws InterruptedException;

    /** In a process of its own; {@code links} is its way to the servers, null if it is stopped where others are cut. */
    static Actor process(LockUrl url, boolean mapped, @Nullable ServerProxies links, String name, Duration ttl)
            throws InterruptedException {
        LockUrl through = links == null ? url : links.through(url, mapped);
        ClientProcess process = ClientProcess.open(HostLauncher.classPath(), through.reveal(), name, ttl);
        return new Actor() {
            @Override
            OptionalLong acquire(String lock, Duration wait) throws InterruptedException {
                return process.acquire(lock, wait);
            }

            @Override
            boolean isHeld(String lock) throws InterruptedException {
                return process.isHeld(lock);
            }

            @Override
            boolean isToldOfLoss(String lock, Duration within) throws InterruptedException {
                return process.loss(lock, within).isPresent();
            }

            @Override
            void release(String lock) throws InterruptedException {
                process.release(lock);
            }

            @Override
            void cut() throws IOException, InterruptedException {
                if (links == null) {
                    process.jvm().stop();
                } else {
                    links.all(FaultProxy::blackHole);
                }
            }

            @Override
            void heal() throws IOException, InterruptedException {
                if (links == null) {
                    process.jvm().cont();
                } else {
                    links.all(FaultProxy::heal);
                }
            }

            @Override
            boolean answersWhileCut() {
                return links != null;
            }

            @Override
            public void close() throws InterruptedException {
                process.close();
                if (links != null) {
                    links.close();
                }
            }
        };
    }

    /** In this process, for locks that no other one sees, and to see what is served from a cache. */
    static Actor inside(LockUrl url, RequestCount count, String name, Duration ttl) {
        ClientOptions options = ClientOptions.defaults()
                .withName(name)
                .withDefaults(LockOptions.none().withTtl(ttl));
        LockClient client = Locks.open(url, options, Actor.class.getClassLoader(), count);
        return new Actor() {
            private @Nullable Lease lease;

            @Override
            OptionalLong acquire(String lock, Duration wait) throws InterruptedException {
                count.beginAcquire();
                Lease got = client.lock(lock).tryAcquire(wait).orElse(null);
                if (got == null) {
                    return OptionalLong.empty();
                }
                lease = got;
                return OptionalLong.of(got.token());
            }

            @Override
            boolean isHeld(String lock) {
                return lease != null && lease.isHeld();
            }

            @Override
            boolean isToldOfLoss(String lock, Duration within) throws InterruptedException {
                try {
                    return lease != null
                            && lease.lost().toCompletableFuture().get(within.toMillis(), TimeUnit.MILLISECONDS) != null;
                } catch (TimeoutException e) {
                    return false;
                } catch (ExecutionException e) {
                    throw new IllegalStateException(e);
                }
            }

            @Override
            void release(String lock) throws InterruptedException {
                if (lease != null) {
                    lease.release();
                }
            }

            @Override
            void cut() {
                client.unwrap(MemoryWorld.class).cut(true);
            }

            @Override
            void heal() {
                client.unwrap(MemoryWorld.class).cut(false);
            }

            @Override
            public void close() {
                client.close();
            }
        };
    }
}
