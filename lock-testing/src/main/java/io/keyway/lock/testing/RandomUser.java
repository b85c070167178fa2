// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.testing;

import io.keyway.lock.DistributedLock;
import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockException;
import io.keyway.lock.LockMode;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.tck.history.HeldAnswer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;

/** Takes locks at random, asks each lease again and again whether it is held, and writes down all of it. */
final class RandomUser implements Runnable {
    /** A user that is still not told then never will be; far above what a stopped process or a cut link delays. */
    private static final Duration TOLD_WITHIN = Duration.ofSeconds(60);

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration LITTLE_PATIENCE = Duration.ofMillis(300);
    private static final long SHORT_USE = Duration.ofMillis(4).toNanos();
    private static final long LONGEST_PAUSE = Duration.ofMillis(10).toNanos();
    private static final long BETWEEN_ANSWERS = Duration.ofMillis(20).toNanos();
    private static final long BETWEEN_QUESTIONS = Duration.ofMillis(1).toNanos();

    private final LockClient client;
    private final Journal journal;
    private final List<String> names;
    private final Pause pause;
    private final SplittableRandom random;
    private final boolean shares;

    RandomUser(LockClient client, Journal journal, List<String> names, Pause pause, long seed) {
        this.client = client;
        this.journal = journal;
        this.names = names;
        this.pause = pause;
        this.random = new SplittableRandom(seed);
        this.shares = client.features().contains(Feature.READ_WRITE);
    }

    /** Until the thread is interrupted. */
    @Override
    public void run() {
        try {
            while (!Thread.interrupted()) {
                pause.enter();
                try {
                    String name = names.get(random.nextInt(names.size()));
                    LockMode mode = shares && random.nextInt(5) == 0 ? LockMode.SHARED : LockMode.EXCLUSIVE;
                    use(name, mode, patience());
                } finally {
                    pause.leave();
                }
                LockSupport.parkNanos(random.nextLong(LONGEST_PAUSE));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private Duration patience() {
        int kind = random.nextInt(6);
        return kind == 0
                ? Duration.ZERO
                : kind < 5 ? Duration.ofNanos(random.nextLong(LITTLE_PATIENCE.toNanos())) : PATIENCE;
    }

    /** Takes that lock once for a moment; false if it was not granted. */
    boolean use(String name, LockMode mode, Duration wait) throws InterruptedException {
        DistributedLock lock =
                mode == LockMode.SHARED ? client.readWriteLock(name).read() : client.lock(name);
        long id = journal.asked(name, mode);
        Optional<Lease> acquired;
        try {
            acquired = wait.isZero() ? lock.tryAcquire() : lock.tryAcquire(wait);
        } catch (LockException e) {
            journal.refused(id, (wait.compareTo(PATIENCE) < 0 ? "hurried: " : "told: ") + e.getMessage());
            return false;
        }
        if (acquired.isEmpty()) {
            journal.refused(id, "");
            return false;
        }
        Lease lease = acquired.get();
        CompletableFuture<Void> told =
                lease.lost().thenAccept(loss -> journal.lost(id, loss)).toCompletableFuture();
        journal.granted(id, lease.token(), lease.ttl());
        boolean held = hold(lease, id);
        if (!held && random.nextBoolean()) {
            // Most of the time that it has to stop: a release says that it has stopped, and the lock may pass on.
            LockSupport.parkNanos(lease.ttl().toNanos() / 5);
        }
        journal.releasing(id);
        ReleaseOutcome outcome = lease.release();
        journal.released(id, outcome);
        if (!held || outcome == ReleaseOutcome.ALREADY_LOST) {
            awaitNews(told, id);
        }
        return true;
    }

    /** Keeps it for a while, most times short, sometimes over renewals. */
    private boolean hold(Lease lease, long id) {
        boolean longer = !pause.wanted() && random.nextInt(8) == 0;
        long use = random.nextLong(longer ? lease.ttl().toNanos() * 3 / 2 : SHORT_USE);
        HeldAnswer first = ask(lease);
        journal.answered(id, first);
        HeldAnswer last = first;
        long written = first.after();
        while (last.held() && last.after() - first.before() < use && !(longer && pause.wanted())) {
            LockSupport.parkNanos(BETWEEN_QUESTIONS);
            last = ask(lease);
            if (last.held() && last.after() - written > BETWEEN_ANSWERS) {
                journal.answered(id, last);
                written = last.after();
            }
        }
        if (last.held()) {
            last = ask(lease);
        }
        journal.answered(id, last);
        return last.held();
    }

    private static HeldAnswer ask(Lease lease) {
        long before = MachineClock.now();
        long remaining = lease.remaining().toNanos();
        boolean held = lease.isHeld();
        return new HeldAnswer(held, before, MachineClock.now(), remaining);
    }

    private void awaitNews(CompletableFuture<Void> told, long id) throws InterruptedException {
        try {
            told.get(TOLD_WITHIN.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            journal.untold(id);
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }
}
