// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockRequest;
import io.keyway.lock.TransactionOptions.OnDeadlock;
import io.keyway.lock.spi.Probe;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Rule R10, on agents alone: complete, sound, minimal, terminating, honest; and that its judge sees what is wrong. */
class AgentTest {
    /** In which a standing circle is resolved, whatever the probes meet but loss. */
    private static long bound(int users) {
        return (users + 2) * (2 * AgentWorld.DELAY + Agent.LAST_RESEND);
    }

    private static LockName lock(int i) {
        return LockName.of("lock/" + i);
    }

    // One circle

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4})
    void aCircleInEveryOrderHasOneVictim(int size) {
        everyOrder(size);
    }

    @ParameterizedTest
    @Tag("soak")
    @ValueSource(ints = {5, 6})
    void aLargeCircleInEveryOrderHasOneVictim(int size) {
        everyOrder(size);
    }

    /** Every order of ranks and of arrival; whether locks were reported, and how long messages take, is drawn. */
    private static void everyOrder(int size) {
        List<List<Integer>> orders = new ArrayList<>();
        permute(new ArrayList<>(), size, orders);
        Random random = new Random(size);
        for (List<Integer> ranks : orders) {
            for (List<Integer> arrivals : orders) {
                circle(size, ranks, arrivals, random);
            }
        }
    }

    private static void permute(List<Integer> begun, int size, List<List<Integer>> into) {
        if (begun.size() == size) {
            into.add(List.copyOf(begun));
            return;
        }
        for (int i = 0; i < size; i++) {
            if (!begun.contains(i)) {
                begun.add(i);
                permute(begun, size, into);
                begun.remove(begun.size() - 1);
            }
        }
    }

    private static void circle(int size, List<Integer> ranks, List<Integer> arrivals, Random random) {
        AgentWorld world = new AgentWorld(size + 1, random);
        boolean steps = random.nextBoolean();
        AgentWorld.User outsider = world.users.get(size);
        outsider.begin(random.nextInt(size), 0, OnDeadlock.SURRENDER);
        outsider.want(List.of(request(size)));
        run(world, world.now + 4 * AgentWorld.DELAY);
        for (int i = 0; i < size; i++) {
            world.users.get(i).begin(ranks.get(i) + 1, 0, OnDeadlock.SURRENDER);
            // What the outsider keeps all the time keeps the first lock from being reported.
            world.users.get(i).want(steps ? List.of(request(i)) : List.of(request(i), request(size)));
        }
        run(world, world.now + 20 * AgentWorld.DELAY);
        for (int place : arrivals) {
            AgentWorld.User user = world.users.get(place);
            assertThat(user.told).hasSize(steps ? 1 : 0);
            user.want(List.of(request((place + 1) % size)));
            run(world, world.now + random.nextInt((int) (2 * AgentWorld.DELAY)));
        }
        run(world, world.now + bound(size));
        assertThat(world.surrenders + world.aborts)
                .as("victims of one circle of %s, ranks %s, arrivals %s", size, ranks, arrivals)
                .isEqualTo(1);
    }

    /**
     * Two wait behind each other, in different orders, for what others read for long: who gives way goes behind the
     * other one where it is in its way, be that a lock or a place. So at most three times, one for each lock, before
     * their ranks change; and they change when either has done so once, twice and four times.
     */
    @Test
    void whoWaitBehindEachOtherWhileOthersHoldSoonGiveWayNoMore() {
        int places = 0;
        for (int seed = 0; seed < 40; seed++) {
            Random random = new Random(seed);
            AgentWorld world = new AgentWorld(4, random);
            for (int i = 0; i < 2; i++) {
                world.users.get(2 + i).begin(9, 0, OnDeadlock.SURRENDER);
                world.users.get(2 + i).want(List.of(new LockRequest(lock(i), LockMode.SHARED)));
                world.users.get(i).begin(1 + random.nextInt(3), 0, OnDeadlock.SURRENDER);
            }
            run(world, world.now + 20 * AgentWorld.DELAY);
            // Each writes what the other one reads, and both want a third lock.
            for (int i = 0; i < 2; i++) {
                world.users.get(i).want(List.of(request(i)));
                run(world, world.now + random.nextInt((int) (4 * AgentWorld.DELAY)));
            }
            for (int i = 0; i < 2; i++) {
                world.users.get(i).want(List.of(new LockRequest(lock(1 - i), LockMode.SHARED), request(2)));
                run(world, world.now + random.nextInt((int) (4 * AgentWorld.DELAY)));
            }
            run(world, world.now + 100 * bound(2));
            assertThat(world.surrenders)
                    .as("surrenders while others hold, seed %s", seed)
                    .isBetween(1, 10);
            places += world.places;
            world.users.get(2).close();
            world.users.get(3).close();
            run(world, world.now + bound(2));
            boolean first = world.users.get(0).agent.isComplete();
            assertThat(first || world.users.get(1).agent.isComplete()).isTrue();
            world.users.get(first ? 0 : 1).close();
            run(world, world.now + bound(2));
            assertThat(world.users.get(first ? 1 : 0).agent.isComplete()).isTrue();
            assertThat(world.aborts).isZero();
        }
        assertThat(places).as("places in a queue that were given up").isPositive();
    }

    private static LockRequest request(int lock) {
        return new LockRequest(lock(lock), LockMode.EXCLUSIVE);
    }

    private static void run(AgentWorld world, long until) {
        boolean[] over = new boolean[1];
        world.at(until, () -> over[0] = true);
        while (!over[0]) {
            assertThat(world.step()).isTrue();
        }
    }

    // Many circles

    @ParameterizedTest
    @ValueSource(doubles = {0, 0.3})
    void allGoOnWhateverHappens(double loss) {
        int compared = 0;
        for (int seed = 0; seed < 80; seed++) {
            compared += history(new Random(seed), loss, seed).compared;
        }
        assertThat(compared).as("ages that were compared").isGreaterThan(100);
    }

    @Test
    void allGoOnWhateverUsersWish() {
        int wished = 0;
        for (int seed = 0; seed < 80; seed++) {
            AgentWorld world = new AgentWorld(2 + seed % 6, new Random(seed));
            world.wishes = true;
            wished += history(world, seed % 3 * 0.15, seed).wished;
        }
        assertThat(wished).as("locks that were given up by wish").isGreaterThan(100);
    }

    @Test
    @Tag("soak")
    void allGoOnWhateverHappensForLong() {
        for (int seed = 1000; seed < 30_000; seed++) {
            AgentWorld world = new AgentWorld(2 + seed % 6, new Random(seed));
            world.wishes = seed % 2 == 0;
            history(world, seed % 3 * 0.15, seed);
        }
    }

    @Test
    void theLowestPriorityGivesWay() {
        for (int seed = 0; seed < 40; seed++) {
            Random random = new Random(seed);
            int size = 2 + random.nextInt(4);
            int low = random.nextInt(size);
            AgentWorld world = new AgentWorld(size, random);
            for (int i = 0; i < size; i++) {
                world.users.get(i).begin(1 + random.nextInt(3), i == low ? 50 : 0, OnDeadlock.SURRENDER);
                world.users.get(i).want(List.of(request(i)));
            }
            run(world, world.now + 20 * AgentWorld.DELAY);
            for (int i = 0; i < size; i++) {
                // It has given way most often, and does so once more.
                world.users.get(i).behave(OnDeadlock.ABORT, i == low ? 1 : 2, i == low ? 50 : 0);
                world.users.get(i).want(List.of(request((i + 1) % size)));
            }
            run(world, world.now + bound(size));
            assertThat(world.aborts).isEqualTo(1);
            assertThat(world.users.get(low).aborted)
                    .as("seed %s: the one of low priority", seed)
                    .isTrue();
        }
    }

    /** Users who take some of the locks in random order, alone or with readers, at once or step by step. */
    private static AgentWorld history(Random random, double loss, int seed) {
        return history(new AgentWorld(2 + random.nextInt(6), random), loss, seed);
    }

    private static AgentWorld history(AgentWorld world, double loss, int seed) {
        world.loss = loss;
        int locks = 2 + world.random.nextInt(4);
        int[] left = new int[world.users.size()];
        int[] open = {world.users.size()};
        for (AgentWorld.User user : world.users) {
            left[user.index] = 4;
            world.at(0, () -> transaction(world, user, locks, 0, left, open));
        }
        long patience = 20 * bound(world.users.size());
        while (open[0] > 0) {
            assertThat(world.step()).as("seed %s: something is to happen", seed).isTrue();
            assertThat(world.now - world.lastProgress)
                    .as("seed %s: nanoseconds without a grant, a surrender or an abort %s", seed, world)
                    .isLessThan(patience);
            assertThat(world.surrenders)
                    .as("seed %s: surrenders for %s grants", seed, world.grants)
                    .isLessThan(5_000);
        }
        return world;
    }

    private static void transaction(
            AgentWorld world, AgentWorld.User user, int locks, int age, int[] left, int[] open) {
        Random random = world.random;
        List<LockRequest> wanted = new ArrayList<>();
        for (int i = 0; i < locks; i++) {
            if (random.nextInt(3) > 0) {
                wanted.add(new LockRequest(lock(i), random.nextInt(4) == 0 ? LockMode.SHARED : LockMode.EXCLUSIVE));
            }
        }
        Collections.shuffle(wanted, random);
        user.begin(1 + random.nextInt(3), age, random.nextInt(5) == 0 ? OnDeadlock.ABORT : OnDeadlock.SURRENDER);
        boolean steps = random.nextBoolean();
        int life = user.generation;
        if (!steps) {
            user.want(wanted);
            wanted.clear();
        }
        Runnable[] look = new Runnable[1];
        look[0] = () -> {
            if (user.generation != life) {
                return;
            }
            if (user.aborted) {
                int next = user.agent.age();
                user.close();
                world.at(
                        world.now + random.nextInt(20_000_000),
                        () -> transaction(world, user, locks, next, left, open));
            } else if (!user.agent.isComplete()) {
                if (steps && random.nextInt(200) == 0) {
                    user.cancel(user.agent.wanted().iterator().next());
                } else if (world.wishes && random.nextInt(50) == 0) {
                    wish(world, user);
                }
                world.at(world.now + 3_000_000, look[0]);
            } else if (!wanted.isEmpty()) {
                user.want(List.of(wanted.remove(0)));
                world.at(world.now + 3_000_000, look[0]);
            } else {
                assertThat(user.told).isEqualTo(user.tokens.keySet());
                user.close();
                world.lastProgress = world.now;
                if (--left[user.index] == 0) {
                    open[0]--;
                } else {
                    world.at(
                            world.now + random.nextInt(20_000_000),
                            () -> transaction(world, user, locks, 0, left, open));
                }
            }
        };
        world.at(world.now + 1, look[0]);
    }

    private static void wish(AgentWorld world, AgentWorld.User user) {
        Random random = world.random;
        List<LockName> held = new ArrayList<>(user.tokens.keySet());
        held.removeIf(user.agent::wants);
        if (!held.isEmpty() && random.nextBoolean()) {
            user.surrender(held.get(random.nextInt(held.size())));
        } else {
            OnDeadlock answer = random.nextInt(5) == 0 ? OnDeadlock.ABORT : OnDeadlock.SURRENDER;
            user.behave(answer, random.nextInt(3), user.agent.age());
        }
    }

    // The judge sees what is wrong

    enum Defect {
        /** As the source's agents, who keep to themselves what they see of others (H3, H4). */
        NOBODY_PASSES_ON,
        /** The victim acts on what a search brought back (phantoms, H12). */
        NO_CONFIRMATION,
        /** Each thinks that it ranks highest (H4b). */
        ALL_RANK_HIGHEST
    }

    @ParameterizedTest
    @EnumSource(Defect.class)
    void eachDefectIsFound(Defect defect) {
        assertThatThrownBy(() -> {
                    for (int seed = 0; seed < 3000; seed++) {
                        Random random = new Random(seed);
                        if (defect == Defect.ALL_RANK_HIGHEST) {
                            defective(new AgentWorld(2, random), defect);
                        } else {
                            AgentWorld world = new AgentWorld(2 + random.nextInt(6), random);
                            world.defect = (user, probe) -> changed(user, probe, defect);
                            history(world, 0, seed);
                        }
                    }
                })
                .isInstanceOf(AssertionError.class);
    }

    private static void defective(AgentWorld world, Defect defect) {
        world.defect = (user, probe) -> changed(user, probe, defect);
        world.arrival = (user, probe) -> probe.initiator().equals(user.self) ? aged(probe, 1) : probe;
        for (int i = 0; i < 2; i++) {
            world.users.get(i).begin(i + 1, 1, OnDeadlock.SURRENDER);
            world.users.get(i).want(List.of(request(i)));
        }
        run(world, world.now + 20 * AgentWorld.DELAY);
        for (int i = 0; i < 2; i++) {
            world.users.get(i).want(List.of(request(1 - i)));
        }
        run(world, world.now + bound(2));
        assertThat(world.surrenders + world.aborts).isEqualTo(1);
    }

    private static Probe changed(AgentWorld.User user, Probe probe, Defect defect) {
        boolean own = probe.initiator().equals(user.self);
        return switch (defect) {
            case NOBODY_PASSES_ON -> own ? probe : null;
            case NO_CONFIRMATION -> {
                if (own && probe.kind() == Probe.Kind.CONFIRM) {
                    Probe.Edge last = probe.path().get(probe.path().size() - 1);
                    Probe back = probe.on(Probe.Kind.CONFIRM, probe.path().size() - 1);
                    user.agent.probed(last.lock(), last.token(), last.ahead(), back, Long.MAX_VALUE / 2);
                    yield null;
                }
                yield probe;
            }
            // Who has never given way ranks above all who have.
            case ALL_RANK_HIGHEST -> aged(probe, 0);
        };
    }

    private static Probe aged(Probe probe, int age) {
        return new Probe(
                probe.kind(), probe.initiator(), probe.priority(), age, probe.round(), probe.step(), probe.path());
    }
}
