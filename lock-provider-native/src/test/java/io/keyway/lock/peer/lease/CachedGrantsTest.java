// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import static io.keyway.lock.LockMode.EXCLUSIVE;
import static io.keyway.lock.LockMode.PERMITS;
import static io.keyway.lock.LockMode.SHARED;
import static io.keyway.lock.peer.lease.GrantWorld.CAPACITY;
import static io.keyway.lock.peer.lease.GrantWorld.MS;
import static io.keyway.lock.peer.lease.GrantWorld.TTL;
import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.queue.Admission;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockGoal;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.service.LockSettings;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Owner;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Several grants of one name in the cache of a client: who takes them, who asks instead, and which goes back when. */
class CachedGrantsTest {
    private static final LockSettings CACHING = LockSettings.defaults();

    private final GrantWorld world = GrantWorld.ofCaches(Admission.LOCKS, CACHING, 3);
    private final GrantWorld.Client c0 = world.clients.get(0);
    private final GrantWorld.Client c1 = world.clients.get(1);
    private final GrantWorld.Client c2 = world.clients.get(2);

    @Test
    void readersAreServedFromTheCacheWithoutAMessageEachByAGrantOfItsOwn() {
        long first = c0.acquire(SHARED);
        long second = c0.acquire(SHARED);
        assertThat(c0.letGo(first)).isTrue();
        assertThat(c0.letGo(second)).isTrue();
        world.sent.clear();

        long third = c0.reuse(SHARED);
        long fourth = c0.reuse(SHARED);
        assertThat(world.holders()).containsExactlyInAnyOrder(third, fourth);
        assertThat(c0.reuse(SHARED)).as("both are in use").isZero();
        assertThat(c0.letGo(third)).isTrue();
        assertThat(c0.acquire(SHARED)).isNotZero();
        assertThat(world.sent).isEmpty();
    }

    @Test
    void anIdleReaderGoesBackAsSoonAsAWriterElsewhereWantsTheLockAndOneInUseAtItsRelease() {
        long first = c0.acquire(SHARED);
        long second = c0.acquire(SHARED);
        c0.letGo(first);
        long writer = c1.acquire(EXCLUSIVE);

        assertThat(c0.handles()).hasSize(1);
        assertThat(c0.letGo(second)).as("it goes straight back").isFalse();
        assertThat(world.holders()).containsExactly(writer);
        assertThat(world.count(LockMessage.Accepted.class)).isEqualTo(1);
    }

    @Test
    void aThreadThatTakesAnIdleGrantWhileItsRecallArrivesKeepsItAndTheOthersGoBack() {
        long first = c0.acquire(SHARED);
        long second = c0.acquire(SHARED);
        c0.letGo(first);
        c0.letGo(second);
        c0.cut(true);
        long writer = c1.acquire(EXCLUSIVE);
        long reader = c0.reuse(SHARED);
        c0.cut(false);

        assertThat(c0.believes(reader)).isTrue();
        assertThat(c0.handles()).hasSize(1);
        assertThat(world.holders()).containsExactly(reader);
        assertThat(c0.letGo(reader)).isFalse();
        assertThat(world.holders()).containsExactly(writer);
    }

    @Test
    void whoWaitsIsServedByAReleaseHereAndWhatItsRequestBringsServesTheNext() {
        long first = c0.acquire(SHARED);
        c0.cut(true);
        long second = c0.acquire(SHARED);
        assertThat(c0.letGo(first)).as("somebody waits").isFalse();
        assertThat(c0.believes(second)).isTrue();
        assertThat(world.goals).contains(LockGoal.SPARE_REQUEST);
        c0.cut(false);

        assertThat(c0.handles()).hasSize(2);
        assertThat(c0.idle()).isEqualTo(1);
        world.sent.clear();
        long third = c0.acquire(SHARED);
        assertThat(world.holders()).containsExactlyInAnyOrder(second, third);
        assertThat(world.sent).isEmpty();
    }

    @Test
    void aSpareRequestThatHasToWaitIsWithdrawnAndKeepsNobodyOut() {
        GrantWorld permits = GrantWorld.ofCaches(Admission.SEMAPHORES, CACHING, 2);
        GrantWorld.Client a = permits.clients.get(0);
        GrantWorld.Client b = permits.clients.get(1);
        long two = b.acquire(PERMITS, 2, TTL);
        long one = a.acquire(PERMITS, 1, TTL);
        a.cut(true);
        long next = a.acquire(PERMITS, 1, TTL);
        a.letGo(one);
        assertThat(a.believes(next)).isTrue();
        a.cut(false);
        permits.advance(MS);

        assertThat(permits.goals).contains(LockGoal.SPARE_WITHDRAWN);
        b.letGo(two);
        long three = b.acquire(PERMITS, 2, TTL);
        assertThat(permits.holders()).containsExactlyInAnyOrder(next, three);
    }

    @Test
    void aSpareGrantIsGoneWithItsSessionAndNobodyHearsOfIt() {
        long first = c0.acquire(SHARED);
        c0.cut(true);
        long second = c0.acquire(SHARED);
        c0.letGo(first);
        c0.lose("unknown session");
        assertThat(c0.told(LockNotice.Ended.class)).hasSize(1);
        assertThat(c0.held).doesNotContainKey(second);
        assertThat(c0.waiting).isEmpty();
        assertThat(c0.cell.residents()).isZero();
    }

    @Test
    void aWaiterOfAnotherTtlHasAGrantOfItsOwnAndTheIdleOneStays() {
        long first = c0.acquire(SHARED);
        c0.letGo(first);
        long brief = c0.acquire(SHARED, 1, TTL / 2);
        assertThat(c0.believes(brief)).isTrue();
        assertThat(c0.handles()).hasSize(2);
        assertThat(c0.reuse(SHARED)).isNotZero();
    }

    @Test
    void aWriterHereHasTheIdleReadersGoBackInTheFrameOfItsRequest() {
        long first = c0.acquire(SHARED);
        long second = c0.acquire(SHARED);
        c0.letGo(first);
        c0.letGo(second);
        world.sent.clear();
        long writer = c0.acquire(EXCLUSIVE);

        assertThat(world.holders()).containsExactly(writer);
        assertThat(world.sent).hasSize(4).element(2).isInstanceOf(LockMessage.Acquire.class);
        assertThat(world.count(LockMessage.Release.class)).isEqualTo(2);
        assertThat(world.count(LockMessage.Recall.class)).isZero();
    }

    @Test
    void aWriterHereWaitsForReadersInUseAndNoReaderOfThisClientPassesIt() {
        long reader = c0.acquire(SHARED);
        long writer = c0.acquire(EXCLUSIVE);
        long late = c0.acquire(SHARED);
        long elsewhere = c1.acquire(SHARED);
        assertThat(world.holders()).containsExactly(reader);
        c0.letGo(reader);
        assertThat(world.holders()).containsExactly(writer);
        c0.letGo(writer);
        assertThat(world.holders()).containsExactlyInAnyOrder(late, elsewhere);
    }

    @Test
    void whoDoesNotWaitIsRefusedByTheWriterHereAndServedBesideAReader() {
        long reader = c0.acquire(SHARED);
        long joins = c0.ask(SHARED, 1, TTL, false);
        assertThat(world.holders()).containsExactly(reader, joins);
        long hopeful = c0.ask(EXCLUSIVE, 1, TTL, false);
        assertThat(c0.told(LockNotice.Refused.class))
                .extracting(LockNotice.Refused::request)
                .containsExactly(hopeful);
        c0.letGo(reader);
        c0.letGo(joins);
        long writer = c0.acquire(EXCLUSIVE);
        assertThat(c0.believes(writer)).isTrue();
        long refused = c0.ask(SHARED, 1, TTL, false);
        assertThat(c0.told(LockNotice.Refused.class))
                .extracting(LockNotice.Refused::request)
                .containsExactly(hopeful, refused);
    }

    @Test
    void permitsOfAnotherNumberGoBackOnlyIfTheyLeaveNoRoom() {
        GrantWorld permits = GrantWorld.ofCaches(Admission.SEMAPHORES, CACHING, 1);
        GrantWorld.Client a = permits.clients.get(0);
        a.letGo(a.acquire(PERMITS, 1, TTL));
        long two = a.acquire(PERMITS, 2, TTL);
        assertThat(a.handles()).as("one and two are three").hasSize(2);
        a.letGo(two);
        permits.sent.clear();
        long three = a.acquire(PERMITS, 3, TTL);
        assertThat(a.believes(three)).isTrue();
        assertThat(permits.count(LockMessage.Release.class)).isEqualTo(2);
        assertThat(permits.count(LockMessage.Recall.class)).isZero();
    }

    @Test
    void whoStatesAFewerCapacityIsNotServedByAPermitOfALargerOne() {
        GrantWorld permits = GrantWorld.ofCaches(Admission.SEMAPHORES, CACHING, 1);
        GrantWorld.Client a = permits.clients.get(0);
        a.letGo(a.acquire(PERMITS, 1, TTL));
        assertThat(a.reuse(PERMITS, 1, CAPACITY - 1, TTL)).isZero();
        assertThat(a.reuse(PERMITS, 1, CAPACITY, TTL)).isNotZero();
    }

    @Test
    void eachGrantGoesBackWhenItHasBeenIdleForTooLong() {
        long cacheFor = CACHING.cacheFor();
        long first = c0.acquire(SHARED);
        long second = c0.acquire(SHARED);
        c0.letGo(first);
        world.advance(cacheFor / 2);
        c0.letGo(second);
        world.advance(cacheFor / 2 + MS);
        assertThat(c0.handles()).hasSize(1);
        world.advance(cacheFor / 2);
        assertThat(c0.handles()).isEmpty();
        assertThat(c0.cell.residents()).isZero();
        world.advance(TTL);
        assertThat(world.residents()).isZero();
    }

    @Test
    void aFullCacheGivesTheOldestGrantBackAndNotTheWholeName() {
        GrantWorld small = GrantWorld.ofCaches(Admission.LOCKS, CACHING.withCache(CACHING.cacheFor(), 2), 1);
        GrantWorld.Client a = small.clients.get(0);
        long first = a.acquire(SHARED);
        long second = a.acquire(SHARED);
        long third = a.acquire(SHARED);
        assertThat(small.goals).contains(LockGoal.CACHE_FULL);
        assertThat(a.believes(first)).as("it is in use").isTrue();
        a.letGo(third);
        a.letGo(second);
        assertThat(a.letGo(first)).isFalse();
        assertThat(a.idle()).isEqualTo(2);
        assertThat(a.cell.residents()).as("the name and the cache").isEqualTo(2);
    }

    @Test
    void withoutACacheEachGrantGoesBackAtItsRelease() {
        GrantWorld plain = GrantWorld.ofCaches(Admission.LOCKS, CACHING.withoutCache(), 1);
        GrantWorld.Client a = plain.clients.get(0);
        long first = a.acquire(SHARED);
        long second = a.acquire(SHARED);
        assertThat(a.letGo(first)).isFalse();
        assertThat(a.letGo(second)).isFalse();
        assertThat(a.handles()).isEmpty();
        assertThat(a.cell.residents()).isZero();
    }

    @Test
    void afterARestartReadersInUseAreClaimedAndIdleOnesHaveGoneBack() {
        long first = c0.acquire(SHARED);
        long second = c0.acquire(SHARED);
        c0.letGo(second);
        world.restart();
        assertThat(c0.handles()).hasSize(1);
        assertThat(world.count(LockMessage.Reassert.class)).isEqualTo(1);
        world.advance(5 * TTL);
        assertThat(c0.believes(first)).isTrue();
        long writer = c1.acquire(EXCLUSIVE);
        assertThat(world.holders()).containsExactly(first);
        c0.letGo(first);
        assertThat(world.holders()).containsExactly(writer);
    }

    @Test
    void aBreakEndsTheGrantThatUsesItsTokenAndLeavesTheCache() {
        long first = c0.acquire(SHARED);
        long second = c0.acquire(SHARED);
        c0.letGo(second);
        c2.question(new LockCall.Break(900, c0.token(first), "a test", TTL));
        assertThat(c0.held).isEmpty();
        assertThat(c0.idle()).isEqualTo(1);
        assertThat(c2.told(LockNotice.Told.class)).hasSize(1);
    }

    @Test
    void aLapseEndsAllOfItsTtlAndAReleaseThatFollowsIsNotHeld() {
        long first = c0.acquire(SHARED);
        long second = c0.acquire(SHARED);
        long other = c0.acquire(SHARED, 1, 4 * TTL);
        c0.letGo(second);
        long token = c0.token(first);
        c0.cut(true);
        world.advance(TTL);
        assertThat(c0.held.keySet()).containsExactly(other);
        assertThat(c0.handles()).hasSize(1);
        c0.question(new LockCall.Release(token));
        assertThat(c0.told(LockNotice.ReleaseDone.class))
                .extracting(LockNotice.ReleaseDone::answer)
                .containsExactly(Answer.NOT_HELD);
    }

    /** Several users of one client in one turn: nobody is lost, and each has a grant of its own. */
    @Test
    void manyReadersInOneTurnAskInOneFrame() {
        Owner owner = new Owner("c0", Map.of());
        LockCall.Acquire[] calls = new LockCall.Acquire[16];
        for (int i = 0; i < calls.length; i++) {
            calls[i] = c0.expected(new LockCall.Acquire(
                    1000 + i, SHARED, 1, CAPACITY, TTL, owner, true, true, 500 * MS, 0, 1000L + i));
        }
        c0.together(calls);
        assertThat(world.holders()).hasSize(16);
        assertThat(List.copyOf(c0.held.keySet())).hasSize(16);
        assertThat(c0.waiting).isEmpty();
    }
}
