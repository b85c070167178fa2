// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.service.LockSettings;
import java.util.LongSummaryStatistics;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What it costs on the wire that a lock goes from one user to the next, and whose turn it is. */
class HandOverTest {
    private static final int WARM_UP = 2_000;
    private static final int EVENTS = 40_000;

    private static ContendedWorld world(boolean cache, int clients, int usersEach) {
        LockSettings settings =
                cache ? LockSettings.defaults() : LockSettings.defaults().withoutCache();
        ContendedWorld world = new ContendedWorld(settings);
        for (int i = 0; i < clients; i++) {
            ContendedWorld.Client client = world.client();
            for (int j = 0; j < usersEach; j++) {
                client.user("a");
            }
        }
        world.run(WARM_UP);
        world.count();
        world.run(EVENTS);
        return world;
    }

    /** To the holder who gave it back, that the member has heard it; to the next holder, that the lock is granted. */
    @ParameterizedTest
    @CsvSource({"true, 2, 4", "false, 2, 4", "true, 4, 4", "false, 4, 4"})
    void aHandOverAmongClientsIsOneFrameToTheMemberAndAtMostTwoBack(boolean cache, int clients, int usersEach) {
        ContendedWorld world = world(cache, clients, usersEach);
        assertThat(world.had()).isGreaterThan(EVENTS / 6);
        assertThat((double) world.toMember / world.had()).as("to the member").isLessThan(1.01);
        assertThat((double) world.toClients / world.had()).as("to clients").isLessThan(2.01);
        assertThat(world.messages("Place")).as("places told").isLessThanOrEqualTo(world.messages("Acquire") + 1);
        assertThat(world.messages("Recall")).as("recalls").isZero();
    }

    /** A holder learns once that it is wanted, and says nothing before it gives the lock back. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aHandOverBetweenLoneUsersOfTwoClientsCostsNoAnswerToARecall(boolean cache) {
        ContendedWorld world = world(cache, 2, 1);
        assertThat(world.had()).isGreaterThan(EVENTS / 8);
        assertThat(world.messages("Denied")).isZero();
        assertThat((double) world.toMember / world.had()).as("to the member").isLessThan(2.01);
        assertThat((double) world.toClients / world.had()).as("to clients").isLessThan(3.01);
        assertThat(world.messages("Recall"))
                .as("recalls")
                .isLessThanOrEqualTo(cache ? world.messages("Granted") + 1 : 0);
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 4, 16})
    void aHandOverWithinAClientIsOneFrameEachWayWithoutACacheAndNoneWithOne(int users) {
        ContendedWorld without = world(false, 1, users);
        assertThat((double) without.toMember / without.had()).isLessThan(1.01);
        assertThat((double) without.toClients / without.had()).isLessThan(1.01);
        assertThat(without.messages("Place")).isLessThanOrEqualTo(without.messages("Acquire"));

        ContendedWorld with = world(true, 1, users);
        assertThat(with.toMember + with.toClients).as("of heartbeats").isLessThan(EVENTS / 1000);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void sixteenUsersOfFourClientsHaveTheirTurnsEquallyOften(boolean cache) {
        ContendedWorld world = world(cache, 4, 4);
        LongSummaryStatistics turns =
                world.users.stream().mapToLong(user -> user.had).summaryStatistics();
        assertThat((double) turns.getMax() / turns.getMin()).isLessThan(1.05);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void nothingIsLeftOfUsersThatStop(boolean cache) {
        ContendedWorld world = world(cache, 3, 3);
        world.users.forEach(ContendedWorld.User::stop);
        world.rest();
        assertThat(world.member().residents()).isZero();
        assertThat(world.residentsOfClients()).isZero();
    }
}
