// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.transaction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.Deadlock;
import io.keyway.lock.DeadlockException;
import io.keyway.lock.DistributedLock;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockRequest;
import io.keyway.lock.LockTransaction;
import io.keyway.lock.LockTransaction.Status;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.Locks;
import io.keyway.lock.TransactionOptions;
import io.keyway.lock.peer.MemoryWorld;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Random locks of trees against a model that knows no levels: two locks exclude each other if the path of one is the
 * beginning of the other's and one of them writes. In virtual time, over the member, with restarts of it; users cancel,
 * surrender, unlock, and wait for a limited time.
 */
class TreeModelTest {
    private static final Duration STEP = Duration.ofMillis(5);
    private static final Duration QUIET = Duration.ofSeconds(3);
    private static final int SESSIONS = 3;

    /** Whoever holds or wants locks: a transaction, or a lease without one. */
    private static final class User {
        final LockClient client;
        final Map<String, LockMode> wants = new LinkedHashMap<>();
        /** What the user knows that the transaction has; it keeps that until the user gives it back. */
        final Map<String, LockMode> has = new LinkedHashMap<>();

        /** Of a lease, or of one if it comes in time. */
        @Nullable
        CompletableFuture<?> lease;

        boolean limited;

        @Nullable
        LockTransaction transaction;

        int age;

        User(LockClient client) {
            this.client = client;
        }

        boolean idle() {
            return lease == null && transaction == null;
        }

        private Optional<Lease> granted() {
            CompletableFuture<?> asked = lease;
            if (asked == null || !asked.isDone() || asked.isCompletedExceptionally()) {
                return Optional.empty();
            }
            return asked.join() instanceof Optional<?> inTime
                    ? inTime.map(Lease.class::cast)
                    : Optional.of((Lease) asked.join());
        }

        boolean holds() {
            return lease != null ? granted().isPresent() : transaction != null && transaction.status() == Status.HELD;
        }

        boolean waits() {
            return lease != null ? !lease.isDone() : transaction != null && transaction.status() == Status.WAITING;
        }

        /** Hears what has become of what it asked for. */
        void look() {
            if (transaction != null) {
                assertThat(transaction.status())
                        .as("wants %s, has %s", wants, has)
                        .isNotIn(Status.LOST, Status.FAILED, Status.CLOSED);
                if (holds()) {
                    has.putAll(wants);
                    transaction.ensureHeld();
                }
            } else if (lease != null && lease.isDone()) {
                if (lease.isCompletedExceptionally()) {
                    // A member that grants nothing yet has not said that somebody holds it.
                    assertThat(limited).isTrue();
                    assertThatThrownBy(lease::join).hasCauseInstanceOf(LockUnavailableException.class);
                }
                granted()
                        .ifPresentOrElse(
                                given -> {
                                    assertThat(given.isHeld()).isTrue();
                                    has.putAll(wants);
                                },
                                this::end);
            }
        }

        /** What it waits for. */
        Map<String, LockMode> lacks() {
            Map<String, LockMode> lacks = new LinkedHashMap<>(wants);
            lacks.entrySet().removeAll(has.entrySet());
            return lacks;
        }

        void want(String name, LockMode mode) {
            wants.merge(name, mode, (one, other) -> one == other ? one : LockMode.EXCLUSIVE);
        }

        /** Of that it wants no more than it has. */
        void giveUp(String name) {
            if (has.containsKey(name)) {
                wants.put(name, has.get(name));
            } else {
                wants.remove(name);
            }
        }

        void end() {
            if (lease != null) {
                lease.cancel(false);
                granted().ifPresent(Lease::close);
            } else if (transaction != null) {
                age = transaction.status() == Status.ABORTED ? age + 1 : 0;
                transaction.close();
            }
            lease = null;
            transaction = null;
            wants.clear();
            has.clear();
        }
    }

    private final Map<String, Integer> seen = new LinkedHashMap<>();

    @Test
    void noTwoHoldWhatExcludesEachOtherAndNobodyWaitsForNobody() throws Exception {
        for (int seed = 0; seed < 40; seed++) {
            run(seed, 60);
        }
        assertThat(seen.keySet())
                .contains(
                        "waited",
                        "aborted",
                        "raised",
                        "restart",
                        "deep",
                        "unlocked",
                        "cancelled true",
                        "cancelled false",
                        "surrendered",
                        "surrendered a request",
                        "tried true",
                        "tried false",
                        "awaited false");
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
                    saw("restart");
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

    private void act(User user, Random random) throws InterruptedException {
        LockTransaction transaction = user.transaction;
        if (user.idle() && random.nextInt(3) == 0) {
            String name = path(random);
            boolean writes = random.nextBoolean();
            user.wants.put(name, writes ? LockMode.EXCLUSIVE : LockMode.SHARED);
            DistributedLock lock = writes
                    ? user.client.tree(name).write()
                    : user.client.tree(name).read();
            user.limited = random.nextBoolean();
            user.lease = user.limited ? lock.tryAcquireAsync(limit(random)) : lock.acquireAsync();
        } else if (user.idle()) {
            user.transaction = user.client.transaction(
                    TransactionOptions.defaults().withTree(true).withAge(user.age));
            ask(user, user.transaction, 1 + random.nextInt(3), random);
        } else if (transaction != null && transaction.status() != Status.ABORTED) {
            try {
                act(user, transaction, random);
            } catch (DeadlockException e) {
                assertThat(transaction.status()).isEqualTo(Status.ABORTED);
            }
        } else if (user.holds() || random.nextInt(3) == 0) {
            user.end();
        }
        if (transaction != null && transaction.status() == Status.ABORTED) {
            saw("aborted");
            assertThat(transaction.deadlocks()).extracting(Deadlock::way).contains(Deadlock.Way.ABORTED);
            user.end();
        }
    }

    private void act(User user, LockTransaction transaction, Random random) throws InterruptedException {
        int what = random.nextInt(12);
        if (what < 3 && (user.holds() || what == 0)) {
            ask(user, transaction, 1, random);
        } else if (what < 6) {
            tryLock(user, transaction, random);
        } else if (what == 6) {
            boolean all = transaction.awaitAll(limit(random));
            assertThat(transaction.status())
                    .isEqualTo(!all ? Status.WAITING : user.wants.isEmpty() ? Status.NO_LOCKS : Status.HELD);
            saw("awaited " + all);
        } else if (what == 7) {
            cancel(user, transaction, random);
        } else if (what == 8) {
            surrender(user, transaction, random);
        } else if (what == 9) {
            unlock(user, transaction, random);
        } else if (what == 10) {
            user.end();
        }
    }

    /** Of what the user asks for; none for a try that does not wait. */
    private static Duration limit(Random random) {
        return random.nextInt(3) == 0 ? Duration.ZERO : STEP.multipliedBy(1 + random.nextInt(20));
    }

    private void tryLock(User user, LockTransaction transaction, Random random) throws InterruptedException {
        String name = path(random);
        LockMode mode = random.nextBoolean() ? LockMode.EXCLUSIVE : LockMode.SHARED;
        if (isRefused(user, name, mode)) {
            return;
        }
        boolean held;
        try {
            held = transaction.tryLock(name, mode, limit(random));
        } catch (LockUnavailableException e) {
            saw("not answered"); // by a member that grants nothing yet
            return;
        }
        if (held) {
            user.want(name, mode);
            user.has.merge(name, mode, (one, other) -> one == other ? one : LockMode.EXCLUSIVE);
        }
        saw("tried " + held);
    }

    /** A lock that is waited for SHARED is not asked for EXCLUSIVE. */
    private static boolean isRefused(User user, String name, LockMode mode) {
        return mode == LockMode.EXCLUSIVE && user.lacks().get(name) == LockMode.SHARED;
    }

    private void cancel(User user, LockTransaction transaction, Random random) {
        String name = anyOf(user.wants, random);
        if (name != null) {
            boolean waits = user.lacks().containsKey(name);
            assertThat(transaction.cancel(name))
                    .as("%s of %s", name, user.wants)
                    .isEqualTo(waits);
            user.giveUp(name);
            saw("cancelled " + waits);
        }
    }

    private void surrender(User user, LockTransaction transaction, Random random) {
        String name = anyOf(user.wants, random);
        boolean above = user.wants.keySet().stream().anyMatch(other -> other.startsWith(name + "/"));
        if (name != null
                && !above
                && !(user.has.containsKey(name) && user.lacks().containsKey(name))) {
            try {
                transaction.surrender(name);
            } catch (IllegalStateException e) {
                assertThat(e).hasMessageContaining("is being upgraded"); // as is a level above it
                return;
            }
            saw(user.has.remove(name) == null ? "surrendered a request" : "surrendered");
        }
    }

    private void unlock(User user, LockTransaction transaction, Random random) {
        String name = anyOf(user.has, random);
        if (name != null
                && !user.lacks().containsKey(name)
                && user.wants.keySet().stream().noneMatch(other -> other.startsWith(name + "/"))) {
            transaction.unlock(name);
            user.wants.remove(name);
            user.has.remove(name);
            saw("unlocked");
        }
    }

    private static @Nullable String anyOf(Map<String, LockMode> some, Random random) {
        return some.isEmpty() ? null : List.copyOf(some.keySet()).get(random.nextInt(some.size()));
    }

    private void saw(String what) {
        seen.merge(what, 1, Integer::sum);
    }

    private void ask(User user, LockTransaction transaction, int count, Random random) {
        Map<String, LockRequest> asks = new LinkedHashMap<>();
        for (int i = 0; i < count; i++) {
            String name = path(random);
            LockMode mode = random.nextBoolean() ? LockMode.EXCLUSIVE : LockMode.SHARED;
            if (user.wants.get(name) == LockMode.SHARED && mode == LockMode.EXCLUSIVE) {
                saw("raised");
            }
            if (!isRefused(user, name, mode)) {
                asks.putIfAbsent(name, new LockRequest(LockName.of(name), mode));
            }
        }
        transaction.lockAsync(asks.values());
        asks.values().forEach(each -> user.want(each.name().value(), each.mode()));
    }

    /** Along one path mostly, so that many meet; in all depths. */
    private String path(Random random) {
        int depth = random.nextInt(4) == 0 ? 1 + random.nextInt(16) : 1 + random.nextInt(4);
        StringBuilder path = new StringBuilder("a");
        for (int i = 1; i < depth; i++) {
            path.append(random.nextInt(3) == 0 ? "/c" : "/b");
        }
        saw(depth > 5 ? "deep" : "flat");
        return path.toString();
    }

    private static boolean excludes(Map<String, LockMode> one, Map<String, LockMode> other) {
        for (Map.Entry<String, LockMode> mine : one.entrySet()) {
            for (Map.Entry<String, LockMode> its : other.entrySet()) {
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

    /** Also of those who wait for more, and of those who were aborted and have not ended yet. */
    private static void noOverlap(List<User> users, int seed) {
        users.forEach(User::look);
        for (User one : users) {
            for (User other : users) {
                assertThat(one != other && excludes(one.has, other.has))
                        .as("seed %d: %s and %s are held together", seed, one.has, other.has)
                        .isFalse();
            }
        }
    }

    /** Each waits for somebody whom it excludes, who holds something or waits too. */
    private void nobodyWaitsForNobody(List<User> users, int seed) {
        for (User user : users) {
            if (user.waits()) {
                saw("waited");
                assertThat(users)
                        .as("seed %d: %s waits, of %s", seed, user.lacks(), shown(users))
                        .anyMatch(other -> other != user && excludes(user.lacks(), other.wants));
            }
        }
    }

    private static List<String> shown(List<User> users) {
        return users.stream()
                .map(user -> "has " + user.has + " wants " + user.wants
                        + (user.holds() ? " held" : user.waits() ? " waits" : user.idle() ? " idle" : " over"))
                .toList();
    }
}
