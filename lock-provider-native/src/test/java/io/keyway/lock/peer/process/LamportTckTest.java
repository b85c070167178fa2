// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.process;

import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.junit.LockTck;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;

/** The core of the kit on three members of Lamport's queue, in processes of their own; all of it in the soak run. */
class LamportTckTest extends LockTck {
    @TempDir
    private Path directory;

    private ThreeMembers members;

    @Override
    protected TckSubject subject() throws Exception {
        members = new ThreeMembers(directory, "lamport");
        return TckSubject.of(members.url());
    }

    @Override
    protected TckConfig config() {
        return TckConfig.of(Profile.SMOKE);
    }

    @AfterEach
    void endTheMembers() throws Exception {
        members.close();
    }
}
