// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.testing;

import io.keyway.lock.DeadlockException;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockException;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockRequest;
import io.keyway.lock.TransactionOptions;
import io.keyway.lock.TransactionOptions.OnDeadlock;
import io.keyway.lock.tck.journal.Journal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Takes two to five locks in one transaction, in random order and modes: step by step, and then it may be aborted, or
 * all at once, and then it may surrender. Mostly it waits without any limit, so that a deadlock which nobody resolves
 * keeps it forever. Work that was aborted is tried again, with its age.
 */
final class TransactionUser {
    private static final int MOST_LOCKS = 5;
    private static final long LONGEST_PAUSE = Duration.ofMillis(10).toNanos();
    private static final Duration LITTLE_PATIENCE = Duration.ofMillis(300);

    private final LockClient client;
    private final Journal journal;
    private final Duration ttl;
    private final List<String> names;
    private final Pause pause;
    private final SplittableRandom random;

    /**
     * Of that client, which has the feature TRANSACTIONS.
     *
     * @param ttl of the client's leases
     * @param names two at least
     */
    TransactionUser(
            LockClient client,
            Journal journal,
            Duration ttl,
            List<String> names,
            Pause pause,
            SplittableRandom random) {
        this.client = client;
        this.journal = journal;
        this.ttl = ttl;
        this.names = names;
        this.pause = pause;
        this.random = random;
    }

    /** One piece of work under locks among which is that name's. */
    void use(String name) throws InterruptedException {
        run(requests(name, random.nextBoolean() ? LockMode.SHARED : LockMode.EXCLUSIVE), random.nextBoolean(), true);
    }

    /** Has each name once, EXCLUSIVE, in as few transactions as random sizes make it, and without any limit. */
    void visitAll() throws InterruptedException {
        List<String> left = new ArrayList<>(names);
        Collections.shuffle(left, new Random(random.nextLong()));
        while (!left.isEmpty()) {
            List<String> some = left.subList(0, Math.min(left.size(), size()));
            List<LockRequest> requests =
                    some.stream().map(LockRequest::exclusive).toList();
            while (!run(requests, random.nextBoolean(), false)) {
                LockSupport.parkNanos(1_000_000);
            }
            some.clear();
        }
    }

    private int size() {
        return 2 + random.nextInt(MOST_LOCKS - 1);
    }

    private boolean run(List<LockRequest> requests, boolean atOnce, boolean odd) throws InterruptedException {
        TransactionOptions options = TransactionOptions.defaults()
                .withOnDeadlock(atOnce ? OnDeadlock.SURRENDER : OnDeadlock.ABORT)
                .withPriority(random.nextInt(2));
        while (true) {
            try (RecordedTransaction transaction =
                    new RecordedTransaction(client.transaction(options), journal, ttl, random)) {
                boolean all = atOnce ? atOnce(transaction, requests, odd) : stepByStep(transaction, requests, odd);
                transaction.hold(pause);
                return all;
            } catch (DeadlockException e) {
                options = options.withAge(e.nextAge());
                LockSupport.parkNanos(random.nextLong(LONGEST_PAUSE)); // or it meets the others of the circle again
            } catch (LockException e) {
                return false; // the journal has it: a loss, or a member that does not answer
            }
        }
    }

    private boolean atOnce(RecordedTransaction transaction, List<LockRequest> requests, boolean odd)
            throws InterruptedException {
        return transaction.lockAll(requests, odd ? wait(8) : null);
    }

    private boolean stepByStep(RecordedTransaction transaction, List<LockRequest> requests, boolean odd)
            throws InterruptedException {
        boolean all = true;
        for (LockRequest each : requests) {
            String name = each.name().value();
            boolean had = transaction.lock(name, each.mode(), odd ? wait(8) : null);
            transaction.ask();
            if (odd && had && each.mode() == LockMode.SHARED && random.nextInt(4) == 0) {
                transaction.upgrade(name);
                transaction.ask();
            } else if (odd && had && random.nextInt(12) == 0) {
                transaction.surrender(name);
                transaction.ask();
            }
            all &= had;
        }
        return all;
    }

    /** Null for no limit, but once in so many times. */
    private @Nullable Duration wait(int times) {
        return random.nextInt(times) > 0 ? null : Duration.ofNanos(random.nextLong(LITTLE_PATIENCE.toNanos()));
    }

    private List<LockRequest> requests(String name, LockMode mode) {
        List<String> others = new ArrayList<>(names);
        others.remove(name);
        Random shuffled = new Random(random.nextLong());
        Collections.shuffle(others, shuffled);
        List<LockRequest> requests = new ArrayList<>();
        requests.add(new LockRequest(LockName.of(name), mode));
        for (String other : others.subList(0, Math.min(size() - 1, others.size()))) {
            requests.add(
                    new LockRequest(LockName.of(other), random.nextInt(3) == 0 ? LockMode.SHARED : LockMode.EXCLUSIVE));
        }
        Collections.shuffle(requests, shuffled);
        return requests;
    }
}
