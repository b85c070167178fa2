// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import static io.keyway.lock.redis.OneBackend.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.redis.server.RedisServer;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.NotExecutedException;
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

/** What a client gives up leaves nothing behind forever, neither at the server nor in the client. */
class GivenUpTest {
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

    @Test
    void anUpgradeThatIsWithdrawnExpiresAsTheReaderThatItWas() throws Exception {
        Grant read = client.granted(request(1, "a", LockMode.SHARED));
        Request write = request(2, "a", LockMode.EXCLUSIVE);
        assertThat(backend.convert(read, write, LIMIT)).isInstanceOf(Attempt.Granted.class);

        backend.withdraw(write, LIMIT);

        assertThat((Long) server.ask("PTTL", "keyway:{a}:l")).isPositive();
        assertThat(server.ask("HLEN", "keyway:{a}:l")).isEqualTo(1L);
    }

    /** What still waits is asked for when the subscription stands anew. */
    @Test
    void whatWasWithdrawnInVainIsNotAskedForWhenTheServerIsBack() throws Exception {
        client.granted(request(1, "a", LockMode.EXCLUSIVE));
        client.granted(request(2, "b", LockMode.EXCLUSIVE));
        Request given = request(3, "a", LockMode.EXCLUSIVE);
        assertThat(backend.attempt(given, LIMIT)).isInstanceOf(Attempt.Waiting.class);
        assertThat(backend.attempt(request(4, "b", LockMode.EXCLUSIVE), LIMIT)).isInstanceOf(Attempt.Waiting.class);
        client.signals.heard.clear();
        server.kill();
        assertThatThrownBy(() -> backend.withdraw(given, LIMIT)).isInstanceOf(Exception.class);
        server.restart();

        await().atMost(Patience.of(LIMIT)).until(() -> client.signals.heard.contains("recheck lock b"));

        assertThat(client.signals.heard).doesNotContain("recheck lock a");
    }

    @Test
    void anAttemptThatCannotArriveAnyMoreIsForgotten() {
        LateAttempts late = new LateAttempts(0);
        long limit = LateAttempts.UNDER_WAY.toNanos();
        late.add(1, 0);
        late.add(2, limit - 1);
        assertThat(late.contains(1)).isTrue();

        late.add(3, limit + 1);

        assertThat(late.contains(1)).isFalse();
        assertThat(late.contains(2)).isTrue();
        assertThat(late.size()).isEqualTo(2);
    }

    @Test
    void aHostThatNobodyKnowsIsCalledUnknown() throws Exception {
        try (SingleLink link = new SingleLink(TestSettings.of("lock:redis://nosuchhost.invalid", LIMIT))) {
            assertThatThrownBy(() -> link.start(client.signals, Deadline.after(LIMIT)))
                    .isInstanceOf(NotExecutedException.class)
                    .hasMessage("could not connect to nosuchhost.invalid:6379: unknown host");
        }
    }

    private static Request request(long id, String name, LockMode mode) {
        return new Request(id, LockKey.lock(LockName.of(name)), mode, 1, 1, LONG, true, new Owner("a", Map.of()));
    }
}
