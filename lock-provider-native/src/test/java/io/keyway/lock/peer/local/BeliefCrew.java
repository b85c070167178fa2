// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.local;

import io.keyway.lock.peer.member.HostElection;
import io.keyway.lock.peer.member.HostInfo;
import io.keyway.lock.tck.process.ChildJvm;
import io.keyway.lock.tck.process.Patience;
import io.keyway.lock.tck.process.Signals;
import io.keyway.lock.testing.WorkerPool;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/** Processes that take the locks of one directory, and the history that they write. */
final class BeliefCrew implements AutoCloseable {
    /** A machine that is busy may host nothing for a second, and leases lapse in three quarters of this. */
    static final Duration TTL = Patience.lease(Duration.ofSeconds(2));

    private final Path directory;
    private final WorkerPool crew;

    /** @param options of the URL, each with a leading ampersand */
    BeliefCrew(Path directory, String options) {
        this(directory, TTL, options);
    }

    BeliefCrew(Path directory, Duration ttl, String options) {
        this.directory = directory;
        String millis = ttl.toMillis() + "ms";
        String url = "lock:native:local://" + locks() + "?ttl=" + millis + "&maxTtl=" + millis + options;
        this.crew = new WorkerPool(directory, url, 2, true);
    }

    /** The directory in which they meet. */
    Path locks() {
        return directory.resolve("locks");
    }

    WorkerPool history() {
        return crew;
    }

    /** The worker that hosts now, if host.info names one. */
    Optional<ChildJvm> host() {
        long pid = new HostElection(locks()).info().map(HostInfo::pid).orElse(0L);
        return crew.workers().stream().filter(worker -> worker.pid() == pid).findFirst();
    }

    /** Waits for it. */
    ChildJvm awaitHost() {
        Signals.until("one of the workers hosts", () -> host().isPresent());
        return host().orElseThrow();
    }

    /** SIGKILL, and another one starts. */
    void replaceByForce(ChildJvm gone) throws InterruptedException {
        crew.kill(gone);
        crew.start();
    }

    @Override
    public void close() throws InterruptedException {
        crew.close();
    }
}
