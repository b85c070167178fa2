// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.client.LockClientHelper;
import org.junit.jupiter.api.Test;

class LockManagerTest extends LeaseScenarios {
    private static final long MS = LeaseWorld.MS;
    private static final long TTL = LeaseWorld.TTL;

    @Test
    void anUncontendedAcquireIsOneRoundTripAndAReleaseNone() {
        c(0).acquire("a");
        world.settle();
        assertThat(world.traced()).isEqualTo("c0>m Acquire, m>c0 Granted");
        assertThat(c(0).told()).isEqualTo("Granted");
        assertThat(c(0).believes("a")).isPositive();
        assertThat(c(0).release("a")).isTrue();
        assertThat(c(0).phase("a")).isEqualTo(LockClientHelper.Phase.CACHED);
        world.settle();
        assertThat(world.traced()).isEmpty();
    }

    @Test
    void aWaiterRecallsAnIdleCache() {
        c(0).acquire("a");
        world.settle();
        c(0).release("a");
        world.traced();
        c(1).acquire("a");
        world.settle();
        assertThat(world.traced()).isEqualTo("c1>m Acquire, m>c0 Recall, c0>m Accepted, m>c1 Granted");
        assertThat(c(1).believes("a")).isPositive();
        assertThat(c(0).phase("a")).isEqualTo(LockClientHelper.Phase.REST);
    }

    @Test
    void aHolderThatIsWantedReleasesToTheManager() {
        c(0).acquire("a");
        world.settle();
        c(1).acquire("a");
        world.settle();
        world.traced();
        assertThat(c(0).release("a")).isFalse();
        world.settle();
        assertThat(world.traced()).isEqualTo("c0>m Release, m>c1 Granted");
        assertThat(c(0).told()).isEqualTo("Granted, ReleaseDone");
        assertThat(c(1).believes("a")).isPositive();
    }

    @Test
    void aLockThatClientsTakeFromEachOtherIsNotCachedForAWhile() {
        c(0).acquire("a");
        c(1).acquire("a");
        c(1).acquire("a");
        world.settle();
        c(0).release("a");
        world.settle();
        world.traced();
        assertThat(c(1).release("a"))
                .as("nobody else waits, but somebody did just now")
                .isFalse();
        c(1).acquire("a");
        world.settle();
        assertThat(world.traced()).isEqualTo("c1>m Acquire, c1>m Release, m>c1 Granted");
        world.advance(100 * MS);
        c(1).release("a");
        world.settle();
        assertThat(world.traced()).isEqualTo("c1>m Acquire, c1>m Release, m>c1 Granted");
        assertThat(c(1).release("a")).as("nobody took it from it for a while").isTrue();
        assertThat(c(1).phase("a")).isEqualTo(LockClientHelper.Phase.CACHED);
    }

    @Test
    void anExpiredLeaseGoesToTheNextAndNeverSooner() {
        c(0).acquire("a");
        c(1).acquire("a");
        world.settle();
        c(0).pause(true);
        c(0).holdToMember(true);
        long heard = world.now();
        world.advance(TTL - 1);
        assertThat(c(1).believes("a")).isZero();
        assertThat(c(0).believes("a")).isZero();
        world.advance(1);
        assertThat(c(1).believes("a")).isPositive();
        assertThat(world.now() - heard).isEqualTo(TTL);
        c(0).holdToMember(false);
        c(0).pause(false);
        world.advance(MS);
        assertThat(c(0).told()).isEqualTo("Granted, Ended");
    }
}
