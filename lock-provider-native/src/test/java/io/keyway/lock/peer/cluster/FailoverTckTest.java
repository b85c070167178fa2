// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import io.keyway.lock.peer.lease.FailoverAlgorithm;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.junit.LockTck;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;

/** The core of the kit on three members of which one leads. */
class FailoverTckTest extends LockTck {
    @TempDir
    private Path directory;

    private TestMembers members;

    /** How many groups of names there are. */
    int shards() {
        return 1;
    }

    @Override
    protected TckSubject subject() throws Exception {
        members = new TestMembers(directory, new FailoverAlgorithm(), "a", "b", "c");
        members.shards(shards());
        members.startAll("abc", Duration.ofSeconds(5), true);
        return TckSubject.of("lock:native:failover://" + String.join(",", members.ids("abc")) + "/keyway?maxTtl=5s");
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
