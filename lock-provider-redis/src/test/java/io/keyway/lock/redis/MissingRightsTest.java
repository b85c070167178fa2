// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockException;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.Locks;
import io.keyway.lock.redis.server.RedisExecutable;
import io.keyway.lock.redis.server.RedisServer;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Incarnation;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Request;
import io.keyway.lock.tck.process.Patience;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.exceptions.JedisConnectionException;

/** A user that lacks a right of which a client can do without, or that shows in the middle of a script. */
class MissingRightsTest {
    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final Duration LONG = Duration.ofMinutes(5);

    @TempDir
    private Path directory;

    private final HeardSignals signals = new HeardSignals();
    private RedisServer server;

    @AfterEach
    void end() throws Exception {
        signals.close();
        server.close();
    }

    static Stream<RedisExecutable> servers() {
        return RedisExecutable.all().stream();
    }

    private String start(RedisExecutable executable, String... more) throws Exception {
        server = RedisServer.start(executable, directory, "appendfsync always");
        RightsTest.give(List.of(server), more);
        return "lock:redis://locks:secret@" + server.address();
    }

    @ParameterizedTest
    @MethodSource("servers")
    void whoMaySendAndHearNoMessagesReleasesAndIsGrantedAllTheSame(RedisExecutable executable) throws Exception {
        String url = start(executable, "resetchannels");
        try (RedisBackend backend = backend(url);
                LockClient other = Locks.open(url)) {
            Grant grant = granted(backend, request(1, LockMode.EXCLUSIVE));
            CompletableFuture<Lease> waiter = other.lock("a").acquireAsync();
            await().atMost(Patience.of(LIMIT))
                    .until(() -> server.ask("EXISTS", "keyway:{a}:lw").equals(1L));

            assertThat(backend.release(grant, LIMIT)).isEqualTo(Answer.DONE);

            assertThat(waiter.get(LIMIT.toSeconds(), TimeUnit.SECONDS).isHeld()).isTrue();
        }
    }

    @ParameterizedTest
    @MethodSource("servers")
    void whoHearsNothingForGoodAsksFourTimesASecond(RedisExecutable executable) throws Exception {
        try (RedisBackend backend = backend(start(executable, "resetchannels"))) {
            granted(backend, request(1, LockMode.EXCLUSIVE));

            Attempt waiting = backend.attempt(request(2, LockMode.EXCLUSIVE), LIMIT);

            assertThat(((Attempt.Waiting) waiting).recheckWithin()).isEqualTo(Duration.ofMillis(250));
        }
    }

    @ParameterizedTest
    @MethodSource("servers")
    void whoMaySendNoMessagesIsWarnedOf(RedisExecutable executable) throws Exception {
        String url = start(executable, "resetchannels");
        assertThat(silence(url).orElseThrow()).contains("NOPERM").contains("+publish");

        RightsTest.give(List.of(server));
        assertThat(silence(url)).isEmpty();
    }

    private Optional<String> silence(String url) throws Exception {
        AtomicReference<Optional<String>> said = new AtomicReference<>();
        try (SingleLink link = new SingleLink(TestSettings.of(url, LIMIT))) {
            link.start(signals, Deadline.after(LIMIT));
            link.visitAll(
                    (name, connection) -> said.set(ServerCheck.silence(name, connection, "keyway:c:x")),
                    Deadline.after(LIMIT));
        }
        return said.get();
    }

    /** The holder is gone already when the right is found to be lacking. */
    @ParameterizedTest
    @MethodSource("servers")
    void aScriptThatWasStoppedHalfWayIsNotTakenForOneThatDidNothing(RedisExecutable executable) throws Exception {
        try (RedisBackend backend = backend(start(executable))) {
            Grant grant = granted(backend, request(1, LockMode.EXCLUSIVE));
            backend.attempt(request(2, LockMode.EXCLUSIVE), LIMIT);
            RightsTest.give(List.of(server), "-zrem");

            // To delete a user breaks its connections, a moment later; releases have one of their own.
            await().untilAsserted(() -> assertThatThrownBy(() -> backend.release(grant, LIMIT))
                    .isNotInstanceOfAny(NotExecutedException.class, JedisConnectionException.class));

            RightsTest.give(List.of(server));
            await().ignoreExceptions()
                    .untilAsserted(
                            () -> assertThat(backend.release(grant, LIMIT)).isEqualTo(Answer.NOT_HELD));
        }
    }

    /** What keeps the tokens above a floor stands in the key that a grant writes. */
    @ParameterizedTest
    @MethodSource("servers")
    void whoMayNotDoAllThatAGrantDoesTakesNoFloorAway(RedisExecutable executable) throws Exception {
        String url = start(executable);
        long floor = 471_234_567_890_123_457L;
        try (LockClient asking = Locks.open(url + "?tokenFloor=" + floor);
                Lease lease = asking.lock("a").acquire()) {
            assertThat(lease.token()).isGreaterThan(floor);
        }
        RightsTest.give(List.of(server), "-set");
        try (RedisBackend backend = backend(url)) {
            await().ignoreExceptions().until(() -> backend.availablePermits(LockKey.lock("a"), 1, LIMIT) >= 0);
            Throwable unused = catchThrowable(() -> backend.attempt(request(1, LockMode.EXCLUSIVE), LIMIT));
            unused = catchThrowable(() -> backend.attempt(request(2, LockMode.SHARED), LIMIT));
        }
        RightsTest.give(List.of(server));
        try (RedisBackend backend = backend(url)) {
            await().ignoreExceptions().until(() -> backend.availablePermits(LockKey.lock("b"), 1, LIMIT) >= 0);
            Request other =
                    new Request(3, LockKey.lock("b"), LockMode.EXCLUSIVE, 1, 1, LONG, true, new Owner("a", Map.of()));

            assertThat(granted(backend, other).token()).isGreaterThan(floor);
        }
    }

    @ParameterizedTest
    @MethodSource("servers")
    void aGrantOfWhichReplicasCannotBeAskedIsGivenBack(RedisExecutable executable) throws Exception {
        String url = start(executable, "-wait");
        try (LockClient client = Locks.open(url + "?waitReplicas=1");
                LockClient other = Locks.open(url)) {
            assertThat(catchThrowable(() -> client.lock("a").tryAcquire())).isInstanceOf(LockException.class);

            await().atMost(Patience.of(LIMIT)).until(() -> other.lock("a").tryAcquire(), Optional::isPresent);
        }
    }

    private RedisBackend backend(String url) throws Exception {
        RedisSettings settings = TestSettings.of(url, LIMIT);
        RedisBackend backend = new RedisBackend(new SingleLink(settings), settings, RedisGuarantees.single());
        backend.start(signals, Incarnation.draw());
        return backend;
    }

    private static Grant granted(RedisBackend backend, Request request) throws Exception {
        return ((Attempt.Granted) backend.attempt(request, LIMIT)).grant();
    }

    private static Request request(long id, LockMode mode) {
        return new Request(id, LockKey.lock(LockName.of("a")), mode, 1, 1, LONG, true, new Owner("a", Map.of()));
    }
}
