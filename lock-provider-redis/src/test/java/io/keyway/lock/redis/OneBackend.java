// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.redis.server.RedisServer;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Incarnation;
import io.keyway.lock.spi.Request;
import java.time.Duration;

/** A backend on one server, and what it signals; without a client above it. */
final class OneBackend implements AutoCloseable {
    /** For what happens soon. */
    static final Duration LIMIT = Duration.ofSeconds(20);

    final HeardSignals signals = new HeardSignals();
    final Incarnation client = Incarnation.draw();
    final RedisBackend backend;

    /** Connects to that server. */
    OneBackend(RedisServer server) throws Exception {
        this(server.url());
    }

    /** Connects by that URL. */
    OneBackend(String url) throws Exception {
        RedisSettings settings = TestSettings.of(url, LIMIT);
        backend = new RedisBackend(new SingleLink(settings), settings, RedisGuarantees.single());
        backend.start(signals, client);
    }

    /** Attempts what must be granted. */
    Grant granted(Request request) throws Exception {
        return ((Attempt.Granted) backend.attempt(request, LIMIT)).grant();
    }

    @Override
    public void close() throws InterruptedException {
        backend.close();
        signals.close();
    }
}
