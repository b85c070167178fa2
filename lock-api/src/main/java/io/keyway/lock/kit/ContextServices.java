// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.ClientClosedException;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockStatus;
import io.keyway.lock.Subscription;
import io.keyway.lock.spi.ClientServices;
import io.keyway.lock.spi.TimeSource;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** What a client has, for those who build over it. */
final class ContextServices implements ClientServices {
    private final ClientContext client;

    ContextServices(ClientContext client) {
        this.client = client;
    }

    @Override
    public TimeSource time() {
        return client.time();
    }

    @Override
    public <T> CompletableFuture<T> future() {
        return ClockedFuture.on(client.time());
    }

    @Override
    public void tell(Runnable task) {
        client.events().complete(task);
    }

    @Override
    public boolean tellsHere() {
        return client.events().isInside();
    }

    @Override
    public Subscription onClose(Runnable task) {
        Ending ending = new Ending(task);
        if (!client.pending().add(ending)) {
            task.run();
        }
        return () -> client.pending().remove(ending);
    }

    /** Something that ends with the client. */
    private static final class Ending extends Registry.Node {
        private final Runnable task;

        Ending(Runnable task) {
            this.task = task;
        }

        @Override
        int hash() {
            return System.identityHashCode(this);
        }

        @Override
        void closeWithClient() {
            task.run();
        }
    }

    @Override
    public CompletionStage<Optional<LockStatus>> show(LockKey key) {
        if (client.closed()) {
            return CompletableFuture.failedStage(new ClientClosedException(client.name(), key.name()));
        }
        return client.engine().show(key, client.requestTimeout());
    }

    @Override
    public Optional<CompletionStage<Long>> change(LockKey key, long known, Duration limit) {
        return client.closed() ? Optional.empty() : client.engine().change(key, known, limit);
    }
}
