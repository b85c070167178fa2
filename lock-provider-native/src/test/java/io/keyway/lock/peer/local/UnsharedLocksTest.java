// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.local;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.testing.WorkerPool;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** That a history finds what it looks for: locks in memory, used as if they excluded other processes. */
class UnsharedLocksTest {
    @TempDir
    Path directory;

    @Test
    void locksOfOneProcessAloneDoNotExcludeOthers() throws Exception {
        try (WorkerPool crew = new WorkerPool(directory, "lock:native:mem://own?ttl=400ms", 1, false)) {
            crew.start();
            crew.start();
            for (int i = 0; i < 10; i++) {
                crew.awaitProgress("of both");
            }
            assertThatThrownBy(() -> crew.endAndCheck("unshared", 20))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("R1 authority exclusion: two had name-0 at once")
                    .hasMessageContaining("R2 belief exclusion: two had name-0 at once")
                    // One token twice, or a lower one after a higher one: whose world began with which is chance.
                    .hasMessageContaining("R5 tokens: ");
        }
    }

    @Test
    @Tag("soak")
    void norDoTheirTransactions() throws Exception {
        try (WorkerPool crew = new WorkerPool(directory, "lock:native:mem://own?tree=on&ttl=400ms", 2, false)) {
            crew.start(WorkerPool.TRANSACTIONS);
            crew.start(WorkerPool.TRANSACTIONS);
            for (int i = 0; i < 10; i++) {
                crew.awaitProgress("of both");
            }
            crew.tour();
            assertThatThrownBy(() -> crew.endAndCheck("unshared", 20))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("R1 authority exclusion: two had name-")
                    .hasMessageContaining("R2 belief exclusion: two had name-")
                    .hasMessageContaining(" by transaction ");
        }
    }
}
