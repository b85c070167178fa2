// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.junit.LockTck;
import java.nio.file.Path;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.io.TempDir;

/** The kit on one server. */
class ZooKeeperTckTest extends LockTck {
    @TempDir
    private Path directory;

    @AutoClose
    private OneServer server;

    @Override
    protected TckSubject subject() throws Exception {
        server = new OneServer(directory);
        return TckSubject.of(server.url());
    }
}
