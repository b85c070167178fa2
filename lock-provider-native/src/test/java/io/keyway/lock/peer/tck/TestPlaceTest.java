// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.testing.FloorsBesideUse;
import java.nio.file.Files;
import java.nio.file.Path;
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
    }
}
