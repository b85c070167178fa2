// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.Locks;
import io.keyway.lock.peer.algorithms.Algorithms;
import io.keyway.lock.peer.os.SmallDisk;
import io.keyway.lock.peer.service.Algorithm;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a member of a cluster needs of a disk that is full. */
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

    /** Elections, tickets and epochs are recorded while nothing more fits. */
    @ParameterizedTest
    @ValueSource(strings = {"lamport", "bakery", "failover"})
    void aMemberThatRunsDoesNotNoticeThatItsDiskIsFull(String name) throws Exception {
        Algorithm algorithm = Algorithms.named(name).orElseThrow();
        try (SmallDisk disk = SmallDisk.mount(directory.resolve("disk"));
                TestMembers members = new TestMembers(directory, algorithm, "a")) {
            ClusterMember member =
                    members.start("a", "a", MAX_TTL, true, disk.path().resolve("a"), Set.of());
            await().until(() -> !member.quarantined());
            disk.fill();
            try (LockClient client = Locks.open("lock:native:" + name + "://" + members.id("a") + "/keyway?"
                    + "maxTtl=1s&ttl=1s&requestTimeout=30s")) {
                for (int i = 0; i < 20; i++) {
                    Lease lease = client.lock("job" + i).acquire();
                    assertThat(lease.isHeld()).isTrue();
                    lease.close();
                }
            }
            assertThat(members.hasEnded("a")).isFalse();
        }
    }
}
