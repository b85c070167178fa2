// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import io.keyway.lock.Capacity;
import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.Hint;
import io.keyway.lock.tck.check.Requirement;
import io.keyway.lock.tck.check.Task;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;

/** Rules 301, 302, 412, 602, 1301 and more under random use; what was seen is judged by the history. */
final class RandomChecks {
    private static final String CHANCE = "other seeds, other choices (--seed)";

    /** What one check has in hand. */
    private static final class Hands {
        final List<CompletableFuture<Lease>> pending = new ArrayList<>();
        final List<Lease> held = new ArrayList<>();

        void take() {
            pending.removeIf(future -> {
                // Asked once: it may be done a moment later.
                boolean done = future.isDone();
                if (done) {
                    keep(future);
                }
                return done;
            });
            held.removeIf(lease -> !lease.isHeld());
        }

        /** Cancels one of those that wait; if its lease has just come, that is kept. */
        void giveUp(SplittableRandom random) {
            if (!pending.isEmpty()) {
                CompletableFuture<Lease> future = pending.remove(random.nextInt(pending.size()));
                future.cancel(false);
                keep(future);
            }
        }

        private void keep(CompletableFuture<Lease> done) {
            if (!done.isCompletedExceptionally()) {
                held.add(done.join());
            }
        }
    }

    @Check(rules = "LK-301 LK-302 LK-412 LK-602", from = Profile.SMOKE, statistical = CHANCE)
    @Hint("The picture shows two grants that should not be there together, or a request that nobody served: what "
            + "came before?")
    void randomRequestsAreServedOneAfterTheOther(CheckContext t) throws Exception {
        List<LockClient> clients = List.of(t.client("a"), t.client("b"), t.client("c"));
        SplittableRandom random = t.random();
        Hands hands = new Hands();
        int steps = t.isVirtual() ? t.rounds(100, 300, 600) : t.rounds(150, 500, 3000);
        for (int i = 0; i < steps; i++) {
            LockClient client = clients.get(random.nextInt(clients.size()));
            step(t, client, t.name("n" + random.nextInt(2)), random, hands);
            hands.take();
        }
        // Whoever still waits is served once all that are held are given back.
        boolean served = t.happens(t.patience(), () -> {
            hands.take();
            hands.held.forEach(Lease::releaseAsync);
            hands.held.clear();
            return hands.pending.isEmpty();
        });
        t.expect(
                served,
                hands.pending.size() + " requests without a time limit were never granted, and nobody held the lock");
        hands.take();
        hands.held.forEach(Lease::release);
        for (int i = 0; i < 2; i++) {
            String name = t.name("n" + i);
            t.comesFree(
                    t.ttl(5, 4),
                    clients.get(0),
                    name,
                    "after random use by three clients, all of which have released, a lock is not free");
        }
    }

    private static void step(CheckContext t, LockClient client, String name, SplittableRandom random, Hands hands)
            throws InterruptedException {
        switch (random.nextInt(10)) {
            case 0, 1, 2 -> {
                if (hands.pending.size() < 8) {
                    hands.pending.add(request(t, client, name, random));
                }
            }
            case 3 -> {
                if (hands.held.size() < 4) {
                    client.lock(name).tryAcquire().ifPresent(hands.held::add);
                }
            }
            case 4 -> {
                hands.giveUp(random);
            }
            case 5, 6, 7 -> {
                if (!hands.held.isEmpty()) {
                    Lease lease = hands.held.remove(random.nextInt(hands.held.size()));
                    if (random.nextBoolean()) {
                        lease.releaseAsync();
                    } else {
                        lease.close();
                    }
                }
            }
            default -> t.pass(t.isVirtual() ? t.ttl(1 + random.nextInt(20), 40) : Duration.ofMillis(random.nextInt(4)));
        }
    }

    private static CompletableFuture<Lease> request(
            CheckContext t, LockClient client, String name, SplittableRandom random) {
        LockOptions options = random.nextInt(6) == 0 ? t.unrenewed() : LockOptions.none();
        if (t.has(Feature.READ_WRITE) && random.nextBoolean()) {
            return client.readWriteLock(name).read().with(options).acquireAsync();
        }
        return client.lock(name).with(options).acquireAsync();
    }

    @Check(
            rules = "LK-301 LK-302 LK-403 LK-602",
            from = Profile.QUICK,
            requires = Requirement.REAL_TIME,
            statistical = CHANCE)
    @Hint("The picture shows two grants that should not be there together: what came before?")
    void manyThreadsAtRandomExcludeEachOther(CheckContext t) throws Exception {
        long end = t.now() + Duration.ofSeconds(t.rounds(1, 4, 25)).toNanos();
        List<Task<Integer>> users = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            LockClient client = t.client("c" + i);
            for (int j = 0; j < 2; j++) {
                SplittableRandom random = t.random().split();
                users.add(t.start("a random user", () -> use(t, client, random, end)));
            }
        }
        t.passUntil(end - t.ttl().toNanos());
        for (Task<Integer> user : users) {
            // Some leave in the middle of a wait.
            if (t.random().nextInt(3) == 0) {
                user.interrupt();
            }
        }
        t.passUntil(end);
        int granted = 0;
        for (Task<Integer> user : users) {
            Optional<Throwable> thrown = user.outcome();
            if (thrown.isPresent()) {
                Throwable left = thrown.orElseThrow();
                t.expect(
                        left instanceof InterruptedException || left instanceof LockUnavailableException,
                        "a random user was ended by " + left);
            } else {
                granted += user.get();
            }
        }
        t.note(granted + " grants to users that stayed to the end");
        for (int i = 0; i < 3; i++) {
            String name = t.name("n" + i);
            LockClient last = t.client("last" + i);
            t.comesFree(t.ttl(5, 4), last, name, "after random use, when all users had left, a lock is not free");
        }
    }

    private static int use(CheckContext t, LockClient client, SplittableRandom random, long end)
            throws InterruptedException {
        int granted = 0;
        while (t.now() - end < 0) {
            String name = t.name("n" + random.nextInt(3));
            Optional<Lease> lease = switch (random.nextInt(4)) {
                case 0 -> Optional.of(client.lock(name).acquire());
                case 1 -> client.lock(name).tryAcquire();
                default -> client.lock(name).tryAcquire(t.ttl());
            };
            if (lease.isEmpty()) {
                continue;
            }
            granted++;
            try (Lease held = lease.orElseThrow()) {
                for (int i = random.nextInt(200); i > 0 && held.isHeld(); i--) {
                    Thread.onSpinWait();
                }
            }
        }
        return granted;
    }

    @Check(rules = "LK-1301 LK-1305", needs = Feature.SEMAPHORE, statistical = CHANCE)
    @Hint("The history tells how many permits were out at each grant: where does a count drift?")
    void randomPermitsNeverExceedTheCapacity(CheckContext t) throws Exception {
        List<LockClient> clients = List.of(t.client("a"), t.client("b"), t.client("c"));
        SplittableRandom random = t.random();
        Hands hands = new Hands();
        Capacity capacity = Capacity.of(5);
        int steps = t.isVirtual() ? t.rounds(100, 200, 500) : t.rounds(100, 400, 2000);
        for (int i = 0; i < steps; i++) {
            LockClient client = clients.get(random.nextInt(clients.size()));
            switch (random.nextInt(6)) {
                case 0, 1 -> {
                    if (hands.pending.size() < 8) {
                        hands.pending.add(client.semaphore(t.name(), capacity).acquireAsync(1 + random.nextInt(5)));
                    }
                }
                case 2 -> {
                    hands.giveUp(random);
                }
                case 3, 4 -> {
                    if (!hands.held.isEmpty()) {
                        hands.held.remove(random.nextInt(hands.held.size())).close();
                    }
                }
                default -> t.pass(t.isVirtual() ? t.ttl(1, 10) : Duration.ofMillis(random.nextInt(3)));
            }
            hands.take();
        }
        hands.pending.forEach(future -> future.cancel(false));
        hands.take();
        hands.held.forEach(Lease::close);
        t.expectWithin(
                t.ttl(5, 4),
                "after random use, when all were given back, not all permits are there",
                () -> clients.get(0).semaphore(t.name(), capacity).tryAcquire(5).isPresent());
    }
}
