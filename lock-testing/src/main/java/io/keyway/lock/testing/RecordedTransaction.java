// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.testing;

import io.keyway.lock.DeadlockException;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LeaseLostException;
import io.keyway.lock.LockException;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockRequest;
import io.keyway.lock.LockTransaction;
import io.keyway.lock.LockTransaction.Status;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.tck.history.HeldAnswer;
import io.keyway.lock.tck.journal.Journal;
import io.keyway.lock.tck.journal.MachineClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A transaction whose user writes down all that it does and is told: each lock as a lease of its own, and that they are
 * of one transaction. A lock counts as held while the transaction says that all is held, and names the token under
 * which this lock was granted; so one that was given up unnoticed is gone. For one thread.
 */
final class RecordedTransaction implements AutoCloseable {
    /** As of other users. */
    private static final Duration TOLD_WITHIN = Duration.ofSeconds(60);

    private static final long SHORT_USE = Duration.ofMillis(4).toNanos();
    private static final long BETWEEN_ANSWERS = Duration.ofMillis(20).toNanos();
    private static final long BETWEEN_QUESTIONS = Duration.ofMillis(1).toNanos();

    /** Of all transactions of this process. */
    private static final AtomicLong NUMBERS = new AtomicLong();

    /** A lock of it, by the number of its request. */
    private record Lock(String name, LockMode mode, long id, long token) {}

    private final LockTransaction transaction;
    private final Journal journal;
    private final Duration ttl;
    private final SplittableRandom random;
    private final long number = NUMBERS.incrementAndGet();
    /** What its user was told is held; guarded by itself, as the news of a loss comes on another thread. */
    private final List<Lock> held = new ArrayList<>();

    private final CountDownLatch told = new CountDownLatch(1);
    private boolean aborted;
    private boolean gone;

    /** Of that transaction, which has no locks yet; closing closes it. */
    RecordedTransaction(LockTransaction transaction, Journal journal, Duration ttl, SplittableRandom random) {
        this.transaction = transaction;
        this.journal = journal;
        this.ttl = ttl;
        this.random = random;
        transaction.lost().thenAccept(this::lost);
    }

    private void lost(LeaseLoss loss) {
        synchronized (held) {
            held.forEach(each -> journal.lost(each.id(), loss));
            told.countDown();
        }
    }

    /** What asks the transaction for something. */
    private interface Question {
        /** Returns false if the time was over. */
        boolean ask() throws InterruptedException;
    }

    /** Step by step; null for no limit. False if it was not had. */
    boolean lock(String name, LockMode mode, @Nullable Duration wait) throws InterruptedException {
        return had(List.of(asked(name, mode)), () -> {
            if (wait != null) {
                return transaction.tryLock(name, mode, wait);
            }
            transaction.lock(name, mode);
            return true;
        });
    }

    /** All at once; false if they were not had in time, and then nothing more can be done with it. */
    boolean lockAll(List<LockRequest> requests, @Nullable Duration wait) throws InterruptedException {
        List<Lock> locks = new ArrayList<>();
        requests.forEach(each -> locks.add(asked(each.name().value(), each.mode())));
        return had(locks, () -> {
            transaction.lockAsync(requests);
            if (wait != null) {
                return transaction.awaitAll(wait);
            }
            transaction.awaitAll();
            return true;
        });
    }

    /** From SHARED to EXCLUSIVE, without any limit. */
    void upgrade(String name) throws InterruptedException {
        Lock before = find(name);
        Lock asked = asked(name, LockMode.EXCLUSIVE);
        if (before == null
                || !had(List.of(asked), () -> {
                    transaction.lock(name, LockMode.EXCLUSIVE);
                    return true;
                })) {
            return;
        }
        long at = MachineClock.now();
        synchronized (held) {
            if (told.getCount() == 0 || transaction.status() != Status.HELD) {
                return;
            }
            held.remove(before);
        }
        journal.releasing(before.id(), at); // nobody else had it in between
        journal.released(before.id(), ReleaseOutcome.RELEASED);
    }

    /** Goes to the end of that lock's queue, and comes back. */
    void surrender(String name) throws InterruptedException {
        Lock before = find(name);
        if (before == null || gone || !giveUp(before)) {
            return;
        }
        journal.releasing(before.id());
        had(List.of(asked(name, before.mode())), () -> {
            transaction.surrender(name);
            transaction.awaitAll();
            return true;
        });
    }

    private @Nullable Lock find(String name) {
        synchronized (held) {
            return held.stream()
                    .filter(each -> each.name().equals(name))
                    .findFirst()
                    .orElse(null);
        }
    }

    /** Its user relies on it no more; false if a loss was told before. */
    private boolean giveUp(Lock lock) {
        synchronized (held) {
            return told.getCount() > 0 && held.remove(lock);
        }
    }

    private Lock asked(String name, LockMode mode) {
        return new Lock(name, mode, journal.asked(name, mode, number), 0);
    }

    private boolean had(List<Lock> asked, Question question) throws InterruptedException {
        boolean had = false;
        String why = "";
        try {
            had = question.ask();
        } catch (DeadlockException e) {
            aborted = true;
            why = "deadlock: " + e.getMessage();
            throw e;
        } catch (LeaseLostException e) {
            ask();
            why = "lost: " + e.getMessage();
            throw e;
        } catch (LockException e) {
            why = "hurried: " + e.getMessage();
            throw e;
        } finally {
            if (!had) {
                for (Lock each : asked) {
                    journal.refused(each.id(), why);
                }
            }
        }
        if (had) {
            asked.forEach(this::granted);
        }
        return had;
    }

    private void granted(Lock asked) {
        long token;
        try {
            token = transaction.token(asked.name());
        } catch (IllegalStateException e) {
            journal.refused(asked.id(), "lost at once");
            return;
        }
        synchronized (held) {
            if (told.getCount() > 0) {
                journal.granted(asked.id(), token, ttl);
                held.add(new Lock(asked.name(), asked.mode(), asked.id(), token));
            }
        }
    }

    /** Asks whether all is held, and writes the answers; one that is aborted keeps what it has, and is not asked. */
    boolean ask() {
        long before = MachineClock.now();
        Status status = transaction.status();
        if (status == Status.ABORTED) {
            aborted = true;
            return false;
        }
        boolean all = status == Status.HELD;
        List<Lock> locks;
        synchronized (held) {
            locks = List.copyOf(held);
        }
        List<Lock> same = new ArrayList<>();
        for (Lock each : locks) {
            if (all && isSame(each)) {
                same.add(each);
            }
        }
        long after = MachineClock.now();
        for (Lock each : locks) {
            journal.answered(each.id(), new HeldAnswer(same.contains(each), before, after, 0));
        }
        gone |= same.size() < locks.size();
        return !gone && !locks.isEmpty();
    }

    private boolean isSame(Lock lock) {
        try {
            return transaction.token(lock.name()) == lock.token();
        } catch (IllegalStateException e) {
            return false;
        }
    }

    /** Keeps what it has for a while, most times short, sometimes over renewals. */
    void hold(Pause pause) {
        boolean longer = !pause.wanted() && random.nextInt(8) == 0;
        long end = MachineClock.now() + random.nextLong(longer ? ttl.toNanos() * 3 / 2 : SHORT_USE);
        boolean holds = ask();
        long asked = MachineClock.now();
        while (holds && MachineClock.now() - end < 0 && !(longer && pause.wanted())) {
            LockSupport.parkNanos(BETWEEN_QUESTIONS);
            holds = transaction.status() == Status.HELD;
            if (!holds || MachineClock.now() - asked > BETWEEN_ANSWERS) {
                holds = ask();
                asked = MachineClock.now();
            }
        }
        if (holds) {
            ask();
        }
    }

    /** Gives all back; in one of the ways that there are. */
    @Override
    public void close() throws InterruptedException {
        try {
            if (gone) {
                awaitNews();
            } else if (aborted) {
                LockSupport.parkNanos(random.nextLong(SHORT_USE)); // it undoes what it had begun
                unlockEach();
            } else if (random.nextBoolean()) {
                unlockEach();
            }
        } finally {
            List<Lock> left;
            synchronized (held) {
                left = List.copyOf(held);
                held.clear();
            }
            left.forEach(each -> journal.releasing(each.id()));
            transaction.close();
        }
    }

    /** What an outcome says is more than what {@code close} does: the lock was held until then. */
    private void unlockEach() {
        List<Lock> locks;
        synchronized (held) {
            locks = new ArrayList<>(held);
        }
        Collections.shuffle(locks, new Random(random.nextLong()));
        for (Lock each : locks) {
            if (!giveUp(each)) {
                return;
            }
            journal.releasing(each.id());
            try {
                journal.released(each.id(), transaction.unlock(each.name()));
            } catch (IllegalStateException e) {
                return; // it was lost, or the transaction waits for it, since it was to be upgraded
            }
        }
    }

    private void awaitNews() throws InterruptedException {
        if (!told.await(TOLD_WITHIN.toMillis(), TimeUnit.MILLISECONDS)) {
            synchronized (held) {
                held.forEach(each -> journal.untold(each.id()));
            }
        }
    }
}
