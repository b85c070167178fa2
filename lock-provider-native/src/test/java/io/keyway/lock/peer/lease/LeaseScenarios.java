// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;

/** What tests of one member and some clients share: whatever happens, nobody may have believed too long. */
abstract class LeaseScenarios {
    LeaseWorld world;

    LeaseScenarios(LeaseWorld world) {
        this.world = world;
    }

    /** With three clients. */
    LeaseScenarios() {
        this(LeaseWorld.of(3));
    }

    LeaseWorld.Client c(int i) {
        return world.client(i);
    }

    @AfterEach
    void nothingUnsafeHappened() {
        assertThat(world.violations).isEmpty();
    }
}
