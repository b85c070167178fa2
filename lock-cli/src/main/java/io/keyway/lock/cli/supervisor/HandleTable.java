// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli.supervisor;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The process table of a system without {@code /proc}: parents and children only, no environments. */
final class HandleTable implements ProcessTable {
    @Override
    public List<ProcessEntry> all() {
        List<ProcessEntry> entries = new ArrayList<>();
        ProcessHandle.allProcesses().forEach(handle -> entries.add(entry(handle)));
        return entries;
    }

    @Override
    public @Nullable ProcessEntry find(long pid) {
        Optional<ProcessHandle> handle = ProcessHandle.of(pid);
        return handle.isPresent() && handle.get().isAlive() ? entry(handle.get()) : null;
    }

    @Override
    public byte[] environment(long pid) {
        return new byte[0];
    }

    private static ProcessEntry entry(ProcessHandle handle) {
        ProcessHandle.Info info = handle.info();
        return new ProcessEntry(
                handle.pid(),
                handle.parent().map(ProcessHandle::pid).orElse(0L),
                info.startInstant().map(Instant::toEpochMilli).orElse(0L),
                info.command().orElse("?"));
    }
}
