// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.tck;

import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import io.keyway.lock.peer.MemoryWorld;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.junit.LockTck;
import org.junit.jupiter.api.AfterEach;

/** All of the kit on the lease service in one JVM, in virtual time. */
class MemTckTest extends LockTck {
    private static final String URL = "lock:native:mem://tck?clock=manual&maxTtl=15s";

    private LockClient keeper;

    @Override
    protected TckSubject subject() {
        keeper = Locks.open(URL);
        MemoryWorld world = keeper.unwrap(MemoryWorld.class);
        // A world crashes and is back in the same instant.
        return TckSubject.of(URL)
                .withAdvance(world::advance)
                .withServer(() -> {}, world::restart)
                .withThrowawayStore();
    }

    @Override
    protected TckConfig config() {
        return TckConfig.of(Profile.FULL);
    }

    @AfterEach
    void endTheWorld() {
        keeper.close();
    }
}
