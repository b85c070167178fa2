// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import io.keyway.lock.peer.lamport.LamportAlgorithm;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.junit.LockTck;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/** The core of the kit on three members of Lamport's queue; all of it, on three processes, in the soak run. */
@Tag("soak")
class LamportTckTest extends LockTck {
    @TempDir
    private Path directory;

    private TestMembers members;

    @Override
    protected TckSubject subject() throws Exception {
        members = new TestMembers(directory, new LamportAlgorithm(), "a", "b", "c");
        members.startAll("abc", Duration.ofSeconds(5), true);
        return TckSubject.of("lock:native:lamport://" + String.join(",", members.ids("abc")) + "/keyway?maxTtl=5s");
    }

    @Override
    protected TckConfig config() {
        return TckConfig.of(Profile.SMOKE);
    }

    @AfterEach
    void endTheMembers() {
        members.close();
    }
}
