// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.spi.TimeSource;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** What happened in a {@link StoreWorld}, for the message of a failure. */
final class WorldStory {

    private final long seed;
    private final boolean told;
    private final TimeSource time;
    private final List<String> lines = new ArrayList<>();

    /** {@code told}: keeps the lines, which costs most of the time. */
    WorldStory(long seed, boolean told, TimeSource time) {
        this.seed = seed;
        this.told = told;
        this.time = time;
    }

    void tell(Supplier<String> line) {
        if (told) {
            lines.add(millis() + " " + line.get());
        }
    }

    AssertionError failure(String what) {
        return new AssertionError("seed " + seed + " at " + millis() + ": " + what + "\n" + String.join("\n", lines));
    }

    private long millis() {
        return time.nanoTime() / WorldTime.MS;
    }
}
