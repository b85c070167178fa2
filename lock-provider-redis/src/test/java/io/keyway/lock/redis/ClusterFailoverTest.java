// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.Locks;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.redis.server.RedisCluster;
import io.keyway.lock.redis.server.RedisExecutable;
import io.keyway.lock.redis.server.RedisServer;
import io.keyway.lock.tck.process.Patience;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A master of a cluster that dies is replaced by its replica, which has what was acknowledged. */
@Tag("soak")
class ClusterFailoverTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    private Path directory;

    @Test
    void whatAReplicaKnowsOutlastsItsMaster() throws Exception {
        for (RedisExecutable executable : RedisExecutable.all()) {
            try (RedisCluster cluster = RedisCluster.startReplicated(executable, directory);
                    LockClient careful = open(cluster.url() + "?waitReplicas=1");
                    LockClient client = open(cluster.url());
                    LockClient other = open(cluster.url())) {
                Lease lease = get(careful.lock("a").acquireAsync());
                CompletableFuture<Lease> waiter = other.lock("a").acquireAsync();
                int slot = cluster.slot("{a}");
                RedisServer master = cluster.owner(slot);
                master.kill();
                cluster.awaitOtherOwner(slot, master);
                await().atMost(Patience.of(PATIENCE))
                        .ignoreExceptions()
                        .until(() -> client.lock("a").tryAcquire(), Optional::isEmpty);
                assertThat(lease.isHeld()).isTrue();
                assertThat(waiter).isNotDone();
                assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
                Lease next = get(waiter);
                assertThat(next.token()).isGreaterThan(lease.token());
                assertThat(next.release()).isEqualTo(ReleaseOutcome.RELEASED);
                // The one that has taken over has no replica.
                assertThatThrownBy(() -> careful.lock("a").tryAcquire())
                        .isInstanceOf(LockUnavailableException.class)
                        .hasMessageContaining("replicas");
            }
        }
    }

    private static LockClient open(String url) {
        return Locks.open(
                url, ClientOptions.defaults().withDefaults(LockOptions.none().withTtl(Duration.ofSeconds(30))));
    }

    private static <T> T get(CompletableFuture<T> future) throws Exception {
        return future.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }
}
