// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.simulator.Options.Profile;

/** The campaigns of the product's algorithms. */
final class Campaigns {
    private Campaigns() {}

    static Campaign of(Profile profile) {
        return switch (profile) {
            case SESSION -> new Campaign(profile, SessionModel::new, SessionModel::acts);
            case LEASE -> lease(LeaseModel.Kit.PRODUCT);
            case CLUSTER -> cluster(LeaseModel.Kit.PRODUCT);
            case COUNTER -> throw new IllegalArgumentException("the counter is an algorithm of the tests alone");
            case LAMPORT -> lamport(LamportMembers.kit());
            case BAKERY -> bakery(BakeryMembers.kit());
            case FAILOVER -> failover(FailoverMembers.kit());
            case SHARED, PERMITS -> modes(profile, LeaseModel.Kit.PRODUCT);
        };
    }

    static Campaign lamport(LeaseModel.Kit kit) {
        return new Campaign(Profile.LAMPORT, world -> new LeaseModel(world, kit), LeaseActs::of);
    }

    static Campaign bakery(LeaseModel.Kit kit) {
        return new Campaign(Profile.BAKERY, world -> new LeaseModel(world, kit), LeaseActs::of);
    }

    static Campaign failover(LeaseModel.Kit kit) {
        return new Campaign(Profile.FAILOVER, world -> new LeaseModel(world, kit), LeaseActs::of);
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
