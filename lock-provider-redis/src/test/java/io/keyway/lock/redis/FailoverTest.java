// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.Locks;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.redis.server.RedisExecutable;
import io.keyway.lock.redis.server.RedisServer;
import io.keyway.lock.redis.server.SentinelSet;
import io.keyway.lock.tck.process.Patience;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a fail-over does to locks: what a replica knows holds, what none knew is told as lost. */
@Tag("soak")
class FailoverTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration TTL = Duration.ofSeconds(30);

    @TempDir
    private Path directory;

    private SentinelSet set;
    private LockClient client;
    private LockClient other;

    @BeforeEach
    void open() throws Exception {
        set = SentinelSet.start(RedisExecutable.brought(), directory);
        client = open(set.url());
        other = open(set.url());
    }

    @AfterEach
    void close() throws Exception {
        client.close();
        other.close();
        set.close();
    }

    private static LockClient open(String url) {
        return Locks.open(
                url, ClientOptions.defaults().withDefaults(LockOptions.none().withTtl(TTL)));
    }

    private static <T> T get(CompletableFuture<T> future) throws Exception {
        return future.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    /** Kills the master; returns when another one serves. */
    private void failOver() throws Exception {
        RedisServer master = set.awaitMaster();
        master.kill();
        set.awaitOtherMaster(master);
    }

    /** From now on the replicas learn nothing, until the sentinels mend it. */
    private void deafenReplicas(RedisServer master) {
        for (RedisServer replica : set.servers()) {
            if (replica != master) {
                replica.ask("REPLICAOF", "127.0.0.1", "1");
            }
        }
    }

    @Test
    void whatAReplicaKnowsOutlastsAFailover() throws Exception {
        try (LockClient careful = open(set.url() + "?waitReplicas=2")) {
            Lease lease = get(careful.lock("a").acquireAsync());
            CompletableFuture<Lease> waiter = other.lock("a").acquireAsync();
            failOver();
            await().atMost(Patience.of(PATIENCE))
                    .ignoreExceptions()
                    .until(() -> client.lock("a").tryAcquire(), Optional::isEmpty);
            assertThat(lease.isHeld()).isTrue();
            assertThat(waiter).isNotDone();
            assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
            assertThat(get(waiter).token()).isGreaterThan(lease.token());
        }
    }

    @Test
    void ofManyLocksNoneIsGrantedTwice() throws Exception {
        try (LockClient careful = open(set.url() + "?waitReplicas=2&requestTimeout=5s")) {
            List<Lease> held = new ArrayList<>();
            List<CompletableFuture<Lease>> waiting = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                held.add(get(careful.lock("many/" + i).acquireAsync()));
                waiting.add(other.lock("many/" + i).acquireAsync());
            }
            failOver();
            get(client.lock("done").acquireAsync());
            assertThat(waiting).noneMatch(CompletableFuture::isDone);
            assertThat(held).allMatch(Lease::isHeld);
            for (int i = 0; i < held.size(); i++) {
                held.get(i).release();
                assertThat(get(waiting.get(i)).token())
                        .isGreaterThan(held.get(i).token());
            }
        }
    }

    @Test
    void whatNoReplicaKnewIsToldAsLost() throws Exception {
        get(client.lock("warm").acquireAsync()).release();
        RedisServer master = set.awaitMaster();
        deafenReplicas(master);
        Lease lease = get(client.lock("a").acquireAsync());
        master.kill();
        set.awaitOtherMaster(master);
        assertThat(get(lease.lost().toCompletableFuture()).detail()).contains("no longer holds");
        assertThat(get(other.lock("a").acquireAsync()).token()).isGreaterThan(lease.token());

        // What the former master still has does not come back with it.
        master.restart();
        set.awaitReplica(master);
        assertThat(client.lock("a").tryAcquire()).isEmpty();
    }

    @Test
    void withTooFewReplicasNothingIsGranted() throws Exception {
        try (LockClient careful =
                open(set.url() + "?waitReplicas=1&requestTimeout=" + Patience.leaseSeconds(1) + "s")) {
            get(careful.lock("a").acquireAsync()).release();
            deafenReplicas(set.awaitMaster());
            LockUnavailableException refused = catchThrowableOfType(
                    LockUnavailableException.class, () -> careful.lock("a").tryAcquire());
            assertThat(refused).hasMessageContaining("replicas");
            // It was given back, not left to expire.
            assertThat(get(other.lock("a").acquireAsync()).isHeld()).isTrue();
        }
    }

    @Test
    void aRenewalThatTooFewReplicasKnowIsNotBelieved() throws Exception {
        try (LockClient careful =
                open(set.url() + "?waitReplicas=1&requestTimeout=" + Patience.leaseSeconds(1) + "s")) {
            Lease lease = get(careful.lock("a")
                    .with(LockOptions.none().withTtl(Duration.ofSeconds(3)))
                    .acquireAsync());
            deafenReplicas(set.awaitMaster());
            assertThat(get(lease.lost().toCompletableFuture()).cause()).isEqualTo(LeaseLoss.Cause.EXPIRED);
        }
    }

    @Test
    void whoWaitsThroughAFailoverIsGranted() throws Exception {
        Lease lease = get(client.lock("a").acquireAsync());
        CompletableFuture<Lease> waiter = other.lock("a").acquireAsync();
        failOver();
        lease.release();
        assertThat(get(waiter).isHeld()).isTrue();
    }
}
