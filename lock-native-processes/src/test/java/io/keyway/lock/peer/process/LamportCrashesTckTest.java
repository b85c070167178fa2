// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.process;

import java.nio.file.Path;
import org.junit.jupiter.api.Tag;

/** All of the kit on three members of Lamport's queue that are killed, started again, stopped and continued too. */
@Tag("soak")
class LamportCrashesTckTest extends ClusterCrashesTckTest {
    @Override
    ThreeMembers start(Path where) throws Exception {
        return new ThreeMembers(where, "lamport");
    }
}
