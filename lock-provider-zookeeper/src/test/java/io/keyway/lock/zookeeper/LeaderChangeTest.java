// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.Locks;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each server of an ensemble of three is lost in turn, the leader among them. */
@Tag("soak")
class LeaderChangeTest {
    @TempDir
    private Path directory;

    @Test
    void leasesQueuesAndTokensOutlastTheLossOfAnyServer() throws Exception {
        try (ThreeServers servers = new ThreeServers(directory);
                LockClient client = Locks.open(servers.url() + "?ttl=30s");
                LockClient other = Locks.open(servers.url() + "?ttl=30s")) {
            Lease held = client.lock("held").acquire();
            long last = 0;
            for (int i = 0; i < servers.size(); i++) {
                Lease first = client.lock("queue").acquire();
                assertThat(first.token()).isGreaterThan(last);
                List<CompletableFuture<Lease>> waiters = new ArrayList<>();
                waiters.add(other.lock("queue").acquireAsync());
                await().until(() -> waiting(client) == 1);
                waiters.add(client.lock("queue").acquireAsync());
                await().until(() -> waiting(client) == 2);

                servers.stop(i);
                first.release();
                last = first.token();
                for (CompletableFuture<Lease> waiter : waiters) {
                    try (Lease next = waiter.get()) {
                        assertThat(next.token()).isGreaterThan(last);
                        last = next.token();
                    }
                }
                assertThat(held.isHeld()).isTrue();
                servers.restart(i);
            }
            assertThat(held.isHeld()).isTrue();
            assertThat(held.ttl()).isEqualTo(Duration.ofSeconds(30));
        }
    }

    private static int waiting(LockClient client) throws InterruptedException {
        return client.admin()
                .show(LockKey.lock(LockName.of("queue")))
                .map(status -> status.waiters().size())
                .orElse(0);
    }
}
