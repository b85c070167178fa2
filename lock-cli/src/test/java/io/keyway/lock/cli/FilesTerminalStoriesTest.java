// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import java.nio.file.Path;
import org.junit.jupiter.api.Tag;

/** The stories with the plainest provider: nothing but leases, so that a killed holder costs its term. */
@Tag("soak") // more than half a minute
class FilesTerminalStoriesTest extends TerminalStories {
    @Override
    String url(Path place) {
        return "lock:files://" + place + "?ttl=3s";
    }
}
