// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.transaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.Deadlock;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockRequest;
import io.keyway.lock.LockTransaction;
import io.keyway.lock.LockTransaction.Status;
import io.keyway.lock.Locks;
import io.keyway.lock.TransactionOptions;
import io.keyway.lock.peer.MemoryWorld;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Random locks of trees against a model that knows no levels: two locks exclude each other if the path of one is the
 * beginning of the other's and one of them writes. In virtual time, over the member, with restarts of it.
 */
class TreeModelTest {
    private static final Duration STEP = Duration.ofMillis(5);
    private static final Duration QUIET = Duration.ofSeconds(3);
    private static final int SESSIONS = 3;

    /** Whoever holds or wants locks: a transaction, or a lease without one. */
    private static final class User {
        final LockClient client;
        final Map<String, LockMode> wants = new LinkedHashMap<>();

        @Nullable
        CompletableFuture<Lease> lease;

        @Nullable
        LockTransaction transaction;

        int age;

        User(LockClient client) {
            this.client = client;
        }

        boolean idle() {
            return lease == null && transaction == null;
        }

        boolean holds() {
            return lease != null
                    ? lease.isDone() && lease.join().isHeld()
                    : transaction != null && transaction.status() == Status.HELD;
        }

        boolean waits() {
            return lease != null ? !lease.isDone() : transaction != null && transaction.status() == Status.WAITING;
        }

        void end() {
            if (lease != null) {
                lease.cancel(false);
                if (!lease.isCancelled()) {
                    lease.join().close();
                }
            } else if (transaction != null) {
                age = transaction.status() == Status.ABORTED ? age + 1 : 0;
                transaction.close();
            }
            lease = null;
            transaction = null;
            wants.clear();
        }
    }

    private final Map<String, Integer> seen = new LinkedHashMap<>();

    @Test
    void noTwoHoldWhatExcludesEachOtherAndNobodyWaitsForNobody() throws Exception {
        for (int seed = 0; seed < 40; seed++) {
            run(seed, 60);
        }
        assertThat(seen.keySet()).contains("waited", "aborted", "raised", "restart", "deep", "unlocked");
    }

    @Test
    @Tag("soak")
    void theSameForLong() throws Exception {
        for (int seed = 1000; seed < 2000; seed++) {
            run(seed, 300);
        }
    }

    private void run(int seed, int steps) throws Exception {
        Random random = new Random(seed);
        String url = "lock:native:mem://model" + seed + "?clock=manual&ttl=4s&maxTtl=4s"
                + (random.nextBoolean() ? "&cache=off" : "");
        List<LockClient> clients = new ArrayList<>();
        List<User> users = new ArrayList<>();
        try {
            for (int i = 0; i < SESSIONS; i++) {
                clients.add(Locks.open(url));
            }
            MemoryWorld world = clients.get(0).unwrap(MemoryWorld.class);
            for (int i = 0; i < 7; i++) {
                users.add(new User(clients.get(random.nextInt(SESSIONS))));
            }
            for (int step = 0; step < steps; step++) {
                act(users.get(random.nextInt(users.size())), random);
                world.advance(STEP.multipliedBy(random.nextInt(4)));
                noOverlap(users, seed);
                if (random.nextInt(40) == 0) {
                    world.restart();
                    seen.merge("restart", 1, Integer::sum);
                }
                if (random.nextInt(12) == 0) {
                    world.advance(QUIET.multipliedBy(4));
                    noOverlap(users, seed);
                    nobodyWaitsForNobody(users, seed);
                }
            }
            // All can go on: whoever holds ends, and so on.
            for (int round = 0; users.stream().anyMatch(User::waits); round++) {
                assertThat(round)
                        .as("rounds of seed %d, %s", seed, shown(users))
                        .isLessThan(20);
                users.stream().filter(user -> !user.waits()).forEach(User::end);
                world.advance(QUIET.multipliedBy(4));
                noOverlap(users, seed);
            }
            users.forEach(User::end);
            world.advance(QUIET.multipliedBy(4));
            try (Lease all = clients.get(0).tree("a").write().tryAcquire().orElseThrow()) {
                assertThat(all.isHeld()).isTrue();
            }
        } finally {
            users.forEach(User::end);
            clients.forEach(LockClient::close);
        }
    }

    private void act(User user, Random random) {
        LockTransaction transaction = user.transaction;
        if (user.idle() && random.nextInt(3) == 0) {
            String name = path(random);
            boolean writes = random.nextBoolean();
            user.wants.put(name, writes ? LockMode.EXCLUSIVE : LockMode.SHARED);
            user.lease = writes
                    ? user.client.tree(name).write().acquireAsync()
                    : user.client.tree(name).read().acquireAsync();
        } else if (user.idle()) {
            user.transaction = user.client.transaction(
                    TransactionOptions.defaults().withTree(true).withAge(user.age));
            ask(user, user.transaction, 1 + random.nextInt(3), random);
        } else if (transaction != null && user.holds() && random.nextInt(3) > 0) {
            ask(user, transaction, 1, random);
        } else if (transaction != null && user.holds() && random.nextInt(3) == 0) {
            String last = List.copyOf(user.wants.keySet()).get(user.wants.size() - 1);
            if (user.wants.keySet().stream().noneMatch(other -> other.startsWith(last + "/"))) {
                transaction.unlock(last);
                user.wants.remove(last);
                seen.merge("unlocked", 1, Integer::sum);
            }
        } else if (user.holds() || random.nextInt(3) == 0) {
            user.end();
        }
        if (transaction != null && transaction.status() == Status.ABORTED) {
            seen.merge("aborted", 1, Integer::sum);
            assertThat(transaction.deadlocks()).extracting(Deadlock::way).contains(Deadlock.Way.ABORTED);
            user.end();
        }
    }

    private void ask(User user, LockTransaction transaction, int count, Random random) {
        Map<String, LockRequest> asks = new LinkedHashMap<>();
        for (int i = 0; i < count; i++) {
            String name = path(random);
            LockMode mode = random.nextBoolean() ? LockMode.EXCLUSIVE : LockMode.SHARED;
            LockMode known = user.wants.get(name);
            if (known == LockMode.SHARED && mode == LockMode.EXCLUSIVE) {
                seen.merge("raised", 1, Integer::sum);
            }
            if (known != LockMode.EXCLUSIVE && !asks.containsKey(name)) {
                asks.put(name, mode == LockMode.EXCLUSIVE ? LockRequest.exclusive(name) : LockRequest.shared(name));
                user.wants.put(name, mode == LockMode.EXCLUSIVE || known == null ? mode : known);
            }
        }
        transaction.lockAsync(asks.values());
    }

    /** Along one path mostly, so that many meet; in all depths. */
    private String path(Random random) {
        int depth = random.nextInt(4) == 0 ? 1 + random.nextInt(16) : 1 + random.nextInt(4);
        StringBuilder path = new StringBuilder("a");
        for (int i = 1; i < depth; i++) {
            path.append(random.nextInt(3) == 0 ? "/c" : "/b");
        }
        seen.merge(depth > 5 ? "deep" : "flat", 1, Integer::sum);
        return path.toString();
    }

    private static boolean excludes(User one, User other) {
        for (Map.Entry<String, LockMode> mine : one.wants.entrySet()) {
            for (Map.Entry<String, LockMode> its : other.wants.entrySet()) {
                String a = mine.getKey() + "/";
                String b = its.getKey() + "/";
                boolean writes = mine.getValue() == LockMode.EXCLUSIVE || its.getValue() == LockMode.EXCLUSIVE;
                if (writes && (a.startsWith(b) || b.startsWith(a))) {
                    return true;
                }
            }
        }
        return false;
    }

    private static void noOverlap(List<User> users, int seed) {
        List<User> holders = users.stream().filter(User::holds).toList();
        for (User one : holders) {
            for (User other : holders) {
                assertThat(one != other && excludes(one, other))
                        .as("seed %d: %s and %s hold together", seed, one.wants, other.wants)
                        .isFalse();
            }
        }
    }

    /** Each waits for somebody whom it excludes, who holds something or waits too. */
    private void nobodyWaitsForNobody(List<User> users, int seed) {
        for (User user : users) {
            if (user.waits()) {
                seen.merge("waited", 1, Integer::sum);
                assertThat(users)
                        .as("seed %d: %s waits, of %s", seed, user.wants, shown(users))
                        .anyMatch(other -> other != user && !other.idle() && excludes(user, other));
            }
        }
    }

    private static List<String> shown(List<User> users) {
        return users.stream()
                .map(user -> user.wants
                        + (user.holds() ? " held" : user.waits() ? " waits" : user.idle() ? " idle" : " over"))
                .toList();
    }
}
