// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli.supervisor;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** What the operating system tells about its processes. Zombies, which can do no harm, are left out. */
interface ProcessTable {

    List<ProcessEntry> all();

    /** The entry of {@code pid}, or null when there is no such process that runs. */
    @Nullable
    ProcessEntry find(long pid);

    /**
     * The environment that the process was started with, {@code NAME=value} ended by NUL; empty when it cannot be read.
     */
    byte[] environment(long pid);
}
