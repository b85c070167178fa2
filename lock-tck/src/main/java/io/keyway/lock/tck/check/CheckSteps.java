// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import io.keyway.lock.DistributedLock;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockPage;
import io.keyway.lock.LockStatus;
import io.keyway.lock.ReleaseOutcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

/** What many checks do alike. */
public abstract class CheckSteps extends CheckClients {
    /** Clocks may differ by so many hundredths, and a store counts in units of its own. */
    private static final int SURE = 98;

    /** No check makes so many locks. */
    private static final int ENDLESS = 10_000;

    CheckSteps(RunContext run, String check, int attempt) {
        super(run, check, attempt);
    }

    /** A client that has been connected: what it then asks takes no longer than it must. */
    public LockClient connected(String role) throws InterruptedException {
        LockClient client = client(role);
        client.lock(freshName()).acquire().close();
        return client;
    }

    // Asking

    /** Begins {@code acquire()} of that lock; {@code who} asks, in words. */
    public Task<Lease> acquiring(String who, LockClient client, String name) {
        return start(who, () -> client.lock(name).acquire());
    }

    /** Acquires that lock while time passes; {@code what} says it in words, as "the second acquire". */
    public Lease acquired(String what, LockClient client, String name) throws InterruptedException {
        return acquiring(what, client, name).get();
    }

    /** Begins {@code acquire()} of that lock, in one of its modes; {@code who} asks, in words. */
    public Task<Lease> acquiring(String who, DistributedLock lock) {
        return start(who, lock::acquire);
    }

    /** Begins {@code tryAcquire} of that lock; {@code who} asks, in words. */
    public Task<Optional<Lease>> trying(String who, LockClient client, String name, Duration wait) {
        return start(who, () -> client.lock(name).tryAcquire(wait));
    }

    /** Fails the check if the check's lock is granted to that client at once. */
    public void expectTaken(LockClient client, String otherwise) throws InterruptedException {
        expectTaken(client, name(), otherwise);
    }

    /** Fails the check if the lock is granted to that client at once. */
    public void expectTaken(LockClient client, String name, String otherwise) throws InterruptedException {
        expectTaken(client.lock(name), otherwise);
    }

    /** Fails the check if the lock is granted at once. */
    public void expectTaken(DistributedLock lock, String otherwise) throws InterruptedException {
        expect(lock.tryAcquire().isEmpty(), otherwise);
    }

    /** Takes the check's lock, which must be free. */
    public Lease expectFree(LockClient client, String otherwise) throws InterruptedException {
        return expectFree(client, name(), otherwise);
    }

    /** Takes a lock that must be free. */
    public Lease expectFree(LockClient client, String name, String otherwise) throws InterruptedException {
        return expectFree(client.lock(name), otherwise);
    }

    /** Takes a lock that must be free. */
    public Lease expectFree(DistributedLock lock, String otherwise) throws InterruptedException {
        return lock.tryAcquire().orElseThrow(() -> failure(otherwise));
    }

    /** The lease of an attempt that must be granted. */
    public Lease expectGranted(Optional<Lease> attempt, String otherwise) {
        return attempt.orElseThrow(() -> failure(otherwise));
    }

    /**
     * Takes a lock that must be free within half a ttl: what is left of a request or a grant that has ended lasts a
     * round trip.
     */
    public Lease takesSoon(LockClient client, String name, String otherwise) throws InterruptedException {
        return comesFree(ttl(1, 2), client, name, otherwise + ", for half a ttl");
    }

    /** As {@link #takesSoon}, and releases it. */
    public void expectFreeSoon(LockClient client, String name, String otherwise) throws InterruptedException {
        takesSoon(client, name, otherwise).release();
    }

    /** Takes a lock that must be free within that time. */
    public Lease comesFree(Duration limit, LockClient client, String name, String otherwise)
            throws InterruptedException {
        List<Lease> taken = new ArrayList<>();
        boolean free = happens(limit, () -> {
            client.lock(name).tryAcquire().ifPresent(taken::add);
            return !taken.isEmpty();
        });
        expect(free, otherwise);
        return taken.get(0);
    }

    // Waiting

    /** Fails the check unless the call ends within that time, as {@link #endsWithin} has it. */
    public void expectEnd(Duration limit, Task<?> task, String otherwise) throws InterruptedException {
        expect(endsWithin(limit, task), otherwise);
    }

    /** Acquires that lock, which must be granted within that time, as {@link #endsWithin} has it; {@code who} asks. */
    public Lease expectAcquired(Duration limit, String who, LockClient client, String name, String otherwise)
            throws InterruptedException {
        Task<Lease> acquire = acquiring(who, client, name);
        expectEnd(limit, acquire, otherwise);
        return acquire.get();
    }

    /** Waits for the end of all of them. */
    public void join(List<? extends Task<?>> tasks) throws InterruptedException {
        for (Task<?> task : tasks) {
            task.get();
        }
    }

    /** Waits for each of them, and releases what it has acquired. */
    public void releaseEach(List<Task<Lease>> tasks) throws InterruptedException {
        for (Task<Lease> task : tasks) {
            task.get().release();
        }
    }

    /**
     * Fails the check if that was seen, which cannot be while a grant of that ttl is in force that was asked for at
     * that reading, or later; surely, as {@link #never}, if the grant is in force even now.
     */
    public void neverWithin(long sent, Duration term, boolean seen, String text) {
        neverBefore(sent + surely(term), seen, text);
    }

    /** How many nanoseconds a grant of that ttl is in force at the least, whosever clock measures it. */
    public static long surely(Duration term) {
        return term.toNanos() / 100 * SURE;
    }

    // What a lease says

    /** Waits until the lease says by {@code lost()} how it was lost. */
    public LeaseLoss lossOf(Lease lease) throws InterruptedException {
        List<LeaseLoss> told = new CopyOnWriteArrayList<>();
        lease.lost().whenComplete((loss, failure) -> {
            if (loss != null) {
                told.add(loss);
            }
        });
        until("lost() of a lease that has ended completes", () -> !told.isEmpty());
        return told.get(0);
    }

    /** Waits until the lease says by {@code lost()} how it was lost; fails the check if it was for another cause. */
    public LeaseLoss expectLoss(LeaseLoss.Cause cause, Lease lease) throws InterruptedException {
        LeaseLoss loss = lossOf(lease);
        expectEqual("the cause of the loss", cause, loss.cause());
        return loss;
    }

    /** Whether {@code lost()} is complete. */
    public boolean isToldLost(Lease lease) {
        return lease.lost().toCompletableFuture().isDone();
    }

    /** Releases it by {@code releaseAsync()}, and waits for that. */
    public ReleaseOutcome releaseAsync(Lease lease) throws InterruptedException {
        CompletableFuture<ReleaseOutcome> outcome = lease.releaseAsync().toCompletableFuture();
        until("releaseAsync() completes", outcome::isDone);
        return outcome.join();
    }

    // Administration

    /** Breaks the lease, which is in force. */
    public void breaks(LockClient operator, Lease lease, String reason) throws InterruptedException {
        boolean done = operator.admin().breakLease(key(lease.name().value()), lease.token(), reason);
        expect(done, "a lease that is in force was not broken");
    }

    /** All that a listing shows, by pages of so many. */
    public List<LockStatus> listed(LockClient client, String prefix, int page) throws InterruptedException {
        List<LockStatus> listed = new ArrayList<>();
        Optional<String> after = Optional.empty();
        do {
            LockPage next = client.admin().list(prefix, after, page);
            listed.addAll(next.locks());
            expect(
                    listed.size() < ENDLESS,
                    "pages of a listing show " + listed.size() + " locks, and there is a next one");
            after = next.next();
        } while (after.isPresent());
        return listed;
    }
}
