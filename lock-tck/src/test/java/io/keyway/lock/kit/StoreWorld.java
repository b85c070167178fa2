// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.LeaseLoss.Cause;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockStatus;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Request;
import io.keyway.lock.spi.TimeSource;
import io.keyway.lock.tck.reference.ReferenceStore;
import io.keyway.lock.tck.reference.Session;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/**
 * A world of virtual time for {@link StoreMachine}: a few clients and one store, with calls that are late, lost, or
 * executed without a reply, clients that pause, grants that are broken; then the faults end. After each event belief is
 * checked against what other clients believe.
 */
final class StoreWorld {

    private static final long MS = 1_000_000L;
    private static final Duration TTL = Duration.ofSeconds(1);
    private static final List<LockKey> KEYS =
            List.of(LockKey.lock(LockName.of("x")), LockKey.semaphore(LockName.of("s")));
    private static final int CAPACITY = 3;

    private record Event(long at, long order, Runnable action) {}

    /** A grant as its lease sees it; the client's user asks, and believes while this says so. */
    private static final class Held {
        final Grant grant;
        final Request request;
        long deadline;
        boolean over;

        Held(Grant grant, Request request, long deadline) {
            this.grant = grant;
            this.request = request;
            this.deadline = deadline;
        }
    }

    private final class Client {
        final int number;
        final StoreMachine machine;
        final Session session = new Session(new Told(this), new WorldTime());
        final Map<Long, Request> wanted = new HashMap<>();
        final Map<Long, Held> held = new HashMap<>();

        /** By the id of the request, the grant that was given up for it. */
        final Map<Long, Long> downgrades = new HashMap<>();

        long pausedUntil;
        long ticking = Long.MIN_VALUE;

        Client(int number, long seed) {
            this.number = number;
            this.machine = new StoreMachine(seed, Set.of(), "store");
        }
    }

    /** The store's alarms are events, too. */
    private final class WorldTime implements TimeSource {
        @Override
        public long nanoTime() {
            return now;
        }

        @Override
        public Scheduled at(long atNanos, Runnable task) {
            AtomicBoolean cancelled = new AtomicBoolean();
            StoreWorld.this.at(atNanos, () -> {
                if (!cancelled.get()) {
                    task.run();
                }
            });
            return () -> cancelled.set(true);
        }
    }

    /** Hints may be late or lost; the end of a grant is only late. */
    private final class Told implements LockBackend.Signals {
        private final Client client;

        Told(Client client) {
            this.client = client;
        }

        @Override
        public void recheck(LockKey key) {
            if (!chance(20)) {
                input(client, latency(), () -> client.machine.recheck(key));
            }
        }

        @Override
        public void ended(LockKey key, long token, Cause cause) {
            ends.add(token);
            input(client, latency(), () -> client.machine.ended(key, token, cause, "ended by the store", now));
        }

        @Override
        public void endedAll(Cause cause) {}

        @Override
        public void doubt(String why) {}

        @Override
        public void connected(String server) {}

        @Override
        public void disconnected(String server, String why) {}

        @Override
        public void background(String name, LockBackend.Loop loop) {}
    }

    private final long seed;
    private final boolean told;
    private final SplittableRandom random;
    private final PriorityQueue<Event> events =
            new PriorityQueue<>(Comparator.comparingLong(Event::at).thenComparingLong(Event::order));
    private final List<Client> clients = new ArrayList<>();
    private final List<Long> ends = new ArrayList<>();
    private final List<String> log = new ArrayList<>();
    private final ReferenceStore store;
    private long now;
    private long order;
    private long ids;
    private boolean faulty = true;
    int granted;
    int lost;
    int withdrawn;
    int upgraded;
    int downgraded;
    int kept;

    /** {@code told}: keeps a log for the message of a failure, which costs most of the time. */
    StoreWorld(long seed, boolean told) {
        this.seed = seed;
        this.told = told;
        this.random = new SplittableRandom(seed);
        this.store = new ReferenceStore(() -> now, 0);
        for (int i = 0; i < 3; i++) {
            clients.add(new Client(i, random.nextLong()));
        }
    }

    /** Faults for three seconds, then none; throws if a rule is broken. */
    void run() {
        for (int i = 0; i < 12; i++) {
            Client client = clients.get(random.nextInt(clients.size()));
            at(random.nextLong(2000) * MS, () -> submit(client));
        }
        if (chance(30)) {
            at(random.nextLong(2500) * MS, this::breakSomething);
        }
        at(3000 * MS, () -> {
            log(() -> "healed");
            faulty = false;
        });
        int steps = 0;
        while (!events.isEmpty()) {
            Event event = events.poll();
            now = event.at;
            event.action.run();
            check();
            if (++steps > 20_000) {
                throw failure("no end after 20000 events");
            }
        }
        for (Client client : clients) {
            if (!client.wanted.isEmpty() || !client.machine.idle()) {
                throw failure("client " + client.number + " is left with " + client.wanted.keySet());
            }
        }
        // What was given up as surely expired may still stand there, expired.
        if (!locks().isEmpty()) {
            throw failure("something lives at the store: " + locks());
        }
    }

    private void submit(Client client) {
        LockKey key = KEYS.get(random.nextInt(KEYS.size()));
        boolean lock = key.kind() == LockKey.Kind.LOCK;
        LockMode mode = !lock ? LockMode.PERMITS : chance(40) ? LockMode.SHARED : LockMode.EXCLUSIVE;
        int permits = lock ? 1 : 1 + random.nextInt(2);
        Request request = new Request(
                ++ids,
                key,
                mode,
                permits,
                lock ? 1 : CAPACITY,
                TTL,
                !chance(20),
                new Owner("c" + client.number, Map.of()));
        client.wanted.put(request.id(), request);
        log(() -> "submit " + request.id() + " " + mode + " " + key + " by " + client.number);
        input(client, 0, () -> client.machine.submit(request, now));
        if (chance(30) || !request.queue()) {
            at(now + (1 + random.nextLong(1500)) * MS, () -> {
                if (client.wanted.remove(request.id()) != null) {
                    withdrawn++;
                    log(() -> "withdraw " + request.id());
                    input(client, 0, () -> client.machine.withdraw(request.id(), now));
                }
            });
        }
    }

    private void breakSomething() {
        for (Client client : clients) {
            for (Held held : client.held.values()) {
                log(() -> "break token " + held.grant.token());
                open(() -> store.breakGrant(held.grant.key(), held.grant.token(), "chaos"));
                return;
            }
        }
    }

    /** An input of a client: not while it pauses, and its effects at once after it. */
    private void input(Client client, long delay, Runnable input) {
        at(now + delay, () -> {
            if (now < client.pausedUntil) {
                input(client, client.pausedUntil - now, input);
                return;
            }
            if (faulty && chance(2)) {
                client.pausedUntil = now + random.nextLong(2000) * MS;
                log(() -> "pause " + client.number + " until " + client.pausedUntil / MS);
            }
            input.run();
            for (StoreEffect effect : client.machine.effects()) {
                carryOut(client, effect);
            }
            client.machine.nextDue().ifPresent(due -> tickAt(client, Math.max(due, now)));
        });
    }

    private void tickAt(Client client, long due) {
        if (client.ticking != due) {
            client.ticking = due;
            input(client, due - now, () -> {
                if (client.ticking == due) {
                    client.ticking = Long.MIN_VALUE;
                }
                client.machine.tick(now);
            });
        }
    }

    private void carryOut(Client client, StoreEffect effect) {
        log(() -> client.number + ": " + effect);
        if (effect instanceof StoreEffect.Attempt attempt) {
            Request request = attempt.request();
            attempt(client, request, () -> store.attempt(client.session, request));
        } else if (effect instanceof StoreEffect.Convert convert) {
            Request request = convert.request();
            attempt(client, request, () -> store.convert(client.session, convert.held(), request));
        } else if (effect instanceof StoreEffect.Renew renew) {
            long sentAt = now;
            call(
                    client,
                    () -> renew.grants().stream()
                            .map(grant -> store.renew(client.session, grant))
                            .toList(),
                    result -> client.machine.renewed(renew.grants(), sentAt, answers(result), now),
                    maybe -> client.machine.renewFailed(renew.grants(), now));
        } else if (effect instanceof StoreEffect.Release release) {
            long id = release.grant().id();
            call(
                    client,
                    () -> store.release(client.session, release.grant()),
                    result -> client.machine.released(id, (Answer) result, now),
                    maybe -> client.machine.cleanUpFailed(id, maybe, now));
        } else if (effect instanceof StoreEffect.Withdraw withdraw) {
            long id = withdraw.request().id();
            call(
                    client,
                    () -> {
                        store.withdraw(client.session, withdraw.request());
                        return true;
                    },
                    result -> client.machine.withdrawn(id),
                    maybe -> client.machine.cleanUpFailed(id, maybe, now));
        } else if (effect instanceof StoreEffect.Granted grant) {
            taken(client, grant.grant(), grant.deadlineNanos());
        } else if (effect instanceof StoreEffect.Converted converted) {
            converted(client, converted);
        } else if (effect instanceof StoreEffect.Extended extended) {
            for (Grant grant : extended.grants()) {
                Held held = client.held.get(grant.id());
                if (held != null) {
                    held.deadline = extended.deadlineNanos();
                }
            }
        } else if (effect instanceof StoreEffect.Ended ended) {
            lost++;
            checkGone(client, ended);
            end(client, ended.id());
        } else if (effect instanceof StoreEffect.Refused refused) {
            client.wanted.remove(refused.id());
            giveBackAfterDowngrade(client, refused.id());
        } else if (effect instanceof StoreEffect.Failed failed) {
            client.wanted.remove(failed.id());
            giveBackAfterDowngrade(client, failed.id());
        }
    }

    private void attempt(Client client, Request request, Executed attempt) {
        long sentAt = now;
        call(
                client,
                attempt,
                result -> client.machine.attempted(request.id(), sentAt, (Attempt) result, now),
                maybe -> client.machine.attemptFailed(request.id(), maybe, "fault", null, now));
    }

    private void taken(Client client, Grant grant, long deadline) {
        Request request = client.wanted.remove(grant.id());
        if (request == null) {
            input(client, 0, () -> client.machine.release(grant.id(), now));
            return;
        }
        granted++;
        Held held = new Held(grant, request, deadline);
        client.held.put(grant.id(), held);
        long use = random.nextLong(chance(20) ? 3000 : 300) * MS;
        if (request.mode() != LockMode.PERMITS && chance(40)) {
            at(now + random.nextLong(150) * MS, () -> convert(client, held));
        }
        at(now + use, () -> {
            if (end(client, grant.id())) {
                log(() -> "release " + grant.id());
                input(client, 0, () -> client.machine.release(grant.id(), now));
            }
        });
    }

    /** Asks for the other mode. Belief in a write grant ends when that is sent. */
    private void convert(Client client, Held held) {
        if (held.over || now - held.deadline >= 0) {
            return;
        }
        boolean down = held.request.mode() == LockMode.EXCLUSIVE;
        Request request = new Request(
                ++ids,
                held.request.key(),
                down ? LockMode.SHARED : LockMode.EXCLUSIVE,
                1,
                1,
                TTL,
                down || !chance(20),
                held.request.owner());
        client.wanted.put(request.id(), request);
        log(() -> "convert " + held.grant.id() + " to " + request.id());
        if (down) {
            end(client, held.grant.id());
            client.downgrades.put(request.id(), held.grant.id());
        }
        input(client, 0, () -> client.machine.convert(held.grant.id(), request, now));
        if (down || chance(50)) {
            at(now + (down ? 2000 : random.nextLong(200)) * MS, () -> {
                if (client.wanted.remove(request.id()) != null) {
                    withdrawn++;
                    log(() -> "withdraw " + request.id());
                    input(client, 0, () -> client.machine.withdraw(request.id(), now));
                    giveBackAfterDowngrade(client, request.id());
                    kept += down || held.over ? 0 : 1;
                }
            });
        }
    }

    private void converted(Client client, StoreEffect.Converted converted) {
        boolean down = client.downgrades.remove(converted.id()) != null;
        if (!down && !end(client, converted.from())) {
            client.wanted.remove(converted.id());
        }
        if (client.wanted.containsKey(converted.id())) {
            upgraded += down ? 0 : 1;
            downgraded += down ? 1 : 0;
        }
        taken(client, converted.grant(), converted.deadlineNanos());
    }

    private void giveBackAfterDowngrade(Client client, long id) {
        Long from = client.downgrades.remove(id);
        if (from != null) {
            input(client, 0, () -> client.machine.release(from, now));
        }
    }

    /** A grant that ends because the store "no longer holds it" is not there, whatever replies were lost; one that was broken may be. */
    private void checkGone(Client client, StoreEffect.Ended ended) {
        Held held = client.held.get(ended.id());
        if (held == null || ends.contains(held.grant.token()) || !ended.detail().contains("no longer holds")) {
            return;
        }
        boolean there = locks().stream()
                .flatMap(status -> status.holders().stream())
                .anyMatch(holder -> holder.token().getAsLong() == held.grant.token());
        if (there) {
            throw failure("grant " + ended.id() + " was given up, but the store has it");
        }
    }

    private List<LockStatus> locks() {
        return open(() -> store.list("", Optional.empty(), 10)).locks();
    }

    /** Asks the store, which never restarts here. */
    private static <T> T open(Callable<T> question) {
        try {
            return question.call();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private static boolean end(Client client, long id) {
        Held held = client.held.remove(id);
        if (held == null) {
            return false;
        }
        held.over = true;
        return true;
    }

    private interface Executed {
        Object run() throws NotExecutedException;
    }

    private interface Result {
        void of(Object value);
    }

    private interface Failed {
        void of(boolean maybe);
    }

    /** One call of the store: executed once, late, or never; its reply may be lost. */
    private void call(Client client, Executed executed, Result result, Failed failed) {
        boolean lostRequest = faulty && chance(10);
        boolean lostReply = faulty && chance(10);
        boolean refused = faulty && chance(5);
        if (refused) {
            input(client, latency(), () -> failed.of(false));
            return;
        }
        if (lostRequest) {
            input(client, 200 * MS, () -> failed.of(true));
            return;
        }
        at(now + latency(), () -> {
            Object value;
            try {
                value = executed.run();
            } catch (NotExecutedException e) {
                input(client, latency(), () -> failed.of(false));
                return;
            }
            if (lostReply) {
                input(client, 200 * MS, () -> failed.of(true));
            } else {
                input(client, latency(), () -> result.of(value));
            }
        });
    }

    @SuppressWarnings("unchecked")
    private static List<Answer> answers(Object value) {
        return (List<Answer>) value;
    }

    /** Never two believers; a grant that was broken is a word of the store and may be told late. */
    private void check() {
        for (LockKey key : KEYS) {
            int exclusive = 0;
            int shared = 0;
            int permits = 0;
            for (Client client : clients) {
                for (Held held : client.held.values()) {
                    if (!held.request.key().equals(key)
                            || held.over
                            || now - held.deadline >= 0
                            || ends.contains(held.grant.token())) {
                        continue;
                    }
                    switch (held.request.mode()) {
                        case EXCLUSIVE -> exclusive++;
                        case SHARED -> shared++;
                        case PERMITS -> permits += held.request.permits();
                    }
                }
            }
            if (exclusive > 1 || (exclusive == 1 && shared > 0) || permits > CAPACITY) {
                throw failure("believers of " + key + ": " + exclusive + " exclusive, " + shared + " shared, " + permits
                        + " permits");
            }
        }
    }

    private long latency() {
        return (faulty && chance(5) ? random.nextLong(1500) : 1 + random.nextLong(10)) * MS;
    }

    private boolean chance(int percent) {
        return random.nextInt(100) < percent;
    }

    private void at(long time, Runnable action) {
        events.add(new Event(time, order++, action));
    }

    private void log(Supplier<String> line) {
        if (told) {
            log.add(now / MS + " " + line.get());
        }
    }

    private AssertionError failure(String what) {
        return new AssertionError("seed " + seed + " at " + now / MS + ": " + what + "\n" + String.join("\n", log));
    }
}
