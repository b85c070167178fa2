// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import io.keyway.lock.redis.server.RedisServer;
import io.keyway.lock.tck.process.ClientProcess;
import io.keyway.lock.tck.process.Patience;
import io.keyway.lock.tck.process.Signals;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A holder in a process of its own that dies, or stands still. */
@Tag("soak")
class HolderProcessTest {
    private static final Duration TTL = Duration.ofSeconds(3);
    private static final long PATIENCE_SECONDS = 60;

    @TempDir
    private Path directory;

    private RedisServer server;
    private LockClient client;
    private ClientProcess holder;

    @BeforeEach
    void open() throws Exception {
        server = RedisServer.start(directory);
        client = Locks.open(server.url());
        holder = ClientProcess.open(System.getProperty("java.class.path"), server.url(), "holder", TTL);
    }

    @AfterEach
    void close() throws Exception {
        holder.close();
        client.close();
        server.close();
    }

    @Test
    void aHolderThatIsKilledBlocksForItsTtlAndNoShorter() throws Exception {
        for (int i = 0; i < 3; i++) {
            long asked = System.nanoTime();
            assertThat(holder.acquire("a", TTL)).isPresent();
            CompletableFuture<Lease> next = client.lock("a").acquireAsync();
            CompletableFuture<Long> at = next.thenApply(lease -> System.nanoTime());
            holder.jvm().kill9();
            long killed = System.nanoTime();
            try (Lease lease = next.get(Patience.seconds(PATIENCE_SECONDS), TimeUnit.SECONDS)) {
                Duration blocked =
                        Duration.ofNanos(at.get(Patience.seconds(PATIENCE_SECONDS), TimeUnit.SECONDS) - asked);
                assertThat(lease.isHeld()).isTrue();
                assertThat(blocked).isGreaterThanOrEqualTo(TTL);
                assertThat(Duration.ofNanos(at.join() - killed)).isLessThan(Patience.of(TTL.multipliedBy(10)));
            }
            holder.close();
            holder = ClientProcess.open(System.getProperty("java.class.path"), server.url(), "holder", TTL);
        }
    }

    @Test
    void aHolderThatStoodStillForTwoTtlDoesNotBelieveAtItsFirstQuestion() throws Exception {
        assertThat(holder.acquire("a", TTL)).isPresent();
        assertThat(holder.isHeld("a")).isTrue();
        holder.jvm().stop();
        // Two terms, one after the other, on the server's clock.
        for (int i = 0; i < 2; i++) {
            server.ask("SET", "clock", "1", "PX", Long.toString(TTL.toMillis()));
            Signals.until(
                    "a term has passed", () -> server.ask("EXISTS", "clock").equals(0L));
        }
        assertThat(client.lock("a").tryAcquire()).isPresent();
        holder.jvm().cont();
        assertThat(holder.isHeld("a")).isFalse();
    }
}
