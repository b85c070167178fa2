// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.testing;

import io.keyway.lock.Capacity;
import io.keyway.lock.DistributedLock;
import io.keyway.lock.DistributedReadWriteLock;
import io.keyway.lock.DistributedSemaphore;
import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockException;
import io.keyway.lock.LockMode;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.tck.history.HeldAnswer;
import io.keyway.lock.tck.journal.Journal;
import io.keyway.lock.tck.journal.MachineClock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Takes locks at random, alone, shared and changing from one to the other, permits of semaphores whose capacity
 * changes, and perhaps most of the time transactions; asks each lease again and again whether it is held, and writes
 * down all of it.
 */
final class RandomUser implements Runnable {
    /** A user that is still not told then never will be; far above what a stopped process or a cut link delays. */
    private static final Duration TOLD_WITHIN = Duration.ofSeconds(60);

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration VISIT_WITHIN = Duration.ofSeconds(60);
    private static final Duration LITTLE_PATIENCE = Duration.ofMillis(300);
    private static final long SHORT_USE = Duration.ofMillis(4).toNanos();
    private static final long LONGEST_PAUSE = Duration.ofMillis(10).toNanos();
    private static final long BETWEEN_ANSWERS = Duration.ofMillis(20).toNanos();
    private static final long BETWEEN_QUESTIONS = Duration.ofMillis(1).toNanos();

    /** Permits of one resource, and how many resources there are at the most. */
    private static final int LIMIT = 2;

    private static final int RESOURCES = 3;
    /** For so long the number of resources stays as it is; users hear of it at different times. */
    private static final long SIZE_LASTS = Duration.ofMillis(700).toNanos();

    /** A lease, the number of its request, and the news of its loss. */
    private record Taken(Lease lease, long id, CompletableFuture<Void> told) {}

    /** One way to get a lease. */
    private interface Attempt {
        Optional<Lease> make() throws InterruptedException;
    }

    private final LockClient client;
    private final Journal journal;
    private final List<String> names;
    private final Pause pause;
    private final SplittableRandom random;
    private final long seed;
    private final boolean shares;
    private final boolean changes;
    private final boolean permits;
    /** Null if it takes single locks alone. */
    private final @Nullable TransactionUser transactions;

    /** @param transactionTtl of the client's leases, for a user of transactions; null for none */
    RandomUser(
            LockClient client,
            Journal journal,
            List<String> names,
            Pause pause,
            long seed,
            @Nullable Duration transactionTtl) {
        this.client = client;
        this.journal = journal;
        this.names = names;
        this.pause = pause;
        this.random = new SplittableRandom(seed);
        this.seed = seed;
        this.shares = client.features().contains(Feature.READ_WRITE);
        this.changes = shares && client.features().contains(Feature.UPGRADE);
        this.permits = client.features().contains(Feature.SEMAPHORE);
        this.transactions = transactionTtl == null
                ? null
                : new TransactionUser(client, journal, transactionTtl, names, pause, random.split());
    }

    /** Until the thread is interrupted. */
    @Override
    public void run() {
        try {
            while (!Thread.interrupted()) {
                pause.enter();
                try {
                    useOne(names.get(random.nextInt(names.size())), patience());
                } finally {
                    pause.leave();
                }
                LockSupport.parkNanos(random.nextLong(LONGEST_PAUSE));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void useOne(String name, Duration patience) throws InterruptedException {
        if (transactions != null && random.nextInt(4) > 0) {
            transactions.use(name);
            return;
        }
        int kind = random.nextInt(20);
        if (permits && kind < 4) {
            usePermits(name, patience);
        } else if (changes && kind < 7) {
            change(name, patience, random.nextInt(3) > 0);
        } else {
            use(name, shares && kind < 12 ? LockMode.SHARED : LockMode.EXCLUSIVE, patience);
        }
    }

    private Duration patience() {
        int kind = random.nextInt(6);
        return kind == 0
                ? Duration.ZERO
                : kind < 5 ? Duration.ofNanos(random.nextLong(LITTLE_PATIENCE.toNanos())) : PATIENCE;
    }

    /** As {@link #visit}, each name once, in whatever order, until it was granted; beginning with that one. */
    void visitAll(int first) throws InterruptedException {
        if (transactions != null) {
            transactions.visitAll();
            return;
        }
        for (int i = 0; i < names.size(); i++) {
            while (!visit(names.get((first + i) % names.size()), VISIT_WITHIN)) {
                LockSupport.parkNanos(1_000_000);
            }
        }
    }

    /** Takes all that there is of that name once for a moment; false if it was not granted. */
    private boolean visit(String name, Duration wait) throws InterruptedException {
        return use(name, LockMode.EXCLUSIVE, wait) && (!permits || usePermits(name, wait));
    }

    private boolean use(String name, LockMode mode, Duration wait) throws InterruptedException {
        Taken taken = take(name, mode, wait);
        if (taken != null) {
            end(taken, hold(taken));
        }
        return taken != null;
    }

    private @Nullable Taken take(String name, LockMode mode, Duration wait) throws InterruptedException {
        DistributedLock lock =
                mode == LockMode.SHARED ? client.readWriteLock(name).read() : client.lock(name);
        long id = journal.asked(name, mode);
        return taken(id, wait, () -> wait.isZero() ? lock.tryAcquire() : lock.tryAcquire(wait));
    }

    /** Each of these users has its own view of how many resources there are now. */
    private boolean usePermits(String name, Duration wait) throws InterruptedException {
        int resources = 1 + (int) Math.floorMod(MachineClock.now() / SIZE_LASTS + seed % 2, (long) RESOURCES);
        Capacity capacity = Capacity.perResource(LIMIT, () -> resources);
        int count = 1 + random.nextInt(LIMIT);
        DistributedSemaphore semaphore = client.semaphore(name, capacity);
        long id = journal.asked("semaphore-" + name, LockMode.PERMITS, count, capacity.current());
        Taken taken =
                taken(id, wait, () -> wait.isZero() ? semaphore.tryAcquire(count) : semaphore.tryAcquire(count, wait));
        if (taken != null) {
            end(taken, hold(taken));
        }
        return taken != null;
    }

    private @Nullable Taken taken(long id, Duration wait, Attempt attempt) throws InterruptedException {
        Optional<Lease> acquired;
        try {
            acquired = attempt.make();
        } catch (LockException e) {
            journal.refused(id, (wait.compareTo(PATIENCE) < 0 ? "hurried: " : "told: ") + e.getMessage());
            return null;
        }
        if (acquired.isEmpty()) {
            journal.refused(id, "");
            return null;
        }
        return granted(id, acquired.get());
    }

    private Taken granted(long id, Lease lease) {
        CompletableFuture<Void> told =
                lease.lost().thenAccept(loss -> journal.lost(id, loss)).toCompletableFuture();
        journal.granted(id, lease.token(), lease.ttl());
        return new Taken(lease, id, told);
    }

    private void end(Taken taken, boolean held) throws InterruptedException {
        if (!held && random.nextBoolean()) {
            // Most of the time that it has to stop: a release says that it has stopped, and the lock may pass on.
            LockSupport.parkNanos(taken.lease().ttl().toNanos() / 5);
        }
        journal.releasing(taken.id());
        ReleaseOutcome outcome = taken.lease().release();
        journal.released(taken.id(), outcome);
        if (!held || outcome == ReleaseOutcome.ALREADY_LOST) {
            awaitNews(taken);
        }
    }

    /** Reads and then writes, or the other way round. */
    private void change(String name, Duration patience, boolean up) throws InterruptedException {
        Taken first = take(name, up ? LockMode.SHARED : LockMode.EXCLUSIVE, patience);
        if (first == null) {
            return;
        }
        if (!hold(first)) {
            end(first, false);
            return;
        }
        DistributedReadWriteLock lock = client.readWriteLock(name);
        long id = journal.asked(name, up ? LockMode.EXCLUSIVE : LockMode.SHARED);
        if (up) {
            Taken second = taken(id, patience, () -> lock.tryUpgrade(first.lease(), patience));
            if (second == null) {
                end(first, answers(first)); // it reads on as before
                return;
            }
            HeldAnswer answer = ask(second.lease());
            if (answer.held()) {
                changed(first, answer.before()); // nobody else had it in between
            }
            journal.answered(id, answer);
            end(second, hold(second));
        } else {
            downgrade(lock, first, id);
        }
    }

    private void downgrade(DistributedReadWriteLock lock, Taken first, long id) throws InterruptedException {
        long called = MachineClock.now();
        Taken second;
        try {
            second = granted(id, lock.downgrade(first.lease()));
        } catch (LockException e) {
            // What was held alone is given up, or was lost before.
            journal.refused(id, "hurried: " + e.getMessage());
            journal.releasing(first.id(), called);
            ReleaseOutcome outcome = first.lease().release();
            journal.released(first.id(), outcome);
            if (outcome == ReleaseOutcome.ALREADY_LOST) {
                awaitNews(first);
            }
            return;
        }
        HeldAnswer answer = ask(second.lease());
        if (answer.held()) {
            changed(first, called);
            // No writer came in between: it was shared from the call on.
            journal.answered(id, new HeldAnswer(true, called + 1, called + 1, answer.remaining()));
        }
        journal.answered(id, answer);
        end(second, hold(second));
    }

    private void changed(Taken first, long at) {
        journal.releasing(first.id(), at);
        journal.released(first.id(), ReleaseOutcome.RELEASED);
    }

    private boolean answers(Taken taken) {
        HeldAnswer answer = ask(taken.lease());
        journal.answered(taken.id(), answer);
        return answer.held();
    }

    /** Keeps it for a while, most times short, sometimes over renewals. */
    private boolean hold(Taken taken) {
        Lease lease = taken.lease();
        boolean longer = !pause.wanted() && random.nextInt(8) == 0;
        long use = random.nextLong(longer ? lease.ttl().toNanos() * 3 / 2 : SHORT_USE);
        HeldAnswer first = ask(lease);
        journal.answered(taken.id(), first);
        HeldAnswer last = first;
        long written = first.after();
        while (last.held() && last.after() - first.before() < use && !(longer && pause.wanted())) {
            LockSupport.parkNanos(BETWEEN_QUESTIONS);
            last = ask(lease);
            if (last.held() && last.after() - written > BETWEEN_ANSWERS) {
                journal.answered(taken.id(), last);
                written = last.after();
            }
        }
        if (last.held()) {
            last = ask(lease);
        }
        journal.answered(taken.id(), last);
        return last.held();
    }

    private static HeldAnswer ask(Lease lease) {
        long before = MachineClock.now();
        long remaining = lease.remaining().toNanos();
        boolean held = lease.isHeld();
        return new HeldAnswer(held, before, MachineClock.now(), remaining);
    }

    private void awaitNews(Taken taken) throws InterruptedException {
        try {
            taken.told().get(TOLD_WITHIN.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            journal.untold(taken.id());
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }
}
