// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.service.LockSettings;
import org.junit.jupiter.api.Test;

/** Each request that has to wait hears so, once, as soon as its client can know it. */
class PlacesTest extends LeaseScenarios {
    @Test
    void aWaiterIsToldItsPlaceWhenItIsQueuedAndNoOther() {
        c(0).acquireWithPlace("a");
        world.settle();
        long second = c(1).acquireWithPlace("a");
        world.settle();
        long third = c(2).acquireWithPlace("a");
        world.settle();
        c(0).release("a");
        world.settle();
        c(1).release("a");
        world.settle();
        assertThat(c(2).believes("a")).isPositive();
        assertThat(c(0).places()).isEmpty();
        assertThat(c(1).places()).containsExactly(second + ":0");
        assertThat(c(2).places()).containsExactly(third + ":1");
    }

    @Test
    void whoAskedBesideAnotherOfItsClientHearsThatItWaitsWhenThatOneIsGranted() {
        c(0).acquireWithPlace("a");
        long second = c(0).acquireWithPlace("a");
        world.settle();
        assertThat(c(0).believes("a")).isPositive();
        assertThat(c(0).places()).containsExactly(second + ":-1");
        assertThat(world.traced()).isEqualTo("c0>m Acquire, m>c0 Granted");
    }

    @Test
    void whoAskedBesideAnotherForACachedLockHearsThatItWaitsWhenThatOneHasIt() {
        c(0).acquireWithPlace("a");
        world.settle();
        assertThat(c(0).release("a")).isTrue();
        c(0).holdToClient(true);
        world.advance(LeaseWorld.TTL * 5 / 8 + LeaseWorld.TTL / 16);
        c(0).acquireWithPlace("a");
        long second = c(0).acquireWithPlace("a");
        assertThat(c(0).believes("a"))
                .as("too little of the lease is confirmed")
                .isZero();
        assertThat(c(0).places()).isEmpty();
        c(0).holdToClient(false);
        world.settle();
        assertThat(c(0).believes("a")).isPositive();
        assertThat(c(0).places()).containsExactly(second + ":-1");
    }

    @Test
    void whoComesWhenTheNextOfItsClientHasAskedHearsThatItWaitsByThatRequestsReceipt() {
        c(0).acquireWithPlace("a");
        world.settle();
        c(1).acquireWithPlace("a");
        world.settle();
        long next = c(0).acquireWithPlace("a");
        assertThat(c(0).places()).as("behind one of its own client").containsExactly(next + ":-1");
        world.traced();
        c(0).release("a");
        long last = c(0).acquireWithPlace("a");
        assertThat(c(0).places()).as("nobody has answered").containsExactly(next + ":-1");
        world.settle();
        assertThat(c(0).places()).containsExactly(next + ":-1", last + ":-1");
        assertThat(world.traced()).isEqualTo("c0>m Acquire, c0>m Release, m>c1 Granted");
    }

    @Test
    void whoComesWhenTheMemberHasTheRequestOfTheFirstHearsItAtOnce() {
        c(0).acquireWithPlace("a");
        world.settle();
        c(1).acquireWithPlace("a");
        c(0).acquireWithPlace("a");
        world.settle();
        c(0).release("a");
        world.settle();
        c(0).notices.clear();
        long last = c(0).acquireWithPlace("a");
        world.settle();
        assertThat(c(0).places()).containsExactly(last + ":-1");
    }

    @Test
    void anotherSessionTellsThemAnew() {
        c(0).acquireWithPlace("a");
        world.settle();
        long second = c(1).acquireWithPlace("a");
        long third = c(1).acquireWithPlace("a");
        world.settle();
        world.restart(true);
        world.settle();
        assertThat(c(1).places()).containsExactlyInAnyOrder(second + ":0", third + ":-1", second + ":0", third + ":-1");
    }

    @Test
    void withoutACacheTheNextOfAClientIsInTheQueueBeforeTheLockMovesOn() {
        world = new LeaseWorld(LockSettings.defaults().withoutCache());
        world.client();
        world.client();
        c(0).acquireWithPlace("a");
        world.settle();
        c(0).acquireWithPlace("a");
        world.advance(LeaseWorld.MS);
        c(1).acquireWithPlace("a");
        world.settle();
        world.traced();
        c(0).release("a");
        world.settle();
        assertThat(world.traced()).isEqualTo("c0>m Acquire, c0>m Release, m>c0 Granted");
        assertThat(c(1).believes("a")).isZero();
    }
}
