// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.ClientClosedException;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Locks;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What becomes of a place for tests at the end of a JVM. */
class TestPlaceTest {
    @TempDir
    private Path directory;

    /** The threads of a check run on beside the hook of the JVM: they would make again what it has removed. */
    @Test
    void noClientOfACheckWritesAfterTheRemoval() throws Exception {
        LockUrl subject = LockUrl.parse("lock:row-mutant:none://" + directory.resolve("rows"));
        LockUrl where = LockUrl.parse("lock:row-mutant:none://" + directory.resolve("rows-tck-1"));
        TestPlace place =
                new TestPlace(subject, Optional.of(where), false, TestPlaceTest.class.getClassLoader(), left -> {});
        place.changes(where);
        try (LockClient client = place.open(() -> Locks.open(where))) {
            client.lock("before").acquire();
            place.removeAtExit(where);
            assertThat(directory.resolve("rows-tck-1")).doesNotExist();
            assertThatThrownBy(() -> client.lock("after").acquire()).isInstanceOf(ClientClosedException.class);
            assertThatThrownBy(() -> place.open(() -> Locks.open(where)))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("this JVM ends");
            place.removeLeft(Duration.ofMinutes(1)); // it would take locks there, to see whether the place is apart
            assertThat(directory.resolve("rows-tck-1")).doesNotExist();
        } finally {
            place.cleared();
        }
    }
}
