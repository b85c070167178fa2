// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.peer.os.SmallDisk;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a member of a cluster needs of a disk that is full. */
@Timeout(60)
class FullDiskTest {
    private static final Duration MAX_TTL = Duration.ofSeconds(1);

    @TempDir
    private Path directory;

    @Test
    void aStartOnAFullDiskIsRefusedWithTheReasonAndGoesOnceThereIsRoom() throws Exception {
        try (SmallDisk disk = SmallDisk.mount(directory.resolve("disk"));
                TestMembers members = new TestMembers(directory, "a")) {
            Path data = disk.path().resolve("a");
            members.start("a", "a", MAX_TTL, true, data, Set.of());
            members.end("a");
            disk.fill();
            assertThatThrownBy(() -> members.start("a", "a", MAX_TTL, false, data, Set.of()))
                    .isInstanceOf(LockUnavailableException.class)
                    .hasMessage("Cannot use the lock directory " + data + ": No space left on device");
            Files.delete(disk.path().resolve("filler"));
            ClusterMember again = members.start("a", "a", MAX_TTL, false, data, Set.of());
            await().until(() -> !again.quarantined());
            assertThat(members.hasEnded("a")).isFalse();
            members.end("a");
        }
    }
}
