// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockStatus;
import io.keyway.lock.reference.ReferenceStore;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.function.Consumer;

/**
 * A world of virtual time for {@link StoreMachine}: a few clients and one store, with calls that are late, lost, or
 * executed without a reply, clients that pause, grants that are broken; then the faults end. After each event belief is
 * checked against what other clients believe.
 */
final class StoreWorld {

    private static final Duration TTL = Duration.ofSeconds(1);
    private static final List<LockKey> KEYS =
            List.of(LockKey.lock(LockName.of("x")), LockKey.semaphore(LockName.of("s")));
    private static final int CAPACITY = 3;

    final SplittableRandom random;
    final WorldTime time;
    final WorldStory story;

    /** The tokens of the grants that the store said had ended. */
    final List<Long> ends = new ArrayList<>();

    private final List<WorldClient> clients = new ArrayList<>();
    final ReferenceStore store;
    private final int share;
    private long ids;
    int granted;
    int lost;
    int stopped;
    int withdrawn;
    int upgradedAgain;
    int upgraded;
    int downgraded;
    int kept;

    /** {@code told}: keeps a log for the message of a failure, which costs most of the time. */
    StoreWorld(long seed, boolean told) {
        this(seed, told, 30);
    }

    /** {@code share}: in percent, of the worlds in which a grant is broken, and of the lost requests that come late. */
    StoreWorld(long seed, boolean told, int share) {
        this.share = share;
        this.random = new SplittableRandom(seed);
        this.time = new WorldTime(random);
        this.story = new WorldStory(seed, told, time);
        this.store = new ReferenceStore(time::nanoTime, 0);
        WorldCalls calls = new WorldCalls(store, time, share);
        for (int i = 0; i < 3; i++) {
            clients.add(new WorldClient(this, calls, i, random.nextLong()));
        }
    }

    /** Faults for three seconds, then none; throws if a rule is broken. */
    void run() {
        for (int i = 0; i < 12; i++) {
            WorldClient client = clients.get(random.nextInt(clients.size()));
            time.after(random.nextLong(2000) * WorldTime.MS, () -> submit(client));
        }
        if (time.chance(share)) {
            time.after(random.nextLong(2500) * WorldTime.MS, this::breakSomething);
        }
        time.after(3000 * WorldTime.MS, () -> {
            story.tell(() -> "healed");
            time.heal();
        });
        int steps = 0;
        while (time.step()) {
            check();
            if (++steps > 20_000) {
                throw story.failure("no end after 20000 events");
            }
        }
        for (WorldClient client : clients) {
            if (!client.wanted.isEmpty() || !client.machine.idle()) {
                throw story.failure("client " + client.number + " is left with " + client.wanted.keySet());
            }
        }
        // What was given up as surely expired may still stand there, expired.
        if (!locks().isEmpty()) {
            throw story.failure("something lives at the store: " + locks());
        }
    }

    private void submit(WorldClient client) {
        LockKey key = KEYS.get(random.nextInt(KEYS.size()));
        boolean lock = key.kind() == LockKey.Kind.LOCK;
        LockMode mode = !lock ? LockMode.PERMITS : time.chance(40) ? LockMode.SHARED : LockMode.EXCLUSIVE;
        int permits = lock ? 1 : 1 + random.nextInt(2);
        Request request = new Request(
                ++ids,
                key,
                mode,
                permits,
                lock ? 1 : CAPACITY,
                TTL,
                !time.chance(20),
                new Owner("c" + client.number, Map.of()));
        client.wanted.put(request.id(), request);
        story.tell(() -> "submit " + request.id() + " " + mode + " " + key + " by " + client.number);
        client.input(0, () -> client.machine.submit(request, time.nanoTime()));
        if (time.chance(30) || !request.queue()) {
            time.after((1 + random.nextLong(1500)) * WorldTime.MS, () -> {
                if (client.wanted.remove(request.id()) != null) {
                    withdrawn++;
                    story.tell(() -> "withdraw " + request.id());
                    client.withdraw(request.id());
                }
            });
        }
    }

    private void breakSomething() {
        for (WorldClient client : clients) {
            for (WorldGrant held : client.held.values()) {
                story.tell(() -> "break token " + held.grant.token());
                open(() -> store.breakGrant(held.grant.key(), held.grant.token(), "chaos"));
                return;
            }
        }
    }

    void carryOut(WorldClient client, Consumer<StoreEffects> effect) {
        story.tell(() -> client.number + ": " + EffectLog.line(effect));
        effect.accept(client.effects);
    }

    void ended(WorldClient client, long id, String detail) {
        lost++;
        checkGone(client, id, detail);
        client.lose(id);
        if (client.lapsed.containsKey(id) && time.chance(50)) {
            time.after(random.nextLong(300) * WorldTime.MS, () -> stop(client, id));
        }
    }

    /** Refused, or failed. */
    void over(WorldClient client, long id) {
        client.wanted.remove(id);
        giveBackAfterDowngrade(client, id);
    }

    void taken(WorldClient client, Grant grant, long deadline) {
        Request request = client.wanted.remove(grant.id());
        if (request == null) {
            client.release(grant.id());
            return;
        }
        granted++;
        WorldGrant held = new WorldGrant(grant, request, deadline);
        client.held.put(grant.id(), held);
        long use = random.nextLong(time.chance(20) ? 3000 : 300) * WorldTime.MS;
        if (request.mode() != LockMode.PERMITS && time.chance(40)) {
            time.after(random.nextLong(150) * WorldTime.MS, () -> convert(client, held));
        }
        time.after(use, () -> {
            if (client.end(grant.id())) {
                story.tell(() -> "release " + grant.id());
                client.release(grant.id());
            }
        });
    }

    private void convert(WorldClient client, WorldGrant held) {
        convert(client, held, false);
    }

    /**
     * Asks for the other mode; {@code again}: at once after it gave up an upgrade. Belief in a write grant ends when
     * that is sent.
     */
    private void convert(WorldClient client, WorldGrant held, boolean again) {
        if (!held.believed(time.nanoTime())) {
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
                down || !time.chance(20),
                held.request.owner());
        client.wanted.put(request.id(), request);
        if (again) {
            client.askedAgain.add(request.id());
        }
        story.tell(() -> "convert " + held.grant.id() + " to " + request.id());
        if (down) {
            client.end(held.grant.id());
            client.downgrades.put(request.id(), held.grant.id());
        }
        client.input(0, () -> client.machine.convert(held.grant.id(), request, time.nanoTime()));
        if (down || time.chance(50)) {
            time.after((down ? 2000 : random.nextLong(200)) * WorldTime.MS, () -> {
                if (client.wanted.remove(request.id()) != null) {
                    withdrawn++;
                    story.tell(() -> "withdraw " + request.id());
                    client.withdraw(request.id());
                    giveBackAfterDowngrade(client, request.id());
                    kept += down || held.over ? 0 : 1;
                    if (!down && time.chance(50)) {
                        convert(client, held, true);
                    }
                }
            });
        }
    }

    void converted(WorldClient client, long from, long id, Grant grant, long deadline) {
        boolean down = client.downgrades.remove(id) != null;
        if (!down && !client.end(from)) {
            client.wanted.remove(id);
        }
        if (client.wanted.containsKey(id)) {
            upgraded += down ? 0 : 1;
            upgradedAgain += client.askedAgain.contains(id) ? 1 : 0;
            downgraded += down ? 1 : 0;
        }
        taken(client, grant, deadline);
    }

    private void stop(WorldClient client, long id) {
        if (client.lapsed.containsKey(id)) {
            stopped++;
            story.tell(() -> "stopped " + id);
            client.stop(id);
        }
    }

    private void giveBackAfterDowngrade(WorldClient client, long id) {
        Long from = client.downgrades.remove(id);
        if (from != null) {
            client.release(from);
        }
    }

    /**
     * A grant that ends because the store "no longer holds it" is not there, whatever replies were lost; one that was
     * broken may be.
     */
    private void checkGone(WorldClient client, long id, String detail) {
        WorldGrant held = client.held.get(id);
        if (held == null || ends.contains(held.grant.token()) || !detail.contains("no longer holds")) {
            return;
        }
        boolean there = locks().stream()
                .flatMap(status -> status.holders().stream())
                .anyMatch(holder -> holder.token().getAsLong() == held.grant.token());
        if (there) {
            throw story.failure("grant " + id + " was given up, but the store has it");
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

    /** Never two believers, nor one beside a user that has had no time to stop; a break may be told late. */
    private void check() {
        for (LockKey key : KEYS) {
            int exclusive = 0;
            int shared = 0;
            int permits = 0;
            for (WorldClient client : clients) {
                for (WorldGrant held : client.used()) {
                    if (!held.request.key().equals(key)
                            || !(ends.contains(held.grant.token())
                                    ? held.believed(time.nanoTime())
                                    : held.used(time.nanoTime()))) {
                        continue;
                    }
                    switch (held.request.mode()) {
                        case EXCLUSIVE -> exclusive++;
                        case SHARED -> shared++;
                        case PERMITS -> permits += held.request.permits();
                        default -> throw story.failure("a mode of trees: " + held.request);
                    }
                }
            }
            if (exclusive > 1 || (exclusive == 1 && shared > 0) || permits > CAPACITY) {
                throw story.failure("users of " + key + ": " + exclusive + " exclusive, " + shared + " shared, "
                        + permits + " permits");
            }
        }
    }
}
