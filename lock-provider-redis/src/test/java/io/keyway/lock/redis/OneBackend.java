// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.redis.server.RedisServer;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Incarnation;
import io.keyway.lock.spi.Request;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

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
        Attempt attempt = backend.attempt(request, LIMIT);
        assertThat(attempt).isInstanceOf(Attempt.Granted.class);
        return ((Attempt.Granted) attempt).grant();
    }

    void waits(Request request) throws Exception {
        assertThat(backend.attempt(request, LIMIT)).isInstanceOf(Attempt.Waiting.class);
    }

    void release(Grant grant) throws Exception {
        assertThat(backend.release(grant, LIMIT)).isEqualTo(Answer.DONE);
    }

    /** How often the server was asked that, by scripts too. */
    static int calls(RedisServer server, String command) {
        Matcher calls = Pattern.compile("cmdstat_" + command + ":calls=(\\d+),")
                .matcher(server.ask("INFO", "commandstats").toString());
        return calls.find() ? Integer.parseInt(calls.group(1)) : 0;
    }

    @Override
    public void close() throws InterruptedException {
        backend.close();
        signals.close();
    }
}
