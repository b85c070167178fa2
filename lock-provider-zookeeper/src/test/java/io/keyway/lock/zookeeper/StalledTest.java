// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockException;
import io.keyway.lock.Locks;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * An ensemble that stands still: for longer than leases live nothing is written, then all of it is. Sessions live on.
 */
@Tag("soak")
class StalledTest {
    private static final Duration TTL = Duration.ofSeconds(3);
    private static final Duration STALL = Duration.ofSeconds(8);

    @TempDir
    private Path directory;

    @Test
    void whatOneServerWritesLateIsNotLeftBehind() throws Exception {
        try (OneServer server = new OneServer(directory)) {
            whatIsWrittenLateIsNotLeftBehind(server.url(), server::stallWrites);
        }
    }

    @Test
    void whatAMajorityWritesLateIsNotLeftBehind() throws Exception {
        try (ThreeServers servers = new ThreeServers(directory, 600)) {
            whatIsWrittenLateIsNotLeftBehind(servers.url(), servers::stallWrites);
        }
    }

    private static void whatIsWrittenLateIsNotLeftBehind(String url, Callable<StalledLog> stall) throws Exception {
        try (LockClient client =
                        Locks.open(url + "?closeTimeout=2s&requestTimeout=300ms&ttl=" + TTL.toMillis() + "ms");
                LockClient other = Locks.open(url + "?closeTimeout=2s&ttl=10m")) {
            client.lock("tried").acquire().release();
            other.lock("released").acquire().release();
            Lease held = client.lock("released").acquire();
            long session = client.unwrap(ZooKeeper.class).getSessionId();
            CompletableFuture<?> released;
            try (StalledLog stalled = stall.call()) {
                assertThatThrownBy(() -> client.lock("tried").tryAcquire(Duration.ofMillis(200)))
                        .isInstanceOf(LockException.class);
                released = CompletableFuture.supplyAsync(held::release);
                LockSupport.parkNanos(STALL.toNanos());
                assertThat(stalled).isNotNull();
            }
            released.join();
            for (String name : new String[] {"tried", "released"}) {
                try (Lease next =
                        other.lock(name).tryAcquire(Duration.ofSeconds(20)).orElseThrow()) {
                    assertThat(next.isHeld()).isTrue();
                }
            }
            // That it is free is the work of its client, and not the end of its session.
            await().ignoreExceptions()
                    .until(() -> client.unwrap(ZooKeeper.class).getSessionId() == session);
        }
    }
}
