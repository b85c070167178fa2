// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.junit.LockTck;
import java.nio.file.Path;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/** The kit on one server whose tokens are above those of another store. */
@Tag("soak")
class LiftedTckTest extends LockTck {
    @TempDir
    private Path directory;

    @AutoClose
    private OneServer server;

    @Override
    protected TckSubject subject() throws Exception {
        server = new OneServer(directory);
        return TckSubject.of(server.url() + "?tokenFloor=471234567890123457");
    }
}
