// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.LockClient;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.LockEngine;

/** Builds clients. */
public final class Kit {
    private Kit() {}

    /** {@return the client that stands on that engine; it closes the clock last, if that can be closed} */
    public static LockClient open(Settings settings, LockEngine engine) {
        return EngineClient.open(settings, engine);
    }

    /** {@return the client that stands on that backend; it closes the clock last, if that can be closed} */
    public static LockClient open(Settings settings, LockBackend backend) {
        Workers workers = settings.time().manual() ? new InlineWorkers() : new WorkerThreads(settings.name());
        StoreEngine engine = new StoreEngine(settings, backend, workers);
        try {
            engine.connect();
        } catch (RuntimeException e) {
            engine.close();
            throw e;
        }
        return EngineClient.open(settings, engine);
    }
}
