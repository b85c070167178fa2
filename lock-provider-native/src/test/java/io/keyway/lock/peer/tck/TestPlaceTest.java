// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LockUrl;
import io.keyway.lock.peer.NativeLockProvider;
import io.keyway.lock.testing.FloorsBesideUse;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The kit on locks of this machine that applications use. */
class TestPlaceTest {
    @Test
    void theKitLeavesADirectoryAsItFoundIt(@TempDir Path parent) throws Exception {
        String url = "lock:native:local://" + parent.resolve("locks");
        assertThat(FloorsBesideUse.tokensUsed(url, url + "?tokenFloor=100")).isBetween(1L, 1L << 43);
        try (Stream<Path> all = Files.list(parent)) {
            assertThat(all).containsExactly(parent.resolve("locks"));
        }
        assertThat(places(parent.resolve("locks"))).isEmpty();
    }

    /** It is still there when its last client has gone. */
    @Test
    void aHostThatIsAProcessOfItsOwnWritesNothingAgain(@TempDir Path parent) throws Exception {
        Path locks = parent.resolve("locks");
        String url = "lock:native:local://" + locks + "?host=process";
        assertThat(FloorsBesideUse.tokensUsed(url, url + "&tokenFloor=100")).isBetween(1L, 1L << 43);
        assertThat(places(locks)).isEmpty();
    }

    /** The user may write to the directory, and perhaps not beside it. */
    @Test
    void thePlaceIsWithinTheDirectory(@TempDir Path parent) {
        LockUrl url = LockUrl.parse("lock:native:local://" + parent);
        Optional<LockUrl> place = new NativeLockProvider().testUrl(url, "1234567890abc");
        assertThat(place.flatMap(LockUrl::path)).contains(parent + "/tck-1234567890abc");
    }

    private static List<String> places(Path locks) throws IOException {
        try (Stream<Path> all = Files.list(locks)) {
            return all.map(path -> path.getFileName().toString())
                    .filter(name -> name.startsWith("tck-"))
                    .toList();
        }
    }
}
