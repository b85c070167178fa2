// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import static io.keyway.lock.LockMode.PERMITS;
import static io.keyway.lock.peer.lease.GrantWorld.MS;
import static io.keyway.lock.peer.lease.GrantWorld.TTL;
import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.queue.Admission;
import io.keyway.lock.peer.service.Buckets;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.service.LockSettings;
import io.keyway.lock.spi.Answer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What the source's tests try, and what they leave out, on a semaphore of this project: with clients that give each
 * permit back, and with clients that keep permits cached. Named after the numbers in docs/algorithms/bucket.md.
 */
class BucketScenariosTest {
    private static final int FULL = 0;

    /** The source's calls: {@code acquire} never waits, and states the capacity as so many permits for a resource. */
    private static final class Canal {
        final GrantWorld world;
        private final Map<Integer, Deque<Long>> permits = new LinkedHashMap<>();
        private int most = 1;

        Canal(boolean cache, int clients) {
            LockSettings settings = LockSettings.defaults();
            world = cache
                    ? GrantWorld.ofCaches(Admission.SEMAPHORES, settings, clients)
                    : new GrantWorld(Admission.SEMAPHORES, settings, clients);
        }

        /** How many permits are out, or {@link #FULL}. */
        int acquire(int client, int perResource, int resources) {
            most = Math.max(most, perResource * resources);
            world.withCapacity(most);
            GrantWorld.Client user = world.clients.get(client);
            long request = user.ask(PERMITS, 1, perResource * resources, perResource, TTL, false);
            world.advance(MS);
            if (!user.believes(request)) {
                assertThat(user.told(LockNotice.Refused.class))
                        .extracting(LockNotice.Refused::request)
                        .contains(request);
                return FULL;
            }
            permits.computeIfAbsent(client, fresh -> new ArrayDeque<>()).add(request);
            return user.held.get(request).handle().out();
        }

        /** Gives one back. */
        void release(int client) {
            world.clients.get(client).release(permits.get(client).remove());
            world.advance(MS);
        }

        /** Its process ends, and the operating system says so. */
        void kill(int client) {
            permits.remove(client);
            world.kill(world.clients.get(client));
            world.advance(MS);
        }

        /** As {@code keyway show} has it: what is in use. */
        List<Integer> buckets() {
            LockMessage.Status status = status();
            return List.copyOf(Buckets.of(status.out(), status.perResource()));
        }

        LockMessage.Status status() {
            GrantWorld.Client admin = world.clients.get(world.clients.size() - 1);
            admin.question(
                    new LockCall.Show(900 + admin.told(LockNotice.Told.class).size(), TTL));
            world.advance(MS);
            List<LockNotice.Told> told = admin.told(LockNotice.Told.class);
            return (LockMessage.Status) told.get(told.size() - 1).answer();
        }

        int inUse() {
            return permits.values().stream().mapToInt(Deque::size).sum();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void theTimelineOfTheSource(boolean cache) {
        Canal canal = new Canal(cache, 6);
        int b = 0;
        int a = 1;
        int c = 2;
        int e = 3;
        int d = 4;
        assertThat(canal.acquire(b, 3, 1)).isEqualTo(1);
        assertThat(canal.buckets()).containsExactly(1);
        assertThat(canal.acquire(a, 3, 1)).isEqualTo(2);
        assertThat(canal.buckets()).containsExactly(2);
        assertThat(canal.acquire(c, 3, 2)).isEqualTo(3);
        assertThat(canal.buckets()).containsExactly(3);
        assertThat(canal.acquire(e, 3, 1)).as("the source marks its bucket [4]").isEqualTo(FULL);
        assertThat(canal.buckets()).containsExactly(3);
        assertThat(canal.acquire(d, 3, 2)).isEqualTo(4);
        assertThat(canal.buckets()).containsExactly(3, 1);

        canal.release(b);
        assertThat(canal.buckets()).as("from the highest").containsExactly(3);
        assertThat(canal.acquire(e, 3, 1)).isEqualTo(FULL);
        canal.release(d);
        assertThat(canal.acquire(e, 3, 1)).isEqualTo(3);
        assertThat(canal.buckets()).containsExactly(3);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void s1_afterAShrinkItIsFullUntilEnoughAreBack(boolean cache) {
        Canal canal = new Canal(cache, 3);
        for (int out = 1; out <= 10; out++) {
            assertThat(canal.acquire(out % 2, 5, 2)).isEqualTo(out);
        }
        assertThat(canal.acquire(0, 5, 2)).isEqualTo(FULL);
        assertThat(canal.acquire(0, 5, 1)).isEqualTo(FULL);
        for (int back = 0; back < 5; back++) {
            canal.release(back % 2);
            assertThat(canal.acquire(2, 5, 1)).isEqualTo(FULL);
        }
        canal.release(1);
        assertThat(canal.acquire(2, 5, 1)).isEqualTo(5);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void s2_afterAGrowthThereIsRoomAndWhoSeesLessIsRefused(boolean cache) {
        Canal canal = new Canal(cache, 3);
        for (int out = 1; out <= 5; out++) {
            assertThat(canal.acquire(0, 5, 1)).isEqualTo(out);
        }
        assertThat(canal.acquire(1, 5, 1)).isEqualTo(FULL);
        assertThat(canal.acquire(1, 5, 2)).isEqualTo(6);
        canal.release(0);
        assertThat(canal.acquire(2, 5, 1)).isEqualTo(FULL);
        assertThat(canal.acquire(2, 5, 2)).isEqualTo(6);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void s3_whatADeadHolderHadComesBackAndNothingElse(boolean cache) {
        Canal canal = new Canal(cache, 4);
        canal.acquire(0, 3, 1);
        canal.acquire(1, 3, 1);
        canal.acquire(1, 3, 1);
        canal.release(1);
        canal.kill(1);
        assertThat(canal.acquire(2, 3, 1)).isEqualTo(2);
        assertThat(canal.acquire(2, 3, 1)).isEqualTo(3);
        assertThat(canal.acquire(2, 3, 1)).isEqualTo(FULL);
        canal.kill(2);
        assertThat(canal.acquire(0, 3, 1)).isEqualTo(2);
        assertThat(canal.acquire(0, 3, 1)).isEqualTo(3);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void s4_afterAShrinkDeathsMakeRoomAsReleasesDo(boolean cache) {
        Canal canal = new Canal(cache, 12);
        for (int client = 0; client < 10; client++) {
            assertThat(canal.acquire(client, 5, 2)).isEqualTo(client + 1);
        }
        for (int client = 0; client < 5; client++) {
            canal.kill(client);
            assertThat(canal.acquire(10, 5, 1)).isEqualTo(FULL);
        }
        canal.kill(5);
        assertThat(canal.acquire(10, 5, 1)).isEqualTo(5);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void s5_afterAGrowthDeathsMakeRoomAsReleasesDo(boolean cache) {
        Canal canal = new Canal(cache, 9);
        for (int client = 0; client < 5; client++) {
            canal.acquire(client, 5, 1);
        }
        assertThat(canal.acquire(5, 5, 2)).isEqualTo(6);
        canal.kill(0);
        assertThat(canal.acquire(6, 5, 1)).isEqualTo(FULL);
        assertThat(canal.acquire(6, 5, 2)).isEqualTo(6);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void s6_allThatThereIsCanBeHadOneMoreCannotAndAllAgainWhenItIsBack(boolean cache) {
        Random random = new Random(11);
        for (int run = 0; run < 5; run++) {
            int perResource = 1 + random.nextInt(9);
            int resources = 1 + random.nextInt(6);
            Canal canal = new Canal(cache, 4);
            canal.world.withoutCopies();
            for (int round = 0; round < 2; round++) {
                for (int out = 1; out <= perResource * resources; out++) {
                    int told = canal.acquire(out % 3, perResource, resources);
                    assertThat(told).isPositive().isLessThanOrEqualTo(perResource * resources);
                    assertThat(round > 0 || told == out).isTrue();
                }
                assertThat(canal.acquire(random.nextInt(3), perResource, resources))
                        .isEqualTo(FULL);
                for (int out = 1; out <= perResource * resources; out++) {
                    canal.release(out % 3);
                }
                assertThat(canal.status().out()).isZero();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void s7_tenThousandPairsLeaveNothingOutAndCachedOnesSendNothing(boolean cache) {
        Canal canal = new Canal(cache, 2);
        canal.world.withoutCopies();
        canal.acquire(0, 5, 2);
        canal.release(0);
        canal.world.sent.clear();
        for (int pair = 0; pair < 10_000; pair++) {
            long request = canal.world.clients.get(0).ask(PERMITS, 1, 10, 5, TTL, false);
            canal.world.clients.get(0).release(request);
        }
        canal.world.clients.get(0).notices.clear();
        assertThat(canal.world.sent.size()).isEqualTo(cache ? 0 : 30_000);
        assertThat(canal.status().out()).isZero();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void s8_largeCallersRunWhileSmallOnesComeAndGo(boolean cache) {
        Canal canal = new Canal(cache, 8);
        int[] small = {0, 1, 2, 3};
        int[] large = {4, 5};
        for (int client : small) {
            assertThat(canal.acquire(client, 2, 2)).isPositive();
        }
        for (int client : large) {
            assertThat(canal.acquire(client, 2, 3)).isPositive();
        }
        assertThat(canal.acquire(6, 2, 3)).isEqualTo(FULL);
        for (int client : small) {
            canal.release(client);
            canal.acquire(client, 2, 2);
        }
        assertThat(canal.inUse()).as("four is what small ones see").isEqualTo(4);
        canal.release(4);
        canal.release(5);
        for (int client : small) {
            if (canal.permits.get(client).isEmpty()) {
                assertThat(canal.acquire(client, 2, 2)).isPositive();
            }
        }
        assertThat(canal.acquire(6, 2, 2)).isEqualTo(FULL);
        assertThat(canal.inUse()).isEqualTo(4);
        assertThat(canal.buckets()).containsExactly(2, 2);
    }

    /**
     * Each grant is within the capacity that was stated for it, whatever the others see; nothing is left in the end.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void s9_s10_s11_neverMoreThanWhoWasGrantedCouldSee(boolean cache) {
        int granted = 0;
        int refused = 0;
        for (int seed = 0; seed < 12; seed++) {
            Random random = new Random(seed);
            Canal canal = new Canal(cache, 4);
            canal.world.withoutCopies();
            for (int step = 0; step < 60; step++) {
                int client = random.nextInt(3);
                Deque<Long> held = canal.permits.getOrDefault(client, new ArrayDeque<>());
                if (random.nextBoolean() && !held.isEmpty()) {
                    canal.release(client);
                } else {
                    int perResource = 1 + random.nextInt(3);
                    int resources = 1 + random.nextInt(3);
                    int before = canal.inUse();
                    int out = canal.acquire(client, perResource, resources);
                    if (out == FULL) {
                        refused++;
                        assertThat(before)
                                .as("seed %s, step %s", seed, step)
                                .isGreaterThanOrEqualTo(perResource * resources);
                    } else {
                        granted++;
                        assertThat(before + 1).isLessThanOrEqualTo(perResource * resources);
                    }
                }
            }
            for (int client = 0; client < 3; client++) {
                while (!canal.permits.getOrDefault(client, new ArrayDeque<>()).isEmpty()) {
                    canal.release(client);
                }
            }
            assertThat(canal.status().out()).isZero();
            assertThat(canal.acquire(0, 1, 1)).as("seed %s", seed).isPositive();
        }
        assertThat(granted).isGreaterThan(100);
        assertThat(refused).isGreaterThan(50);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void s12_aReleaseOfNothingOfAnotherOrTwiceTakesNoPermit(boolean cache) {
        Canal canal = new Canal(cache, 3);
        canal.acquire(0, 2, 1);
        canal.acquire(1, 2, 1);
        GrantWorld.Client one = canal.world.clients.get(0);
        GrantWorld.Client two = canal.world.clients.get(1);
        long mine = one.held.values().iterator().next().token();
        two.raw(new LockMessage.Release(GrantWorld.KEY, mine, mine));
        two.question(new LockCall.Release(mine));
        one.question(new LockCall.Release(mine + 77));
        assertThat(canal.acquire(2, 2, 1)).isEqualTo(FULL);
        canal.release(0);
        one.question(new LockCall.Release(mine));
        one.raw(new LockMessage.Release(GrantWorld.KEY, mine, mine));
        List<Answer> answers = one.told(LockNotice.ReleaseDone.class).stream()
                .map(LockNotice.ReleaseDone::answer)
                .toList();
        assertThat(answers).containsExactly(Answer.NOT_HELD, Answer.DONE, Answer.NOT_HELD);
        assertThat(canal.acquire(2, 2, 1)).isEqualTo(2);
        assertThat(canal.acquire(2, 2, 1)).isEqualTo(FULL);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void s13_aRestartForgetsNoPermitThatIsBelievedIn(boolean cache) {
        Canal canal = new Canal(cache, 4);
        for (int client = 0; client < 3; client++) {
            canal.acquire(client, 3, 1);
        }
        canal.world.restart();
        canal.world.advance(5 * TTL);
        assertThat(canal.inUse()).isEqualTo(3);
        assertThat(canal.acquire(3, 3, 1)).isEqualTo(FULL);
        assertThat(canal.acquire(3, 3, 2)).isEqualTo(4);
        canal.release(0);
        canal.release(3);
        assertThat(canal.acquire(3, 3, 1)).isEqualTo(3);
    }

    @Test
    void s14_theFirstTwoOfANewNameAreCountedBoth() {
        GrantWorld world = new GrantWorld(Admission.SEMAPHORES, 3).withCapacity(4);
        GrantWorld.Client small = world.clients.get(0);
        GrantWorld.Client large = world.clients.get(1);
        small.cut(true);
        long first = small.ask(PERMITS, 1, 2, 2, TTL, false);
        large.ask(PERMITS, 1, 4, 2, TTL, false);
        large.ask(PERMITS, 1, 4, 2, TTL, false);
        large.ask(PERMITS, 1, 4, 2, TTL, false);
        small.cut(false);
        assertThat(small.believes(first)).as("its view is full").isFalse();
        List.copyOf(large.held.keySet()).forEach(large::release);
        long again = small.ask(PERMITS, 1, 2, 2, TTL, false);
        assertThat(small.believes(again)).isTrue();
        small.release(again);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void s15_theManyPermitsOfADeadHolderComeBackEachOnce(boolean cache) {
        Canal canal = new Canal(cache, 3);
        canal.world.withCapacity(10);
        GrantWorld.Client holder = canal.world.clients.get(0);
        holder.ask(PERMITS, 4, 10, 5, TTL, false);
        holder.ask(PERMITS, 3, 10, 5, TTL, false);
        assertThat(canal.acquire(1, 5, 2)).isEqualTo(8);
        canal.kill(0);
        canal.kill(0);
        for (int out = 2; out <= 10; out++) {
            assertThat(canal.acquire(1, 5, 2)).isEqualTo(out);
        }
        assertThat(canal.acquire(1, 5, 2)).isEqualTo(FULL);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void s16_refusalsWithoutEndHoldNobodyUp(boolean cache) {
        Canal canal = new Canal(cache, 4);
        canal.acquire(0, 1, 1);
        for (int i = 0; i < 200; i++) {
            assertThat(canal.acquire(1 + i % 2, 1, 1)).isEqualTo(FULL);
        }
        canal.release(0);
        assertThat(canal.acquire(1, 1, 1)).isEqualTo(1);
    }

    /** How long it takes is not asserted: what is sent for each does not grow, and each is given back by its token. */
    @Test
    void s17_tenThousandPermitsOfOneHolderAreTenThousandTimesOne() {
        int many = 10_000;
        ManagerWorld world = new ManagerWorld(Admission.SEMAPHORES).withoutCopies();
        ManagerWorld.Client holder = world.client();
        List<Long> tokens = new ArrayList<>(many);
        LockMessage[] asked = new LockMessage[many];
        for (int i = 0; i < many; i++) {
            asked[i] = holder.request(PERMITS, 1, many, true, 0, 0);
        }
        holder.say(asked);
        holder.all(LockMessage.Granted.class).forEach(granted -> tokens.add(granted.token()));
        assertThat(tokens).hasSize(many).doesNotHaveDuplicates();
        assertThat(holder.last(LockMessage.Granted.class).out()).isEqualTo(many);
        LockMessage[] back = tokens.stream()
                .map(token -> new LockMessage.Release(ManagerWorld.KEY, token, token))
                .toArray(LockMessage[]::new);
        holder.say(back);
        assertThat(world.leftovers()).isZero();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void s18_nothingIsLeftOfANameThatNobodyUses(boolean cache) {
        Canal canal = new Canal(cache, 3);
        canal.acquire(0, 5, 1);
        canal.acquire(1, 5, 2);
        canal.release(0);
        canal.release(1);
        canal.world.advance(60_000 * MS);
        assertThat(canal.world.residents()).isZero();
        canal.world.clients.forEach(client -> assertThat(client.kept()).isEmpty());
    }
}
