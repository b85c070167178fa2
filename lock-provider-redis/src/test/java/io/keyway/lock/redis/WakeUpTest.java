// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;

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
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whoever asked too early is told when his turn has come, whatever other requests of his client are doing. */
class WakeUpTest {
    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final LockKey PERMITS = LockKey.semaphore(LockName.of("a"));
    private static final LockKey LOCK = LockKey.lock(LockName.of("a"));

    @AutoClose
    private static RedisServer server;

    private HeardSignals signals;
    private RedisBackend backend;

    @BeforeAll
    static void startTheServer(@TempDir Path directory) throws Exception {
        server = RedisServer.start(directory);
    }

    @BeforeEach
    void open() throws Exception {
        server.ask("FLUSHALL");
        server.ask("CONFIG", "RESETSTAT");
        signals = new HeardSignals();
        LockUrl url = LockUrl.parse(server.url());
        RedisSettings settings =
                new RedisSettings(null, null, 0, null, AddressMap.NONE, 8, "keyway:", 0, "a", LIMIT, null, null);
        backend = new RedisBackend(
                new SingleLink(url.hosts().get(0), settings),
                settings,
                RedisGuarantees.single(),
                new ServerCheck(url, Requirements.NONE));
        backend.start(signals, Incarnation.draw());
    }

    @AfterEach
    void close() throws Exception {
        backend.close();
        signals.close();
    }

    @Test
    void oneThatAskedAfterAnotherOfItsClientWasToldIsToldToo() throws Exception {
        Grant one = granted(permit(1));
        Grant two = granted(permit(2));
        waits(permit(3));
        waits(permit(4));
        release(one);
        assertMessages(1);
        // Not yet its turn: the one before has been told, and has not asked.
        waits(permit(4));
        release(two);
        assertMessages(2);
        granted(permit(3));
        granted(permit(4));
    }

    @Test
    void anotherOfTheClientThatLeavesRoomIsTold() throws Exception {
        Grant writer = granted(lock(1, LockMode.EXCLUSIVE));
        waits(lock(2, LockMode.SHARED));
        assertThat(backend.convert(writer, lock(3, LockMode.SHARED), LIMIT)).isInstanceOf(Attempt.Granted.class);
        assertMessages(1);
        granted(lock(2, LockMode.SHARED));
    }

    private Grant granted(Request request) throws Exception {
        Attempt attempt = backend.attempt(request, LIMIT);
        assertThat(attempt).isInstanceOf(Attempt.Granted.class);
        return ((Attempt.Granted) attempt).grant();
    }

    private void waits(Request request) throws Exception {
        assertThat(backend.attempt(request, LIMIT)).isInstanceOf(Attempt.Waiting.class);
    }

    private void release(Grant grant) throws Exception {
        assertThat(backend.release(grant, LIMIT)).isEqualTo(Answer.DONE);
    }

    private static void assertMessages(int count) {
        assertThat(server.ask("INFO", "commandstats").toString()).contains("cmdstat_publish:calls=" + count + ",");
    }

    private static Request permit(long id) {
        return request(id, PERMITS, LockMode.PERMITS, 2);
    }

    private static Request lock(long id, LockMode mode) {
        return request(id, LOCK, mode, 1);
    }

    private static Request request(long id, LockKey key, LockMode mode, int capacity) {
        return new Request(id, key, mode, 1, capacity, Duration.ofMinutes(5), true, new Owner("a", Map.of()));
    }
}
