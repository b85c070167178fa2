// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import io.keyway.lock.peer.lease.LeaseAlgorithm;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.junit.LockTck;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/** The core of the kit where every lock is one of a tree, on three members. */
@Tag("soak") // in virtual time: TreeTckTest
class AgentTckTest extends LockTck {
    @TempDir
    private Path directory;

    private TestMembers members;

    @Override
    protected TckSubject subject() throws Exception {
        members = new TestMembers(directory, LeaseAlgorithm.ofAgents(), "a", "b", "c");
        members.startAll("abc", Duration.ofSeconds(5), true);
        return TckSubject.of("lock:native:agent://" + String.join(",", members.ids("abc")) + "/keyway?maxTtl=5s");
    }

    @Override
    protected TckConfig config() {
        String above = "a name is a path here, and a lock of it one of all below";
        return TckConfig.of(Profile.SMOKE)
                .withExcluded(Map.of(
                        "LK-103", above,
                        "LK-104", above,
                        "LK-1101", "the levels of a lock are listed, in modes of their own"));
    }

    @AfterEach
    void endTheMembers() {
        members.close();
    }
}
