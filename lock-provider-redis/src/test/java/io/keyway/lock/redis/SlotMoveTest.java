// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.Locks;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.redis.server.RedisCluster;
import io.keyway.lock.redis.server.RedisExecutable;
import io.keyway.lock.redis.server.RedisServer;
import io.keyway.lock.tck.process.Patience;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A slot of a cluster that moves from one master to another takes its locks, its queue and its tokens along. */
@Tag("soak")
class SlotMoveTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    private Path directory;

    @Test
    void aLockMovesWhileItIsHeldAndWaitedFor() throws Exception {
        for (RedisExecutable executable : RedisExecutable.all()) {
            try (RedisCluster cluster = RedisCluster.start(executable, directory);
                    LockClient client = Locks.open(cluster.url());
                    LockClient other = Locks.open(cluster.url())) {
                int slot = cluster.slot("{moved}");
                RedisServer to = cluster.notOwner(slot);
                Lease lease = get(client.lock("moved").acquireAsync());
                CompletableFuture<Lease> waiter = other.lock("moved").acquireAsync();
                await().atMost(Patience.of(PATIENCE)).until(() -> waiters(client), count -> count == 1);

                cluster.beginMove(slot, to);
                assertThat(waiter).isNotDone();
                cluster.finishMove(slot, to);

                assertThat(client.lock("moved").tryAcquire()).isEmpty();
                assertThat(lease.isHeld()).isTrue();
                assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
                Lease next = get(waiter);
                assertThat(next.token()).isGreaterThan(lease.token());
                assertThat(next.release()).isEqualTo(ReleaseOutcome.RELEASED);
            }
        }
    }

    @Test
    void aLockThatIsAskedForInTheMiddleOfAMoveIsGrantedOnce() throws Exception {
        for (RedisExecutable executable : RedisExecutable.all()) {
            try (RedisCluster cluster = RedisCluster.start(executable, directory);
                    LockClient client = Locks.open(cluster.url());
                    LockClient other = Locks.open(cluster.url())) {
                int slot = cluster.slot("{moved}");
                RedisServer to = cluster.notOwner(slot);
                Lease before = get(client.lock("moved").acquireAsync());
                assertThat(before.release()).isEqualTo(ReleaseOutcome.RELEASED);
                cluster.beginMove(slot, to);
                CompletableFuture<Lease> one = client.lock("moved").acquireAsync();
                CompletableFuture<Lease> two = other.lock("moved").acquireAsync();
                cluster.finishMove(slot, to);
                Lease first = (Lease) get(CompletableFuture.anyOf(one, two));
                assertThat(first.token()).isGreaterThan(before.token());
                assertThat(one.isDone() && two.isDone()).isFalse();
                assertThat(first.release()).isEqualTo(ReleaseOutcome.RELEASED);
                assertThat(get(one).token()).isNotEqualTo(get(two).token());
            }
        }
    }

    @Test
    void whoTakesAServerOfAClusterForASingleOneIsToldSo() throws Exception {
        try (RedisCluster cluster = RedisCluster.start(RedisExecutable.brought(), directory)) {
            RedisServer wrong = cluster.notOwner(cluster.slot("{moved}"));
            try (LockClient client = Locks.open(wrong.url())) {
                assertThatThrownBy(() -> client.lock("moved").tryAcquire())
                        .isInstanceOf(LockUnavailableException.class)
                        .hasMessageContaining("lock:redis:cluster://");
            }
        }
    }

    private static int waiters(LockClient client) throws InterruptedException {
        return client.admin()
                .show(LockKey.lock(LockName.of("moved")))
                .map(status -> status.waiters().size())
                .orElse(0);
    }

    private static <T> T get(CompletableFuture<T> future) throws Exception {
        return future.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }
}
