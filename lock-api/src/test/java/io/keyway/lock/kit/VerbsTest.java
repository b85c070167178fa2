// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.Capacity;
import io.keyway.lock.ClientClosedException;
import io.keyway.lock.ClientOptions;
import io.keyway.lock.DistributedLock;
import io.keyway.lock.DistributedReadWriteLock;
import io.keyway.lock.DistributedSemaphore;
import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LeaseLostException;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockPage;
import io.keyway.lock.LockStatus;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.UnsupportedFeatureException;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class VerbsTest extends ReferenceClients {

    @Test
    void aLeaseDescribesItsGrant() throws Exception {
        LockClient client = open("a");
        try (Lease lease = client.lock("orders/7").acquire()) {
            assertThat(lease.name()).isEqualTo(LockName.of("orders/7"));
            assertThat(lease.mode()).isEqualTo(LockMode.EXCLUSIVE);
            assertThat(lease.permits()).isEqualTo(1);
            assertThat(lease.token()).isPositive();
            assertThat(lease.ttl()).isEqualTo(Duration.ofSeconds(10));
            assertThat(lease.remaining()).isEqualTo(Duration.ofMillis(7500));
            assertThat(lease.state()).isEqualTo(Lease.State.HELD);
            lease.ensureHeld();
        }
        assertEmpty(client);
    }

    @Test
    void oneHolderAtATimeAndTokensRise() throws Exception {
        LockClient a = open("a");
        LockClient b = open("b");
        Lease first = a.lock("x").acquire();
        assertThat(b.lock("x").tryAcquire()).isEmpty();
        assertThat(b.lock("x").tryAcquire(Duration.ofSeconds(-1))).isEmpty();
        assertThat(a.lock("x").tryAcquire()).as("leases are not re-entrant").isEmpty();
        assertThat(first.release()).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(first.release()).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(first.state()).isEqualTo(Lease.State.RELEASED);
        assertThatThrownBy(first::ensureHeld).isInstanceOf(IllegalStateException.class);
        Lease second = b.lock("x").tryAcquire().orElseThrow();
        assertThat(second.token()).isGreaterThan(first.token());
        second.close();
        assertEmpty(a);
    }

    @Test
    void aWaiterIsGrantedWhenTheHolderReleases() throws Exception {
        LockClient a = open("a");
        LockClient b = open("b");
        Lease held = a.lock("x").acquire();
        Running<Lease> waiting = inThread(() -> b.lock("x").acquire());
        awaitWaiters(a, "x", 1);
        held.release();
        assertThat(waiting.get().isHeld()).isTrue();
        waiting.get().close();
        assertEmpty(a);
    }

    @Test
    void waitingEndsEmptyWhenAnotherHolds() throws Exception {
        LockClient a = open("a");
        LockClient b = open("b");
        Lease held = a.lock("x").acquire();
        Running<Optional<Lease>> waiting = inThread(() -> b.lock("x").tryAcquire(Duration.ofSeconds(3)));
        awaitWaiters(a, "x", 1);
        time(a).advance(Duration.ofMillis(2999));
        assertThat(waiting.result()).isNotDone();
        time(a).advance(Duration.ofMillis(1));
        assertThat(waiting.get()).isEmpty();
        held.release();
        assertEmpty(a);
    }

    @Test
    void futuresAreCompletedOnTheEventExecutor() throws Exception {
        LockClient a = open("a");
        Lease held = a.lock("x").acquire();
        var future = open("b").lock("x").acquireAsync();
        var thread = future.thenApply(lease -> Thread.currentThread().getName());
        held.release();
        assertThat(thread.get(2, TimeUnit.MINUTES)).isEqualTo("keyway-b-events");
        Lease got = future.get();
        assertThat(got.releaseAsync().toCompletableFuture().get(2, TimeUnit.MINUTES))
                .isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(a.lock("x").tryAcquireAsync(Duration.ZERO).get(2, TimeUnit.MINUTES))
                .isPresent();
    }

    @Test
    void workRunsUnderALease() throws Exception {
        LockClient client = open("a");
        DistributedLock lock = client.lock("x");
        long token = lock.callLocked(lease -> {
            lease.ensureHeld();
            return lease.token();
        });
        assertThat(token).isPositive();
        assertThat(lock.tryRunLocked(Duration.ofSeconds(1), Lease::ensureHeld)).isTrue();
        Lease held = lock.acquire();
        assertThat(lock.tryRunLocked(Duration.ZERO, lease -> {
                    throw new AssertionError("must not run");
                }))
                .isFalse();
        held.close();
        assertThatThrownBy(() -> lock.callLocked(lease -> {
                    throw new IOException("mine");
                }))
                .isInstanceOf(IOException.class)
                .hasMessage("mine");
        assertEmpty(client);
    }

    @Test
    void aLossDuringTheWorkIsNeverSilent() throws Exception {
        LockClient client = open("a");
        DistributedLock lock = client.lock("x");
        assertThatThrownBy(() -> lock.callLocked(lease -> {
                    client.admin().breakLease(key("x"), lease.token(), "test");
                    return 1;
                }))
                .isInstanceOfSatisfying(
                        LeaseLostException.class,
                        e -> assertThat(e.loss().cause()).isEqualTo(LeaseLoss.Cause.BROKEN));
        assertThatThrownBy(() -> lock.callLocked(lease -> {
                    client.admin().breakLease(key("x"), lease.token(), "test");
                    throw new IOException("mine");
                }))
                .isInstanceOf(IOException.class)
                .satisfies(
                        e -> assertThat(e.getSuppressed()).hasSize(1).allMatch(LeaseLostException.class::isInstance));
    }

    @Test
    void aLossThatOnlyTheReleaseFindsIsNotSilentEither() {
        LockClient client = open("a");
        assertThatThrownBy(() -> client.lock("x").callLocked(lease -> {
                    store(client).forgetAll();
                    return 1;
                }))
                .isInstanceOf(LeaseLostException.class);
    }

    @Test
    void readersShareAndWritersDoNot() throws Exception {
        LockClient client = open("a");
        DistributedReadWriteLock both = client.readWriteLock("x");
        Lease one = both.read().acquire();
        Lease two = both.read().acquire();
        assertThat(one.mode()).isEqualTo(LockMode.SHARED);
        assertThat(client.lock("x").tryAcquire()).as("lock(n) is write()").isEmpty();
        one.close();
        two.close();
        Lease write = both.write().acquire();
        assertThat(both.read().tryAcquire()).isEmpty();
        write.close();
        assertEmpty(client);
    }

    @Test
    void aReleasedWriterLetsAllReadersIn() throws Exception {
        LockClient client = open("a");
        Lease write = client.lock("x").acquire();
        DistributedLock read = client.readWriteLock("x").read();
        var first = read.acquireAsync();
        var second = read.acquireAsync();
        var third = open("b").readWriteLock("x").read().acquireAsync();
        write.close();
        first.get(2, TimeUnit.MINUTES).close();
        second.get(2, TimeUnit.MINUTES).close();
        third.get(2, TimeUnit.MINUTES).close();
        assertEmpty(client);
    }

    @Test
    void permitsAreCounted() throws Exception {
        LockClient client = open("a");
        DistributedSemaphore semaphore = client.semaphore("pool", Capacity.of(3));
        Lease two = semaphore.acquire(2);
        assertThat(two.permits()).isEqualTo(2);
        assertThat(two.mode()).isEqualTo(LockMode.PERMITS);
        assertThat(semaphore.availablePermits()).isEqualTo(1);
        assertThat(semaphore.tryAcquire(2)).isEmpty();
        Lease one = semaphore.tryAcquire().orElseThrow();
        assertThat(semaphore.availablePermits()).isZero();
        var waiting = semaphore.tryAcquireAsync(2, Duration.ofSeconds(30));
        one.close();
        assertThat(waiting).isNotDone();
        two.close();
        waiting.get(2, TimeUnit.MINUTES).orElseThrow().close();
        assertThat(semaphore.<Integer, RuntimeException>callLocked(3, Lease::permits))
                .isEqualTo(3);
        assertThat(semaphore.tryRunLocked(3, Duration.ZERO, Lease::ensureHeld)).isTrue();
        assertThatThrownBy(() -> semaphore.acquire(4)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> semaphore.acquire(0)).isInstanceOf(IllegalArgumentException.class);
        assertEmpty(client);
    }

    @Test
    void aSemaphoreIsNotTheLockOfItsName() throws Exception {
        LockClient client = open("a");
        Lease lock = client.lock("x").acquire();
        Lease permit = client.semaphore("x", Capacity.of(1)).tryAcquire().orElseThrow();
        lock.close();
        permit.close();
        assertEmpty(client);
    }

    @Test
    void optionsAreLaidOverEachOther() throws Exception {
        LockClient client = open(
                manual + "&ttl=20s",
                ClientOptions.defaults().withDefaults(LockOptions.none().withMetadata(Map.of("job", "nightly"))));
        DistributedLock lock = client.lock("x");
        try (Lease lease = lock.acquire()) {
            assertThat(lease.ttl()).as("the URL's").isEqualTo(Duration.ofSeconds(20));
        }
        DistributedLock short5 = lock.with(LockOptions.none().withTtl(Duration.ofSeconds(5)));
        try (Lease lease = short5.acquire()) {
            assertThat(lease.ttl()).isEqualTo(Duration.ofSeconds(5));
            LockStatus status = client.admin().show(key("x")).orElseThrow();
            assertThat(status.holders().get(0).metadata()).as("kept").containsEntry("job", "nightly");
        }
        assertThatThrownBy(() -> lock.with(LockOptions.none().withTtl(Duration.ofHours(2))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("2h")
                .hasMessageContaining("100ms")
                .hasMessageContaining("1h");
    }

    @Test
    void theAdminSeesHoldersAndWaitersAndBreaksByToken() throws Exception {
        LockClient a = open("a");
        LockClient b = open("b");
        Lease held = a.lock("jobs/1").acquire();
        Lease other = a.lock("jobs/2").acquire();
        var waiting = b.lock("jobs/1").acquireAsync();
        LockStatus status = b.admin().show(key("jobs/1")).orElseThrow();
        assertThat(status.holders()).singleElement().satisfies(holder -> {
            assertThat(holder.client()).isEqualTo("a");
            assertThat(holder.token()).hasValue(held.token());
        });
        assertThat(status.waiters())
                .singleElement()
                .satisfies(waiter -> assertThat(waiter.client()).isEqualTo("b"));
        LockPage page = b.admin().list("jobs/", Optional.empty(), 1);
        assertThat(page.locks()).extracting(LockStatus::key).containsExactly(key("jobs/1"));
        assertThat(b.admin().list("jobs/", page.next(), 1).locks())
                .extracting(LockStatus::key)
                .containsExactly(key("jobs/2"));
        assertThat(b.admin().breakLease(key("jobs/1"), held.token() + 100, "no"))
                .isFalse();
        assertThat(b.admin().breakLease(key("jobs/1"), held.token(), "stuck")).isTrue();
        assertThat(held.state()).isEqualTo(Lease.State.LOST);
        assertThat(held.release()).isEqualTo(ReleaseOutcome.ALREADY_LOST);
        assertThat(held.lost().toCompletableFuture().get(2, TimeUnit.MINUTES).cause())
                .isEqualTo(LeaseLoss.Cause.BROKEN);
        waiting.get(2, TimeUnit.MINUTES).close();
        other.close();
        assertThat(b.admin().show(LockKey.lock(LockName.of("none")))).isEmpty();
        assertEmpty(a);
    }

    @Test
    void aMissingFeatureIsRefusedBeforeAnythingIsSent() throws Exception {
        LockClient client = open(
                "lock:reference://bare?clock=manual&without=" + Feature.READ_WRITE.label() + ",semaphore,list,break",
                ClientOptions.defaults());
        assertThat(client.features()).doesNotContain(Feature.READ_WRITE, Feature.SEMAPHORE, Feature.LIST);
        assertThatThrownBy(() -> client.readWriteLock("x")).isInstanceOf(UnsupportedFeatureException.class);
        assertThatThrownBy(() -> client.semaphore("x", Capacity.of(1))).isInstanceOf(UnsupportedFeatureException.class);
        assertThatThrownBy(() -> client.admin().list("", Optional.empty(), 1))
                .isInstanceOf(UnsupportedFeatureException.class);
        assertThatThrownBy(() -> client.admin().breakLease(key("x"), 1, "why"))
                .isInstanceOf(UnsupportedFeatureException.class);
        client.lock("x").acquire().close();
    }

    @Test
    void namesAreChecked() {
        LockClient client = open("a");
        assertThatThrownBy(() -> client.lock("a//b")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> client.semaphore("", Capacity.of(1))).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void aClosedClientRefusesEverything() {
        LockClient client = open("a");
        DistributedLock lock = client.lock("x");
        client.close();
        client.close();
        assertThat(client.name()).isEqualTo("a");
        assertThatThrownBy(() -> client.lock("x")).isInstanceOf(ClientClosedException.class);
        assertThatThrownBy(client::features).isInstanceOf(ClientClosedException.class);
        assertThatThrownBy(client::admin).isInstanceOf(ClientClosedException.class);
        assertThatThrownBy(lock::acquire).isInstanceOf(ClientClosedException.class);
        assertThatThrownBy(lock::tryAcquire).isInstanceOf(ClientClosedException.class);
        assertThat(lock.acquireAsync()).isCompletedExceptionally();
    }

    @Test
    void unwrapSaysWhatItHasNot() {
        LockClient client = open("a");
        assertThatThrownBy(() -> client.unwrap(Thread.class))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("java.lang.Thread");
    }
}
