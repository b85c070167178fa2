// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.LockClient;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.LockEngine;
import io.keyway.lock.spi.OpenRequest;

/** Builds clients. */
public final class Kit {
    private Kit() {}

    /**
     * Returns the client that stands on that engine; it closes {@code request.time()} last, if that is AutoCloseable.
     */
    public static LockClient open(OpenRequest request, LockEngine engine) {
        return EngineClient.open(request, engine);
    }

    /**
     * Returns the client that stands on that backend; it closes {@code request.time()} last, if that is AutoCloseable.
     */
    public static LockClient open(OpenRequest request, LockBackend backend) {
        Workers workers = request.time().manual() ? new InlineWorkers() : new WorkerThreads(request.clientName());
        StoreEngine engine = new StoreEngine(request, backend, workers);
        try {
            engine.connect();
        } catch (RuntimeException e) {
            engine.close();
            throw e;
        }
        return EngineClient.open(request, engine);
    }
}
