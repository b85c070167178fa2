// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import static io.keyway.lock.redis.OneBackend.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.redis.server.RedisServer;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Request;
import io.keyway.lock.tck.process.Patience;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who is kept out by a place that is kept for nobody, and who is not. */
class KeptNamesTest {
    private static final Duration SHORT = Duration.ofMillis(500);
    private static final Duration LONG = Duration.ofMinutes(5);

    private RedisServer server;
    private OneBackend client;
    private RedisBackend backend;

    @BeforeEach
    void open(@TempDir Path directory) throws Exception {
        server = RedisServer.start(directory);
        client = new OneBackend(server);
        backend = client.backend;
    }

    @AfterEach
    void close() throws Exception {
        client.close();
        server.close();
    }

    /** It dies while it waits: nobody has ever believed in what it would be granted. */
    @Test
    void nothingIsKeptForAWaiterThatDied() throws Exception {
        Grant held = client.granted(lock(1, LONG, Duration.ZERO));
        assertThat(backend.attempt(lock(2, SHORT, LONG), LIMIT)).isInstanceOf(Attempt.Waiting.class);

        assertThat(backend.release(held, LIMIT)).isEqualTo(Answer.DONE);

        Request next = lock(3, LONG, Duration.ZERO);
        await().atMost(Patience.of(LIMIT)).until(() -> backend.attempt(next, LIMIT) instanceof Attempt.Granted);
    }

    @Test
    void whoeverFitsIsWokenThoughTheReleaseThatNoticesKeepsItsOwnPlace() throws Exception {
        // The first one has to hold until the third one asks, however slow the machine is.
        Duration term = SHORT;
        Grant held = null;
        LockKey key = LockKey.semaphore(LockName.of("a"));
        for (long id = 1; held == null; id += 3) {
            client.granted(permit(id, term, Duration.ZERO));
            Grant second = client.granted(permit(id + 1, LONG, LONG));
            if (backend.attempt(permit(id + 2, LONG, LONG), LIMIT) instanceof Attempt.Waiting) {
                held = second;
            } else {
                term = term.multipliedBy(2);
                server.ask("FLUSHALL");
            }
        }
        long waits = held.id() + 1;
        await().atMost(Patience.of(LIMIT))
                .until(() -> backend.show(key, LIMIT).orElseThrow().holders().size() == 1);
        client.signals.heard.clear();

        assertThat(backend.keep(held, LIMIT)).isEqualTo(Answer.DONE);

        await().atMost(Patience.of(LIMIT)).until(() -> client.signals.heard.contains("recheck " + key + " " + waits));
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
