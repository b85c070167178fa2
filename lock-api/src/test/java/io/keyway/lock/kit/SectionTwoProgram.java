// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.Capacity;
import io.keyway.lock.ClientOptions;
import io.keyway.lock.Discovery;
import io.keyway.lock.DistributedLock;
import io.keyway.lock.DistributedReadWriteLock;
import io.keyway.lock.DistributedSemaphore;
import io.keyway.lock.Feature;
import io.keyway.lock.FenceGuard;
import io.keyway.lock.Guarantees;
import io.keyway.lock.JavaLocks;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockAdmin;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockPage;
import io.keyway.lock.LockStatus;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Locks;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.Renewal;
import io.keyway.lock.Subscription;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.Lock;

/**
 * A program written against section 2 of the design alone: it calls every method with the types that section states. It
 * is here to fail to compile when one of them changes, and to run on any provider that has the features.
 */
public final class SectionTwoProgram {

    private SectionTwoProgram() {}

    /** Runs it all on the provider of that URL; returns what it saw. */
    public static List<String> run(String url) throws Exception {
        List<String> said = new ArrayList<>();
        Discovery discovery = Locks.discover(SectionTwoProgram.class.getClassLoader());
        said.add("providers: " + !discovery.providers().isEmpty());
        SectionTwoTypes.discovery(discovery);
        SectionTwoTypes.constants();
        ClientOptions options = ClientOptions.defaults()
                .withName("billing-7")
                .withDefaults(LockOptions.none().withTtl(Duration.ofSeconds(20)))
                .withRequestTimeout(Duration.ofSeconds(3));
        for (LockClient opened : List.of(
                Locks.open(url),
                Locks.open(url, options),
                Locks.open(LockUrl.parse(url)),
                Locks.open(LockUrl.parse(url), options))) {
            opened.close();
        }
        try (LockClient client = Locks.open(LockUrl.parse(url), options, SectionTwoProgram.class.getClassLoader())) {
            String name = client.name();
            LockUrl opened = client.url();
            Set<Feature> features = client.features();
            Guarantees guarantees = client.guarantees();
            said.add(name + " " + opened.equals(LockUrl.parse(url)) + " " + features.contains(Feature.FENCING) + " "
                    + guarantees.minTtl());
            try (Subscription subscription = client.addListener(event -> {})) {
                locks(client.lock("a/b"), said);
                locks(client.lock(LockName.of("a/b")), said);
            }
            if (features.contains(Feature.READ_WRITE)) {
                readWrite(client.readWriteLock("rw"), said);
                readWrite(client.readWriteLock(LockName.of("rw")), said);
            }
            if (features.contains(Feature.SEMAPHORE)) {
                semaphore(client.semaphore("pool", Capacity.of(4)), said);
                semaphore(client.semaphore(LockName.of("pool"), Capacity.perResource(2, () -> 2)), said);
            }
            admin(client, said);
            adapters(client, said);
            SectionTwoTypes.guarantees(guarantees);
            SectionTwoTypes.exceptions(client, said);
            SectionTwoTypes.status(client, said);
            SectionTwoTypes.functions(client, said);
        }
        SectionTwoTypes.closing(url, said);
        return said;
    }

    private static void locks(DistributedLock lock, List<String> said) throws Exception {
        LockName name = lock.name();
        DistributedLock mine = lock.with(LockOptions.none()
                .withTtl(Duration.ofSeconds(5))
                .withMaxHold(Duration.ofMinutes(5))
                .withRenewal(Renewal.AUTO)
                .withMetadata(Map.of("job", "7"))
                .withWarnAfter(Duration.ofMinutes(1)));
        try (Lease lease = mine.acquire()) {
            lease(lease);
        }
        Optional<Lease> now = lock.tryAcquire();
        now.ifPresent(Lease::close);
        Optional<Lease> soon = lock.tryAcquire(Duration.ofSeconds(1));
        soon.ifPresent(Lease::close);
        CompletableFuture<Lease> future = lock.acquireAsync();
        CompletionStage<ReleaseOutcome> released = future.get().releaseAsync();
        CompletableFuture<Optional<Lease>> maybe = lock.tryAcquireAsync(Duration.ofSeconds(1));
        said.add(name + " " + released.toCompletableFuture().get() + " "
                + maybe.get().map(Lease::release).orElseThrow());
        long token = lock.callLocked(Lease::token);
        boolean ran = lock.<IOException>tryRunLocked(Duration.ofSeconds(1), lease -> {
            if (lease.token() <= token) {
                throw new IOException("the token fell");
            }
        });
        said.add("ran " + ran);
    }

    private static void lease(Lease lease) {
        LockName name = lease.name();
        LockMode mode = lease.mode();
        int permits = lease.permits();
        long token = lease.token();
        Duration ttl = lease.ttl();
        Lease.State state = lease.state();
        Duration remaining = lease.remaining();
        lease.ensureHeld();
        CompletionStage<LeaseLoss> lost = lease.lost();
        ReleaseOutcome outcome = lease.release();
        if (name == null
                || mode == LockMode.PERMITS
                || permits != 1
                || token == 0
                || ttl.compareTo(remaining) < 0
                || state != Lease.State.HELD
                || lease.isHeld()
                || lost.toCompletableFuture().isDone()
                || outcome != ReleaseOutcome.RELEASED) {
            throw new IllegalStateException("not what section 2 says: " + lease);
        }
    }

    private static void readWrite(DistributedReadWriteLock lock, List<String> said) throws Exception {
        try (Lease one = lock.read().acquire();
                Lease two = lock.read().acquire()) {
            said.add(lock.name() + " " + one.mode() + " " + two.mode());
        }
        try (Lease write = lock.write().acquire()) {
            said.add(lock.name() + " " + write.mode());
        }
    }

    private static void semaphore(DistributedSemaphore semaphore, List<String> said) throws Exception {
        semaphore.with(LockOptions.none()).acquire().close();
        semaphore.acquire(2).close();
        semaphore.tryAcquire().ifPresent(Lease::close);
        semaphore.tryAcquire(2).ifPresent(Lease::close);
        semaphore.tryAcquire(Duration.ofSeconds(1)).ifPresent(Lease::close);
        semaphore.tryAcquire(2, Duration.ofSeconds(1)).ifPresent(Lease::close);
        semaphore.acquireAsync().get().close();
        semaphore.acquireAsync(2).get().close();
        semaphore.tryAcquireAsync(Duration.ofSeconds(1)).get().ifPresent(Lease::close);
        semaphore.tryAcquireAsync(2, Duration.ofSeconds(1)).get().ifPresent(Lease::close);
        int one = semaphore.<Integer, RuntimeException>callLocked(Lease::permits);
        int two = semaphore.<Integer, RuntimeException>callLocked(2, Lease::permits);
        boolean ran = semaphore.tryRunLocked(Duration.ofSeconds(1), Lease::ensureHeld)
                && semaphore.tryRunLocked(2, Duration.ofSeconds(1), Lease::ensureHeld);
        said.add(semaphore.name() + " " + one + " " + two + " " + ran + " " + semaphore.availablePermits());
    }

    private static void admin(LockClient client, List<String> said) throws Exception {
        LockAdmin admin = client.admin();
        Lease held = client.lock("broken").acquire();
        LockPage page = admin.list("broken", Optional.empty(), 10);
        LockKey key = page.locks().get(0).key();
        LockStatus.Holder holder = admin.show(key).orElseThrow().holders().get(0);
        boolean broken = admin.breakLease(key, holder.token().orElseThrow(), "shown");
        said.add(key + " " + holder.client() + " " + broken + " "
                + held.lost().toCompletableFuture().get().cause());
    }

    private static void adapters(LockClient client, List<String> said) throws Exception {
        Lock lock = JavaLocks.reentrant(client.lock("java"));
        lock.lock();
        try {
            said.add("locked");
        } finally {
            lock.unlock();
        }
        try (Lease lease = client.lock("guarded").acquire()) {
            FenceGuard guard = FenceGuard.inMemory();
            said.add(guard.admits(lease) ? "guarded" : "refused");
        }
    }
}
