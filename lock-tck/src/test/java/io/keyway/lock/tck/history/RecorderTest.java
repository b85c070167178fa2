// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import io.keyway.lock.Capacity;
import io.keyway.lock.DistributedReadWriteLock;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockOptions;
import io.keyway.lock.Locks;
import io.keyway.lock.Renewal;
import io.keyway.lock.reference.ReferenceWorld;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RecorderTest {
    @Test
    void aLeaseThatNobodyRenewedHasExpiredAndNoOther() throws Exception {
        try (LockClient client = Locks.open("lock:reference://recorder?clock=manual")) {
            Recorder recorder = new Recorder(System::nanoTime);
            LockClient recorded = recorder.record("holder", client);
            LockOptions once = LockOptions.none().withTtl(Duration.ofSeconds(4)).withRenewal(Renewal.NONE);
            Lease lapses = recorded.lock("lapses").with(once).acquire();
            recorded.lock("released").with(once).acquire().release();
            Lease renewed = recorded.lock("renewed").acquire();
            assertThat(recorder.hasExpired("lapses")).isFalse();
            client.unwrap(ReferenceWorld.class).advance(Duration.ofSeconds(5));
            assertThat(lapses.isHeld()).isFalse();
            assertThat(renewed.isHeld()).isTrue();
            assertThat(recorder.hasExpired("lapses")).isTrue();
            assertThat(recorder.hasExpired("released")).isFalse();
            assertThat(recorder.hasExpired("renewed")).isFalse();
        }
    }

    @Test
    void aWaitThatIsNotGrantedWithinItsLimitIsInVainAndNoOther() throws Exception {
        try (LockClient client = Locks.open("lock:reference://recorder-waits?clock=manual")) {
            AtomicLong now = new AtomicLong();
            Recorder recorder = new Recorder(now::get);
            LockClient recorded = recorder.record("waiter", client);
            Duration limit = Duration.ofSeconds(4);
            for (String name : List.of("limited", "endless", "tried")) {
                client.lock(name).acquire();
            }
            CompletableFuture<Optional<Lease>> limited =
                    recorded.lock("limited").tryAcquireAsync(limit);
            CompletableFuture<Lease> endless = recorded.lock("endless").acquireAsync();
            assertThat(recorded.lock("tried").tryAcquire()).isEmpty();
            assertThat(recorded.lock("free").tryAcquire(limit)).isPresent();
            now.addAndGet(limit.toNanos() / 2);
            assertThat(recorder.hasWaitedInVain("limited")).isFalse();
            now.addAndGet(limit.toNanos());
            assertThat(recorder.hasWaitedInVain("limited")).isTrue();
            assertThat(List.of("endless", "tried", "free")).noneMatch(recorder::hasWaitedInVain);
            limited.cancel(false);
            endless.cancel(false);
        }
    }

    @Test
    void everyFormOfARequestIsWrittenDownWithItsRelease() throws Exception {
        Duration wait = Duration.ofSeconds(20);
        Capacity three = Capacity.of(3);
        List<Form> forms = List.of(
                client -> client.lock("n").acquire().release(),
                client -> client.lock("n").tryAcquire().orElseThrow().close(),
                client -> client.lock("n").tryAcquire(wait).orElseThrow().releaseAsync(),
                client -> client.lock("n").acquireAsync().get().release(),
                client -> client.lock("n")
                        .tryAcquireAsync(wait)
                        .get()
                        .orElseThrow()
                        .release(),
                client -> client.lock("n")
                        .callLocked(lease -> assertThat(lease.isHeld()).isTrue()),
                client -> client.lock("n")
                        .tryRunLocked(wait, lease -> assertThat(lease.isHeld()).isTrue()),
                client -> client.lock("n").with(LockOptions.none()).acquire().release(),
                client -> client.readWriteLock("n").read().acquire().release(),
                client -> client.readWriteLock("n")
                        .write()
                        .tryAcquire()
                        .orElseThrow()
                        .release(),
                client -> client.semaphore("n", three).acquire().release(),
                client ->
                        client.semaphore("n", three).tryAcquire(2).orElseThrow().release(),
                client -> client.semaphore("n", three).acquireAsync(2).get().release(),
                client -> client.semaphore("n", three).callLocked(lease -> lease.permits()),
                client -> client.semaphore("n", three).tryRunLocked(2, wait, lease -> {}));
        for (int i = 0; i < forms.size(); i++) {
            try (LockClient client = Locks.open("lock:reference://recorder-forms")) {
                Recorder recorder = new Recorder(System::nanoTime);
                forms.get(i).use(recorder.record("user", client));
                String evidence = recorder.story().orElseThrow().evidence();
                assertThat(evidence.lines().skip(1))
                        .as("form " + i + ": " + evidence)
                        .singleElement(STRING)
                        .startsWith("    user ")
                        .contains(" n ", " got token ", " believed ", " release ");
            }
        }
    }

    @Test
    void anUpgradeAndADowngradeAreWrittenDownAsRequests() throws Exception {
        try (LockClient client = Locks.open("lock:reference://recorder-upgrade")) {
            Recorder recorder = new Recorder(System::nanoTime);
            DistributedReadWriteLock lock = recorder.record("user", client).readWriteLock("n");
            Lease read = lock.read().acquire();
            Lease write = lock.tryUpgrade(read, Duration.ofSeconds(20)).orElseThrow();
            Lease again = lock.downgrade(write);
            assertThat(again.isHeld()).isTrue();
            again.release();
            assertThat(recorder.story().orElseThrow().evidence())
                    .containsSubsequence("n shared asked", "n exclusive asked", "n shared asked", "release");
            assertThat(recorder.breach(true, false)).isEmpty();
        }
    }

    @Test
    void whatIsRecordedIsEqualToItselfAlone() throws Exception {
        try (LockClient client = Locks.open("lock:reference://recorder-identity")) {
            LockClient recorded = new Recorder(System::nanoTime).record("user", client);
            LockClient other = new Recorder(System::nanoTime).record("user", client);
            assertThat(Set.of(recorded, other)).contains(recorded, other).hasSize(2);
            assertThat(recorded.unwrap(LockClient.class)).isSameAs(recorded);
            assertThatThrownBy(() -> recorded.lock("a//b")).isInstanceOf(IllegalArgumentException.class);
        }
    }

    private interface Form {
        void use(LockClient client) throws Exception;
    }
}
