// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.spi.TimeSource;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The end of a client, step by step: waiters end, leases and listeners are told, and only then do releases go out, so
 * that nobody works on under a lock that another may have. Its bounds are real time, since threads are real: a client
 * on a manual clock closes too.
 */
final class ClientShutdown {

    private static final Logger LOG = System.getLogger(ClientShutdown.class.getName());

    private final ClientContext client;
    private final @Nullable EventThread eventThread;
    private final TimeSource time;
    private final Duration limit;
    private final CountDownLatch done = new CountDownLatch(1);

    ClientShutdown(ClientContext client, @Nullable EventThread eventThread, TimeSource time, Duration limit) {
        this.client = client;
        this.eventThread = eventThread;
        this.time = time;
        this.limit = limit;
    }

    void close() {
        boolean inside = client.events().isInside();
        if (!client.beginClose()) {
            if (!inside) {
                awaitDone();
            }
            return;
        }
        try {
            each(client.pending().close(), Registry.Node::closeWithClient);
            List<Registry.Node> living = client.leases().close();
            each(living, Registry.Node::closeWithClient);
            if (!client.events().flush(part(3)) && !inside) {
                LOG.log(
                        Level.WARNING,
                        "Listeners of {0} were not notified of everything before it closed",
                        client.name());
            }
            each(living, Registry.Node::giveBack);
            guarded("engine", client.engine());
            client.engineClosed();
            each(living, Registry.Node::endWithClient);
            guarded("questions", client::endQuestions);
            client.events().close();
            if (eventThread != null) {
                eventThread.close(part(2), !inside);
            }
            if (time instanceof AutoCloseable closeable) {
                guarded("clock", closeable);
            }
        } finally {
            done.countDown();
        }
    }

    /**
     * Sixteenths of closeTimeout: of those that may be used up the engine has nine, listeners three, the event thread
     * two.
     */
    private Duration part(int sixteenths) {
        return limit.multipliedBy(sixteenths).dividedBy(16);
    }

    /** One that fails must not keep the others from their end. */
    private void each(List<Registry.Node> all, Consumer<Registry.Node> end) {
        for (Registry.Node one : all) {
            guarded(String.valueOf(one), () -> end.accept(one));
        }
    }

    private void guarded(String part, AutoCloseable closeable) {
        boolean interrupted = Thread.interrupted();
        try {
            closeable.close();
        } catch (InterruptedException e) {
            interrupted = true;
        } catch (Exception | Error e) {
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
