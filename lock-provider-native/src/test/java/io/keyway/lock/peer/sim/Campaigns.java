// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.sim;

import io.keyway.lock.peer.counter.CounterAlgorithm;
import io.keyway.lock.peer.lamport.UnsafeLamport;
import io.keyway.lock.peer.sim.Options.Profile;

/** The campaigns that a seed can be replayed in. */
final class Campaigns {
    private Campaigns() {}

    static Campaign of(Profile profile) {
        return switch (profile) {
            case SESSION -> new Campaign(profile, SessionModel::new, SessionModel::acts);
            case LEASE -> lease(LeaseModel.Kit.PRODUCT);
            case CLUSTER -> cluster(LeaseModel.Kit.PRODUCT);
            case COUNTER -> counter(new CounterAlgorithm());
            case LAMPORT -> lamport(UnsafeLamport.NONE);
            case SHARED, PERMITS -> modes(profile, LeaseModel.Kit.PRODUCT);
        };
    }

    static Campaign counter(CounterAlgorithm algorithm) {
        return new Campaign(Profile.COUNTER, world -> new CounterModel(world, algorithm), CounterModel::acts);
    }

    static Campaign lamport(UnsafeLamport variant) {
        return new Campaign(
                Profile.LAMPORT, world -> new LeaseModel(world, LamportMembers.kit(), variant), LeaseActs::of);
    }

    static Campaign cluster(LeaseModel.Kit kit) {
        return new Campaign(Profile.CLUSTER, world -> new LeaseModel(world, kit), LeaseActs::of);
    }

    /** Of all that is not held alone. */
    static Campaign modes(Profile profile, LeaseModel.Kit kit) {
        return new Campaign(profile, world -> new LeaseModel(world, kit), LeaseActs::of);
    }

    static Campaign lease(LeaseModel.Kit kit) {
        return new Campaign(Profile.LEASE, world -> new LeaseModel(world, kit), LeaseActs::of);
    }
}
