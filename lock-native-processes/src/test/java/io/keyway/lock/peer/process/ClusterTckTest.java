// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.process;

import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.junit.LockTck;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/** The kit on three members in processes of their own, with every fault of their links. */
@Tag("soak")
class ClusterTckTest extends LockTck {
    @TempDir
    private Path directory;

    private ThreeMembers members;

    @Override
    protected TckSubject subject() throws Exception {
        members = new ThreeMembers(directory);
        return TckSubject.of(members.url());
    }

    @AfterEach
    void endTheMembers() throws Exception {
        members.close();
    }
}
