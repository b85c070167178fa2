// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import static io.keyway.lock.LockMode.EXCLUSIVE;
import static io.keyway.lock.LockMode.SHARED;
import static io.keyway.lock.peer.lease.ManagerWorld.MS;
import static io.keyway.lock.peer.lease.ManagerWorld.TTL;
import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.service.DrainGoal;
import io.keyway.lock.peer.service.LockGoal;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.Participant;
import io.keyway.lock.peer.service.RefusalCause;
import org.junit.jupiter.api.Test;

/** Soft writers stand beside the queue of a manager: they wait for all others, and nobody waits for them. */
class SoftWritersTest extends ThreeClients {
    private static final long QUIET = 1_000 * MS;

    @Test
    void aFreeLockIsGrantedAtOnce() {
        assertThat(a.token(a.wantsSoftly(0))).isPositive();
        assertThat(world.goals).contains(DrainGoal.DRAINED_AT_ONCE);
        a.release(a.last(LockMessage.Granted.class).token());
        assertThat(world.leftovers()).isZero();
    }

    @Test
    void readersComeAndGoBesideOneThatWaitsAndItIsGrantedWhenTheLastHasLeft() {
        long first = a.has(SHARED);
        long soft = b.wantsSoftly(0);
        long second = c.has(SHARED);
        a.release(first);
        assertThat(b.token(soft)).isZero();
        c.release(second);
        assertThat(b.token(soft)).isPositive();
        assertThat(world.goals).contains(DrainGoal.DRAINED_AFTER_WAITING);
        long late = a.wants(SHARED);
        assertThat(a.token(late)).as("beside one that holds").isZero();
        b.release(b.token(soft));
        assertThat(a.token(late)).isPositive();
    }

    @Test
    void allWhoQueueGoFirstAlsoThoseWhoCameLater() {
        long held = a.has(EXCLUSIVE);
        long soft = b.wantsSoftly(0);
        long writer = c.wants(EXCLUSIVE);
        long reader = a.wants(SHARED);
        a.release(held);
        c.release(c.token(writer));
        assertThat(b.token(soft)).isZero();
        a.release(a.token(reader));
        assertThat(b.token(soft)).isPositive();
    }

    @Test
    void nothingLiesInCachesWhileOneWaits() {
        long cached = a.has(SHARED);
        b.wantsSoftly(0);
        LockMessage.Recall recall = a.last(LockMessage.Recall.class);
        assertThat(recall.token()).isEqualTo(cached);
        assertThat(recall.asks()).as("it is to say whether it is in use").isTrue();
        c.has(SHARED);
        LockMessage.Granted granted = c.last(LockMessage.Granted.class);
        assertThat(granted.wanted()).isTrue();
        assertThat(granted.hi()).isEqualTo(granted.token());
        a.accepts(cached);
        c.release(granted.token());
        assertThat(b.last(LockMessage.Granted.class).token()).isPositive();
    }

    @Test
    void theTimeWithoutReadersRunsFromItsComing() {
        long soft = a.wantsSoftly(QUIET);
        keepBeating(QUIET - MS, a);
        assertThat(a.token(soft)).isZero();
        world.advance(MS);
        assertThat(a.token(soft)).isPositive();
        assertThat(world.goals).contains(DrainGoal.DRAINED_AFTER_ITS_TIME);
    }

    @Test
    void eachReaderBeginsItAnewWhenItIsGrantedAndNotWhenItLeaves() {
        long soft = a.wantsSoftly(QUIET);
        keepBeating(QUIET / 2, a, b);
        long read = b.has(SHARED);
        keepBeating(QUIET / 2, a, b);
        b.release(read);
        assertThat(a.token(soft)).isZero();
        keepBeating(QUIET / 2 - MS, a, b);
        assertThat(a.token(soft)).isZero();
        world.advance(MS);
        assertThat(a.token(soft)).isPositive();
        assertThat(world.goals).contains(DrainGoal.TIME_BEGUN_ANEW);
    }

    @Test
    void aWriterThatBecomesAReaderBeginsItAnew() {
        long writer = b.has(EXCLUSIVE);
        long soft = a.wantsSoftly(QUIET);
        keepBeating(QUIET / 2, a, b);
        long reader = b.token(b.downgrades(writer));
        b.release(reader);
        keepBeating(QUIET - MS, a, b);
        assertThat(a.token(soft)).isZero();
        world.advance(MS);
        assertThat(a.token(soft)).isPositive();
    }

    @Test
    void aReaderThatItsCacheMayHaveServedBeginsItAnewWhenItsClientAnswers() {
        long cached = b.has(SHARED);
        long soft = a.wantsSoftly(QUIET);
        keepBeating(QUIET / 2, a, b);
        b.denies(cached);
        b.release(cached);
        keepBeating(QUIET - MS, a, b);
        assertThat(a.token(soft)).isZero();
        world.advance(MS);
        assertThat(a.token(soft)).isPositive();
    }

    @Test
    void aReadersIdleCacheThatComesBackBeginsItAnew() {
        long cached = b.has(SHARED);
        long soft = a.wantsSoftly(QUIET);
        keepBeating(QUIET / 2, a, b);
        b.accepts(cached);
        keepBeating(QUIET / 2, a, b);
        assertThat(a.token(soft)).isZero();
        keepBeating(QUIET / 2, a, b);
        assertThat(a.token(soft)).isPositive();
        assertThat(world.goals).contains(DrainGoal.READ_FROM_THE_CACHE);
    }

    @Test
    void aReaderThatHasAnsweredBeginsNothingAnewByLeaving() {
        long cached = b.has(SHARED);
        long soft = a.wantsSoftly(QUIET);
        b.denies(cached);
        keepBeating(QUIET, a, b);
        b.release(cached);
        assertThat(a.token(soft)).isPositive();
    }

    @Test
    void oneThatGivesUpIsGoneAndSoIsOneWhoseSessionEnds() {
        long held = a.has(EXCLUSIVE);
        long first = b.wantsSoftly(0);
        c.wantsSoftly(0);
        b.withdraws(first);
        c.die();
        a.release(held);
        assertThat(b.token(first)).isZero();
        assertThat(world.leftovers()).isZero();
    }

    @Test
    void oneThatIsNotHeardKeepsNobodyWaitingAndIsGrantedWhenItIsHeardAgain() {
        long held = a.has(EXCLUSIVE);
        long silent = b.wantsSoftly(0);
        keepBeating(TTL / 2, a, c);
        a.release(held);
        assertThat(b.token(silent)).isZero();
        assertThat(world.goals).contains(LockGoal.WAITER_PASSED_OVER);
        long reader = c.has(SHARED);
        c.release(reader);
        b.beat();
        assertThat(b.token(silent)).isPositive();
    }

    @Test
    void afterACrashItWaitsForTheEndOfTheQuarantine() {
        world.crash();
        a.connect();
        long soft = a.wantsSoftly(0);
        keepBeating(4 * TTL - MS, a);
        assertThat(a.token(soft)).isZero();
        keepBeating(2 * MS, a);
        assertThat(a.token(soft)).isPositive();
    }

    @Test
    void aReaderThatClaimsItsGrantAfterACrashHasItReturnedAtItsRelease() {
        long held = a.has(SHARED);
        world.crash();
        a.connect();
        b.connect();
        long soft = b.wantsSoftly(0);
        a.reasserts(SHARED, 1, held);
        assertThat(a.last(LockMessage.Reasserted.class).wanted()).isTrue();
        keepBeating(4 * TTL, a, b);
        assertThat(b.token(soft)).isZero();
        a.release(held);
        assertThat(b.token(soft)).isPositive();
    }

    @Test
    void itIsShownApartAndChangesWhatIsWatched() {
        long held = a.has(EXCLUSIVE);
        long before = version(c);
        long soft = b.wantsSoftly(0);
        assertThat(version(c)).isNotEqualTo(before);
        LockMessage.Status status = c.shown();
        assertThat(status.waiters()).isEmpty();
        assertThat(status.softWriters())
                .extracting(Participant::owner)
                .extracting(owner -> owner.client())
                .containsExactly("c1");
        LockMessage.Place place = b.last(LockMessage.Place.class);
        assertThat(place.request()).isEqualTo(soft);
        assertThat(place.holders()).hasSize(1);
        a.release(held);
        assertThat(c.shown().softWriters()).isEmpty();
    }

    private static long version(ManagerWorld.Client client) {
        client.say(new LockMessage.Watch(ManagerWorld.KEY, 900, 0, 0));
        return client.last(LockMessage.Changed.class).version();
    }

    @Test
    void onlyWhoWaitsToWriteIsOne() {
        long held = a.has(SHARED);
        for (long request : new long[] {
            b.asksSoftly(SHARED, false, 0), b.asksSoftly(EXCLUSIVE, true, 0), a.asksSoftly(EXCLUSIVE, false, held)
        }) {
            ManagerWorld.Client asker = b.refused(request) ? b : a;
            assertThat(asker.refused(request)).isTrue();
            assertThat(asker.last(LockMessage.NotGranted.class).cause()).isEqualTo(RefusalCause.UNSUPPORTED);
        }
    }

    @Test
    void oneThatIsRepeatedWaitsOnce() {
        a.has(EXCLUSIVE);
        LockMessage.Acquire request = b.request(EXCLUSIVE, 1, 1, false, 0, 0);
        b.say(request, request);
        b.wantsSoftly(0);
        assertThat(c.shown().softWriters()).hasSize(1);
        assertThat(c.shown().waiters()).hasSize(1);
    }
}
