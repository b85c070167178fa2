// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli.load;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockException;
import io.keyway.lock.LockMode;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.tck.history.HeldAnswer;
import io.keyway.lock.tck.journal.Journal;
import io.keyway.lock.tck.journal.MachineClock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The user of one client of a load: acquires if it holds nothing, releases if it holds everything, and else does the
 * one or the other at random. Each lease is asked again and again whether it is held, and all of it is written down.
 * What it tells beside the journal: {@code took NANOS cached|asked} before each grant, {@code error REASON}, {@code
 * gave NANOS}, {@code lost}. For one thread.
 */
final class LoadUser implements AutoCloseable {
    private static final long BETWEEN_QUESTIONS = 20;
    private static final long BETWEEN_ANSWERS = TimeUnit.MILLISECONDS.toNanos(100);

    /** A lease in use, or kept for the next use since nobody can recall it. */
    private static final class Held {
        final long id;
        final Lease lease;
        final long got;
        boolean over;
        boolean idle;
        long written;

        Held(long id, Lease lease, long got) {
            this.id = id;
            this.lease = lease;
            this.got = got;
        }
    }

    private final ClientSettings settings;
    private final LockClient client;
    private final RequestCount count;
    private final Journal journal;
    private final Consumer<String> say;
    private final SplittableRandom random;
    private final Map<Integer, Held> held = new ConcurrentSkipListMap<>();
    private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1, task -> {
        Thread thread = new Thread(task, "questions");
        thread.setDaemon(true);
        return thread;
    });

    @SuppressWarnings("FutureReturnValueIgnored") // close ends it
    LoadUser(ClientSettings settings, LockClient client, RequestCount count, Journal journal, Consumer<String> say) {
        this.settings = settings;
        this.client = client;
        this.count = count;
        this.journal = journal;
        this.say = say;
        this.random = new SplittableRandom(settings.seed());
        timer.scheduleWithFixedDelay(
                () -> held.values().forEach(each -> question(each, false)),
                BETWEEN_QUESTIONS,
                BETWEEN_QUESTIONS,
                TimeUnit.MILLISECONDS);
    }

    /** Carries out one command. */
    void step() throws InterruptedException {
        List<Integer> inUse = new ArrayList<>();
        held.forEach((number, each) -> {
            if (!each.idle) {
                inUse.add(number);
            }
        });
        boolean acquires = inUse.isEmpty() || (inUse.size() < settings.locks() && random.nextBoolean());
        if (acquires) {
            List<Integer> free = IntStream.rangeClosed(1, settings.locks())
                    .filter(number -> !inUse.contains(number))
                    .boxed()
                    .toList();
            acquire(free.get(random.nextInt(free.size())));
        } else {
            release(inUse.get(random.nextInt(inUse.size())));
        }
    }

    private void acquire(int number) throws InterruptedException {
        long start = System.nanoTime();
        Held kept = held.get(number);
        if (kept != null && takeUp(kept)) {
            say.accept("took " + (System.nanoTime() - start) + " kept");
            work();
            return;
        }
        String name = settings.prefix() + "/" + number;
        long id = journal.asked(name, LockMode.EXCLUSIVE);
        Optional<Lease> acquired;
        count.beginAcquire();
        start = System.nanoTime();
        try {
            acquired = client.lock(name).tryAcquire(settings.lockWait());
        } catch (LockException e) {
            journal.refused(id, "");
            say.accept("error " + String.valueOf(e.getMessage()).replace('\n', ' '));
            return;
        }
        long took = System.nanoTime() - start;
        if (acquired.isEmpty()) {
            journal.refused(id, "");
            say.accept("error not granted in time");
            return;
        }
        say.accept("took " + took + (count.tookFromCache() ? " cached" : " asked"));
        Lease lease = acquired.get();
        Held got = new Held(id, lease, System.nanoTime());
        journal.granted(id, lease.token(), lease.ttl());
        question(got, true);
        held.put(number, got);
        lease.lost().thenAccept(loss -> {
            journal.lost(id, loss);
            if (!got.idle) {
                say.accept("lost");
            }
            held.remove(number, got);
        });
        work();
    }

    private void work() throws InterruptedException {
        if (!settings.hold().isZero()) {
            TimeUnit.NANOSECONDS.sleep(settings.hold().toNanos());
        }
    }

    private boolean takeUp(Held kept) {
        synchronized (kept) {
            boolean taken = kept.idle && !kept.over && kept.lease.isHeld();
            kept.idle &= !taken;
            return taken;
        }
    }

    @SuppressWarnings("FutureReturnValueIgnored") // close ends it
    private void release(int number) {
        @Nullable Held mine = held.get(number);
        if (mine == null) {
            return; // lost this moment
        }
        long due = mine.got + settings.leaseTime().toNanos() - System.nanoTime();
        if (!settings.recall() && due > 0) {
            synchronized (mine) {
                mine.idle = true;
            }
            timer.schedule(() -> giveBackIdle(number, mine), due, TimeUnit.NANOSECONDS);
            say.accept("gave 0");
            return;
        }
        long took = giveBack(number, mine);
        if (took >= 0) {
            say.accept("gave " + took);
        }
    }

    private void giveBackIdle(int number, Held mine) {
        synchronized (mine) {
            if (mine.idle) {
                giveBack(number, mine);
            }
        }
    }

    /** How long it took; negative if there was nothing to give back any more. */
    private long giveBack(int number, Held mine) {
        synchronized (mine) {
            if (mine.over) {
                return -1;
            }
            question(mine, true);
            mine.over = true;
        }
        held.remove(number, mine);
        journal.releasing(mine.id);
        long start = System.nanoTime();
        try {
            ReleaseOutcome outcome = mine.lease.release();
            long took = System.nanoTime() - start;
            journal.released(mine.id, outcome);
            return outcome == ReleaseOutcome.RELEASED ? took : -1;
        } catch (LockException e) {
            say.accept("error releasing: " + String.valueOf(e.getMessage()).replace('\n', ' '));
            return -1;
        }
    }

    /** Asks the lease, and writes the answer down, if it has to be, if it is new, or now and then. */
    private void question(Held mine, boolean write) {
        synchronized (mine) {
            if (mine.over) {
                return;
            }
            long before = MachineClock.now();
            long remaining = mine.lease.remaining().toNanos();
            boolean holds = mine.lease.isHeld();
            long after = MachineClock.now();
            if (write || !holds || after - mine.written > BETWEEN_ANSWERS) {
                journal.answered(mine.id, new HeldAnswer(holds, before, after, remaining));
                mine.written = after;
            }
            mine.over |= !holds;
        }
    }

    /** Gives back what is held. */
    @Override
    public void close() throws InterruptedException {
        timer.shutdownNow();
        timer.awaitTermination(10, TimeUnit.SECONDS);
        held.forEach(this::giveBack);
    }
}
