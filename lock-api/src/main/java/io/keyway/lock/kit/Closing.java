// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.spi.TimeSource;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The end of a client, step by step: waiters end, leases and listeners are told, and only then do releases go out, so
 * that nobody works on under a lock that another may have. Its bounds are real time, since threads are real: a client
 * on a manual clock closes too.
 */
final class Closing {

    private static final Logger LOG = System.getLogger(Closing.class.getName());

    private final EngineClient client;
    private final @Nullable EventThread eventThread;
    private final TimeSource time;
    private final Duration limit;
    private final AtomicBoolean begun = new AtomicBoolean();
    private final CountDownLatch done = new CountDownLatch(1);

    Closing(EngineClient client, @Nullable EventThread eventThread, TimeSource time, Duration limit) {
        this.client = client;
        this.eventThread = eventThread;
        this.time = time;
        this.limit = limit;
    }

    boolean begun() {
        return begun.get();
    }

    void close() {
        boolean inside = client.events().isInside();
        if (!begun.compareAndSet(false, true)) {
            if (!inside) {
                awaitDone();
            }
            return;
        }
        try {
            client.pending().close().forEach(PendingAcquire::closeWithClient);
            List<HeldLease> living = client.leases().close();
            living.forEach(HeldLease::closeWithClient);
            if (!client.events().flush(limit.dividedBy(4)) && !inside) {
                LOG.log(Level.WARNING, "Listeners of {0} were not told everything before it closed", client.name());
            }
            living.forEach(Closing::giveBack);
            guarded("engine", client.engine());
            client.events().close();
            if (eventThread != null) {
                eventThread.close(limit.dividedBy(4), !inside);
            }
            if (time instanceof AutoCloseable closeable) {
                guarded("clock", closeable);
            }
        } finally {
            done.countDown();
        }
    }

    private static void giveBack(HeldLease lease) {
        try {
            lease.giveBack();
        } catch (RuntimeException e) {
            LOG.log(Level.WARNING, "Could not release " + lease.key() + "; it expires", e);
        }
    }

    private void guarded(String part, AutoCloseable closeable) {
        boolean interrupted = Thread.interrupted();
        try {
            closeable.close();
        } catch (InterruptedException e) {
            interrupted = true;
        } catch (Exception e) {
            LOG.log(Level.WARNING, "Closing the " + part + " of " + client.name() + " failed", e);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** A second caller returns when the first does, so that for it, too, no thread of ours is left. */
    private void awaitDone() {
        boolean interrupted = false;
        try {
            if (!done.await(limit.toNanos(), TimeUnit.NANOSECONDS)) {
                LOG.log(Level.WARNING, "Closing {0} takes longer than closeTimeout", client.name());
            }
        } catch (InterruptedException e) {
            interrupted = true;
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
