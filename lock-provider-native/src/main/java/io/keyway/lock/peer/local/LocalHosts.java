// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.local;

import io.keyway.lock.peer.member.HostElection;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The hosts of this JVM (and class loader): one a directory at most, from the first client that has to host until the
 * last client of that directory has closed.
 */
final class LocalHosts {
    private static final class Entry {
        int clients;

        @Nullable
        LocalHost host;
    }

    static final LocalHosts OF_THIS_JVM = new LocalHosts();

    private final ReentrantLock lock = new ReentrantLock();
    private final Map<Path, Entry> entries = new HashMap<>();

    void join(Path directory) {
        lock.lock();
        try {
            entries.computeIfAbsent(directory, fresh -> new Entry()).clients++;
        } finally {
            lock.unlock();
        }
    }

    /** A client has closed; the last one ends the host in order. */
    void leave(Path directory) {
        LocalHost ending = null;
        lock.lock();
        try {
            Entry entry = entries.get(directory);
            if (entry != null && --entry.clients == 0) {
                ending = entry.host;
                entries.remove(directory);
            }
        } finally {
            lock.unlock();
        }
        if (ending != null) {
            ending.close();
        }
    }

    /**
     * Hosts, if nobody does.
     *
     * @return false if another process has host.lock, or this one under another class loader
     * @throws IOException if this process could host, but the files do not let it
     */
    boolean tryHost(LocalConfig config) throws IOException {
        Path directory = config.directory().path();
        lock.lock();
        try {
            Entry entry = entries.get(directory);
            if (entry == null || entry.host != null) {
                return entry != null;
            }
            if (!config.stands()) {
                throw new IOException("clients.lock was removed or replaced; try again");
            }
            if (config.directory().election().tryHost() instanceof HostElection.Hosting hostLock) {
                entry.host = LocalHost.start(config, hostLock, () -> forget(directory));
                return true;
            }
            return false;
        } finally {
            lock.unlock();
        }
    }

    private void forget(Path directory) {
        lock.lock();
        try {
            Entry entry = entries.get(directory);
            if (entry != null) {
                entry.host = null;
            }
        } finally {
            lock.unlock();
        }
    }
}
