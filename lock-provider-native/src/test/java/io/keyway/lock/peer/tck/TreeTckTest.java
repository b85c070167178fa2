// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.tck;

import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import io.keyway.lock.peer.MemoryWorld;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.junit.LockTck;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;

/** The core of the kit where every lock is one of a tree, in virtual time; all of it in {@link TreeTckSoakTest}. */
class TreeTckTest extends LockTck {
    private static final String URL = "lock:native:mem://trees?clock=manual&maxTtl=15s&tree=on";

    private static final String ABOVE = "a name is a path here, and a lock of it one of all below";

    private LockClient keeper;

    @Override
    protected TckSubject subject() {
        keeper = Locks.open(URL);
        MemoryWorld world = keeper.unwrap(MemoryWorld.class);
        return TckSubject.of(URL)
                .withAdvance(world::advance)
                .withServer(() -> {}, world::restart)
                .withThrowawayStore();
    }

    Profile profile() {
        return Profile.SMOKE;
    }

    @Override
    protected TckConfig config() {
        return TckConfig.of(profile())
                .withExcluded(Map.of(
                        "LK-103", ABOVE,
                        "LK-104", ABOVE,
                        "LK-1101", "the levels of a lock are listed, in modes of their own"));
    }

    @AfterEach
    void endTheWorld() {
        keeper.close();
    }
}
