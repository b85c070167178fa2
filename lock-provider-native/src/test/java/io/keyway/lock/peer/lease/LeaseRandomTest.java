// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Random scripts: whatever happens, nothing unsafe does; and when the faults are over everybody is served and nothing
 * is left.
 */
class LeaseRandomTest {
    private static final long MS = LeaseWorld.MS;
    private static final long TTL = LeaseWorld.TTL;
    private static final List<String> NAMES = List.of("a", "b");

    @Test
    void randomScriptsAreSafeAndComeToRest() {
        for (int seed = 0; seed < 1000; seed++) {
            run(seed);
        }
    }

    private static LockSettings settings(Random random) {
        LockSettings settings = LockSettings.defaults().withCache(TTL, 1 + random.nextInt(2));
        return switch (random.nextInt(4)) {
            case 0 -> settings.withoutCache();
            case 1 -> settings.withRecallAtRenewal();
            default -> settings;
        };
    }

    private static void run(int seed) {
        Random random = new Random(seed);
        LeaseWorld world = new LeaseWorld(settings(random));
        for (int i = 0; i < 3; i++) {
            world.client();
        }
        for (int step = 0; step < 60; step++) {
            step(world, random);
            if (step % 20 == 0) {
                copiesAreEqual(world.member(), world.now());
                copiesAreEqual(world.client(0).cell, world.now());
            }
            assertThat(world.violations).as("seed %d step %d", seed, step).isEmpty();
        }
        heal(world, seed);
    }

    private static void step(LeaseWorld world, Random random) {
        LeaseWorld.Client client = world.client(random.nextInt(3));
        String name = NAMES.get(random.nextInt(2));
        switch (random.nextInt(20)) {
            case 0, 1, 2, 3 -> client.acquire(name);
            case 4 -> client.tryAcquire(name);
            case 5, 6, 7, 8 -> {
                if (client.held.containsKey(name)) {
                    client.release(name);
                } else {
                    client.reuse(name);
                }
            }
            case 9 -> client.unanswered().stream().findFirst().ifPresent(client::withdraw);
            case 10 -> client.holdToMember(random.nextBoolean());
            case 11 -> client.holdToClient(random.nextBoolean());
            case 12 -> client.pause(random.nextInt(3) == 0);
            case 13 -> client.delay(100 * MS * random.nextInt(3), 100 * MS * random.nextInt(3));
            case 14 -> {
                if (random.nextInt(4) == 0) {
                    world.restart(true);
                }
            }
            case 15 -> {
                if (random.nextInt(3) == 0) {
                    world.sessionEnds(client);
                    client.lose(false);
                    client.open();
                }
            }
            case 16 -> {
                long token = world.client(random.nextInt(3)).believes(name);
                if (token != 0) {
                    client.call(name, new LockCall.Break(1_000_000 + random.nextInt(1000), token, "test", TTL));
                }
            }
            case 17 -> world.advance(random.nextInt(100) * TTL / 50);
            default -> world.advance(50 * MS * random.nextInt(10));
        }
    }

    private static void heal(LeaseWorld world, int seed) {
        for (int i = 0; i < 3; i++) {
            world.client(i).delay(0, 0);
            world.client(i).pause(false);
            world.client(i).holdToMember(false);
            world.client(i).holdToClient(false);
        }
        world.advance(world.quarantine() + 2 * TTL);
        for (int round = 0; round < 60 && working(world); round++) {
            for (int i = 0; i < 3; i++) {
                for (String name : new ArrayList<>(world.client(i).held.keySet())) {
                    world.client(i).release(name);
                }
            }
            world.advance(TTL);
        }
        for (int i = 0; i < 3; i++) {
            assertThat(world.client(i).unanswered())
                    .as("seed %d client %d", seed, i)
                    .isEmpty();
        }
        world.advance(10 * TTL);
        assertThat(world.violations).as("seed %d", seed).isEmpty();
        assertThat(world.member().residents()).as("seed %d member", seed).isZero();
        for (int i = 0; i < 3; i++) {
            assertThat(world.client(i).cell.residents())
                    .as("seed %d client %d", seed, i)
                    .isZero();
        }
        assertThat(world.memberSessions().leftovers()).as("seed %d", seed).isZero();
    }

    private static boolean working(LeaseWorld world) {
        for (int i = 0; i < 3; i++) {
            if (!world.client(i).held.isEmpty() || !world.client(i).unanswered().isEmpty()) {
                return true;
            }
        }
        return false;
    }

    private static void copiesAreEqual(Cell cell, long now) {
        assertThat(words(cell.copy(), now)).isEqualTo(words(cell, now));
    }

    private static long[] words(Cell cell, long now) {
        StateEncoder canon = new StateEncoder(now);
        cell.encode(canon);
        return canon.words();
    }
}
