// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.tck;

import io.keyway.lock.tck.Profile;
import org.junit.jupiter.api.Tag;

/** All of the kit where every lock is one of a tree, in virtual time. */
@Tag("soak")
class TreeTckSoakTest extends TreeTckTest {
    @Override
    Profile profile() {
        return Profile.FULL;
    }
}
