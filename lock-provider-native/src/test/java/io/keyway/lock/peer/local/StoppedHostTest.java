// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.local;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.LockClient;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.Locks;
import io.keyway.lock.peer.member.LocalDirectory;
import io.keyway.lock.peer.os.SystemFacts;
import io.keyway.lock.tck.process.Signals;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A host that is stopped, as by a debugger: who waits for it learns which process that is. */
class StoppedHostTest {
    @TempDir
    Path directory;

    @Test
    @Tag("soak")
    void isNamedToWhoeverWaits() throws Exception {
        String url = "lock:native:local://" + directory + "?host=process&closeTimeout=1s";
        try (LockClient first = Locks.open(url)) {
            first.lock("x").acquire().close();
            LocalDirectory place = LocalDirectory.open(directory, new SystemFacts());
            long host = place.election().info().orElseThrow().pid();
            Signals.stop(host);
            try (LockClient client = Locks.open(url)) {
                assertThatThrownBy(() -> client.lock("x").tryAcquire(Duration.ofSeconds(5)))
                        .isInstanceOf(LockUnavailableException.class)
                        .hasMessageContaining("(host: process " + host + "): no answer in time");
            } finally {
                Signals.send("KILL", host);
            }
        }
    }
}
