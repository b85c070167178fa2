// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.local;

import io.keyway.lock.peer.member.HostElection;
import java.io.IOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Starts a process that hosts, where nobody does; not again while that is on its way. One thread. */
final class LocalLaunch {
    private static final long AGAIN_NANOS = Duration.ofSeconds(3).toNanos();

    private @Nullable ProcessHandle launched;
    private long launchedAt;

    /**
     * True if a host that this client started is on its way; starts one if nobody hosts.
     *
     * @throws IOException if no process can be started
     */
    boolean underWay(LocalConfig config) throws IOException {
        ProcessHandle started = launched;
        if (started != null && started.isAlive() && System.nanoTime() - launchedAt < AGAIN_NANOS) {
            return true;
        }
        if (!(config.directory().election().tryHost() instanceof HostElection.Hosting hostLock)) {
            return false;
        }
        hostLock.close();
        launchedAt = System.nanoTime();
        try {
            launched = HostMain.launch(config);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return true;
    }
}
