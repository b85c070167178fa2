// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.junit.LockTck;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/**
 * The check that leaves a client an eighth of the ttl to dial again, with a ttl of which that is longer than the second that
 * ZooKeeper's client may wait before it does.
 */
@Tag("soak")
class SlowRedialTckTest extends LockTck {
    private static final String CHECK = "LK-508/a-renewal-whose-reply-was-lost-is-repeated";

    /** For runs with the usual ttl of about a second. */
    static final Map<String, String> EXCLUDED =
            Map.of(CHECK, "ZooKeeper's client waits for up to a second before it dials again; see SlowRedialTckTest");

    @TempDir
    private Path directory;

    private OneServer server;

    @Override
    protected TckSubject subject() throws Exception {
        server = new OneServer(directory);
        return TckSubject.of(server.url());
    }

    @Override
    protected TckConfig config() {
        return TckConfig.of(Profile.FULL).withOnly(List.of(CHECK)).withTimeFactor(8);
    }

    @AfterEach
    void endTheServer() throws IOException {
        server.close();
    }
}
