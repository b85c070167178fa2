// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.LeaseLoss.Cause;
import io.keyway.lock.LockKey;
import io.keyway.lock.reference.Session;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.Request;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A client of a {@link StoreWorld}: its machine, which pauses now and then, and what its users want and hold. */
final class WorldClient {

    final int number;
    final StoreMachine machine;
    final StoreEffects effects;
    final Session session;
    final Map<Long, Request> wanted = new HashMap<>();
    final Map<Long, WorldGrant> held = new HashMap<>();

    /** Lost by the clock, while their users may not have stopped. */
    final Map<Long, WorldGrant> lapsed = new HashMap<>();

    /** By the id of the request, the grant that was given up for it. */
    final Map<Long, Long> downgrades = new HashMap<>();

    /** Upgrades that were asked for right after another one was given up. */
    final Set<Long> askedAgain = new HashSet<>();

    private final StoreWorld world;
    private final WorldTime time;
    private long pausedUntil;
    private long ticking = Long.MIN_VALUE;

    /** {@code seed} draws the jitter of its machine. */
    WorldClient(StoreWorld world, WorldCalls calls, int number, long seed) {
        this.world = world;
        this.effects = new WorldEffects(world, this, calls);
        this.time = world.time;
        this.number = number;
        this.machine = new StoreMachine(seed, Set.of(), false, "store");
        this.session = new Session(world.store, new Told(), time);
    }

    /** An input of the machine: not while the client pauses, and its effects at once after it. */
    void input(long delay, Runnable input) {
        time.after(delay, () -> apply(input));
    }

    private void apply(Runnable input) {
        long now = time.nanoTime();
        if (now < pausedUntil) {
            input(pausedUntil - now, input);
            return;
        }
        if (time.fault(2)) {
            pausedUntil = now + world.random.nextLong(2000) * WorldTime.MS;
            world.story.tell(() -> "pause " + number + " until " + pausedUntil / WorldTime.MS);
        }
        input.run();
        machine.effects().forEach(effect -> world.carryOut(this, effect));
        machine.nextDue().ifPresent(due -> tickAt(Math.max(due, now)));
    }

    private void tickAt(long due) {
        if (ticking != due) {
            ticking = due;
            input(due - time.nanoTime(), () -> {
                if (ticking == due) {
                    ticking = Long.MIN_VALUE;
                }
                machine.tick(time.nanoTime());
            });
        }
    }

    void release(long id) {
        input(0, () -> machine.release(id, time.nanoTime()));
    }

    void withdraw(long id) {
        input(0, () -> machine.withdraw(id, time.nanoTime()));
    }

    /** Its user stops; false if belief in that grant has ended before. */
    boolean end(long id) {
        WorldGrant grant = held.remove(id);
        if (grant == null) {
            return false;
        }
        grant.over = true;
        return true;
    }

    /**
     * It is told that this grant is lost: by the clock, which leaves its user time to stop, or because the store says
     * so.
     */
    void lose(long id) {
        WorldGrant grant = held.remove(id);
        if (grant == null) {
            return;
        }
        grant.over = time.nanoTime() - grant.deadline < 0;
        if (!grant.over) {
            lapsed.put(id, grant);
        }
    }

    /** What its users hold, or had to give up so lately that they may not have stopped. */
    Iterable<WorldGrant> used() {
        lapsed.values().removeIf(grant -> !grant.used(time.nanoTime()));
        List<WorldGrant> all = new ArrayList<>(held.values());
        all.addAll(lapsed.values());
        return all;
    }

    /** The user of a lapsed grant has stopped, and says so. */
    void stop(long id) {
        WorldGrant grant = lapsed.remove(id);
        if (grant != null) {
            grant.over = true;
            release(id);
        }
    }

    /** What the store says unasked. Hints may be late or lost; the end of a grant is only late. */
    private final class Told implements LockBackend.Signals {

        @Override
        public void recheck(LockKey key) {
            if (!time.chance(20)) {
                input(time.latency(), () -> machine.recheck(key));
            }
        }

        @Override
        public void ended(LockKey key, long token, Cause cause) {
            world.ends.add(token);
            input(time.latency(), () -> machine.ended(key, token, cause, "ended by the store", time.nanoTime()));
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
}
