// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.AddressMap;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Requirements;
import io.keyway.lock.redis.server.RedisServer;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Incarnation;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Request;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who is kept out by a place that is kept for nobody, and who is not. */
class KeptNamesTest {
    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final Duration SHORT = Duration.ofMillis(500);
    private static final Duration LONG = Duration.ofMinutes(5);
    private static final RedisSettings SETTINGS =
            new RedisSettings(null, null, 0, null, AddressMap.NONE, 8, "keyway:", 0, "kept", LIMIT, null, null);

    private HeardSignals signals;
    private RedisServer server;
    private RedisBackend backend;

    @BeforeEach
    void open(@TempDir Path directory) throws Exception {
        server = RedisServer.start(directory);
        signals = new HeardSignals();
        LockUrl url = LockUrl.parse(server.url());
        backend = new RedisBackend(
                new SingleLink(url.hosts().get(0), SETTINGS),
                SETTINGS,
                RedisGuarantees.single(),
                new ServerCheck(url, Requirements.NONE));
        backend.start(signals, Incarnation.draw());
    }

    @AfterEach
    void close() throws Exception {
        signals.close();
        backend.close();
        server.close();
    }

    /** It dies while it waits: nobody has ever believed in what it would be granted. */
    @Test
    void nothingIsKeptForAWaiterThatDied() throws Exception {
        Grant held = granted(lock(1, LONG, Duration.ZERO));
        assertThat(backend.attempt(lock(2, SHORT, LONG), LIMIT)).isInstanceOf(Attempt.Waiting.class);

        assertThat(backend.release(held, LIMIT)).isEqualTo(Answer.DONE);

        Request next = lock(3, LONG, Duration.ZERO);
        await().atMost(LIMIT).until(() -> backend.attempt(next, LIMIT) instanceof Attempt.Granted);
    }

    @Test
    void whoeverFitsIsWokenThoughTheReleaseThatNoticesKeepsItsOwnPlace() throws Exception {
        granted(permit(1, SHORT, Duration.ZERO));
        Grant held = granted(permit(2, LONG, LONG));
        assertThat(backend.attempt(permit(3, LONG, Duration.ZERO), LIMIT)).isInstanceOf(Attempt.Waiting.class);
        LockKey key = held.key();
        await().atMost(LIMIT)
                .until(() -> backend.show(key, LIMIT).orElseThrow().holders().size() == 1);
        signals.heard.clear();

        assertThat(backend.keep(held, LIMIT)).isEqualTo(Answer.DONE);

        await().atMost(LIMIT).until(() -> signals.heard.contains("recheck " + key + " 3"));
    }

    private Grant granted(Request request) throws Exception {
        return ((Attempt.Granted) backend.attempt(request, LIMIT)).grant();
    }

    private static Request lock(long id, Duration ttl, Duration holdAtLeast) {
        LockKey key = LockKey.lock(LockName.of("a"));
        return new Request(id, key, LockMode.EXCLUSIVE, 1, 1, ttl, true, new Owner("a", Map.of()), holdAtLeast);
    }

    private static Request permit(long id, Duration ttl, Duration holdAtLeast) {
        LockKey key = LockKey.semaphore(LockName.of("a"));
        return new Request(id, key, LockMode.PERMITS, 1, 2, ttl, true, new Owner("a", Map.of()), holdAtLeast);
    }
}
