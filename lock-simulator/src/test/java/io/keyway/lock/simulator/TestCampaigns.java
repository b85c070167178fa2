// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.counter.CounterAlgorithm;
import io.keyway.lock.simulator.Options.Profile;

/** The campaigns that a seed can be replayed in: the product's, and that of the algorithm of the tests. */
final class TestCampaigns {
    private TestCampaigns() {}

    static Campaign of(Profile profile) {
        return profile == Profile.COUNTER ? counter(new CounterAlgorithm()) : Campaigns.of(profile);
    }

    static Campaign counter(CounterAlgorithm algorithm) {
        return new Campaign(Profile.COUNTER, world -> new CounterModel(world, algorithm), CounterModel::acts);
    }
}
