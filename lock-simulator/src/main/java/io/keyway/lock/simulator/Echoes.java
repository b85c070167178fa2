// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

/** What came back to the clients of all members. */
final class Echoes implements LostDeadline.Echoes {
    private final SimWorld world;
    private final Authority[] authorities;

    /** @param authorities by the slot of the member; may still be filled */
    Echoes(SimWorld world, Authority[] authorities) {
        this.world = world;
        this.authorities = authorities;
    }

    private Wire wire(int member) {
        return authorities[world.slot(member)].wire();
    }

    @Override
    public long highest(Use use) {
        if (world.options().profile() != Options.Profile.FAILOVER) {
            return wire(use.member).highest(use);
        }
        // What one member granted others extend, once it has been asserted there.
        long highest = Long.MIN_VALUE;
        for (Authority authority : authorities) {
            highest = Math.max(highest, authority.wire().highest(use));
        }
        return highest;
    }

    @Override
    public long running(int client) {
        return world.node(client).running();
    }

    @Override
    public long lateness() {
        return wire(0).lateness();
    }
}
