// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockGoal;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** F10: a cell that does not decide on a name says so and grants nothing, whatever list of members a client has. */
class WrongMemberTest {
    private static final long TTL = LeaseWorld.TTL;

    private final Set<String> owned = new HashSet<>(Set.of("ours"));
    private final LeaseWorld world = new LeaseWorld(
            new LeaseAlgorithm().memberMachines(owned::contains), () -> new LeaseAlgorithm().clientMachines());
    private final LeaseWorld.Client client = world.client();

    @Test
    void aRequestIsSentAwayAndTheNextOneOfThatClientToo() {
        client.acquire("theirs");
        client.acquire("theirs");
        client.acquire("ours");
        world.settle();
        assertThat(client.told()).isEqualTo("Misdirected, Granted, Misdirected");
        assertThat(client.believes("theirs")).isZero();
        assertThat(client.believes("ours")).isPositive();
        assertThat(world.goals).contains(LockGoal.WRONG_MEMBER);
        assertThat(world.member().machine(LeaseKeys.lock("theirs"))).isNull();
    }

    @Test
    void questionsAreSentAwayToo() {
        client.call("theirs", new LockCall.Show(1, TTL));
        client.call("theirs", new LockCall.Break(2, 3, "it hangs", TTL));
        world.settle();
        assertThat(client.told()).isEqualTo("Misdirected, Misdirected");
    }

    @Test
    void whatMovedToAnotherMemberIsNotReasserted() {
        client.acquire("ours");
        world.settle();
        long token = client.believes("ours");
        assertThat(token).isPositive();
        owned.clear();
        world.restart(true);
        world.advance(TTL);
        assertThat(client.told()).endsWith("Ended");
        assertThat(client.believes("ours")).isZero();
        assertThat(world.goals).contains(LockGoal.REASSERTION_REFUSED);
    }
}
