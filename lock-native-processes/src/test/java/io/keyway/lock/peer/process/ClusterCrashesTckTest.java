// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.process;

import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.junit.LockTck;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/** All of the kit on three members that are killed, started again, stopped and continued too. */
@Tag("soak")
class ClusterCrashesTckTest extends LockTck {
    @TempDir
    private Path directory;

    private ThreeMembers members;

    ThreeMembers start(Path where) throws Exception {
        return new ThreeMembers(where);
    }

    @Override
    protected TckSubject subject() throws Exception {
        members = start(directory);
        return TckSubject.of(members.url())
                .withServer(members::kill, members::restart)
                .withPause(members::pause, members::resume);
    }

    @Override
    protected TckConfig config() {
        return TckConfig.of(Profile.FULL);
    }

    @AfterEach
    void endTheMembers() throws Exception {
        members.close();
    }
}
