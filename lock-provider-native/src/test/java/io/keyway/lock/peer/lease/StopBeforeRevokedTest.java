// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.service.LockSettings;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A client whose user has something to stop, such as a command, gives a broken lock away only when that has stopped.
 */
class StopBeforeRevokedTest extends LeaseScenarios {
    private static final long MS = LeaseWorld.MS;
    private static final long TTL = LeaseWorld.TTL;

    private long token;

    StopBeforeRevokedTest() {
        super(new LeaseWorld(LockSettings.defaults().withStopBeforeRevoked()));
    }

    @BeforeEach
    void breakAHeldLockThatSomebodyWaitsFor() {
        for (int i = 0; i < 3; i++) {
            world.client();
        }
        c(0).acquire("a");
        world.settle();
        token = c(0).believes("a");
        c(1).acquire("a");
        world.settle();
        c(2).call("a", new LockCall.Break(1, token, "stuck", 20 * TTL));
        world.settle();
    }

    @Test
    void theHolderIsToldAtOnceAndTheNextOneServedWhenItHasStopped() {
        assertThat(c(0).told()).isEqualTo("Granted, Ended");
        assertThat(c(0).believes("a")).isZero();
        world.advance(5 * TTL);
        assertThat(c(1).believes("a")).isZero();
        assertThat(c(2).told()).isEmpty();

        stopped();

        assertThat(c(1).believes("a")).isGreaterThan(token);
        assertThat(answer()).isEqualTo(new LockMessage.Answer(LeaseWorld.key("a"), 1, true));
    }

    @Test
    void aHolderThatDiesBeforeItSaysSoKeepsTheLockUntilItsLeaseEnds() {
        c(0).pause(true);
        world.advance(TTL / 4);
        assertThat(c(1).believes("a")).isZero();

        world.advance(TTL);

        assertThat(c(1).believes("a")).isGreaterThan(token);
        assertThat(answer()).isEqualTo(new LockMessage.Answer(LeaseWorld.key("a"), 1, true));
    }

    @Test
    void aSecondBreakWaitsForTheSameStopAndWasNotTheOneThatEndedIt() {
        c(2).call("a", new LockCall.Break(2, token, "stuck, still", 20 * TTL));
        world.advance(MS);
        assertThat(c(2).told()).isEmpty();

        stopped();

        assertThat(answer()).isEqualTo(new LockMessage.Answer(LeaseWorld.key("a"), 2, false));
        assertThat(c(2).told()).isEqualTo("Told, Told");
    }

    @Test
    void whoAsksAgainAtTheHolderComesAfterTheOneWhoWaited() {
        c(0).acquire("a");
        world.settle();
        assertThat(c(0).believes("a")).isZero();

        stopped();

        assertThat(c(1).believes("a")).isGreaterThan(token);
        c(1).release("a");
        world.settle();
        assertThat(c(0).believes("a")).isGreaterThan(token + 1);
    }

    private void stopped() {
        c(0).call("a", new LockCall.Release(token));
        world.settle();
    }

    private LockMessage answer() {
        return c(2).last(LockNotice.Told.class).answer();
    }
}
