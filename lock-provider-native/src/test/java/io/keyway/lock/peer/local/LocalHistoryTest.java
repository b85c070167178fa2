// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.local;

import io.keyway.lock.peer.member.HostElection;
import io.keyway.lock.peer.member.HostInfo;
import io.keyway.lock.peer.member.LocalDirectory;
import io.keyway.lock.tck.process.ChildJvm;
import io.keyway.lock.testing.Nemesis;
import io.keyway.lock.testing.Traces;
import io.keyway.lock.testing.WorkerPool;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random histories of six processes of one machine, of which one serves the others, while files of their directory are
 * deleted, processes are killed, stopped and ended, and above all the one that serves: no rule is broken, and everybody
 * goes on after the heal. {@code -Dkeyway.seed} and {@code -Dkeyway.histories} choose others.
 */
@Tag("soak")
class LocalHistoryTest {
    private static final int WORKERS = 6;
    private static final int NAMES = 6;
    private static final Duration MAX_TTL = BeliefCrew.TTL;

    @TempDir
    private Path directory;

    @Test
    @SuppressWarnings("SystemOut") // figures for whoever runs the soak
    void manyHistories() throws Exception {
        int count = Integer.getInteger("keyway.histories", 5);
        long seed = Long.getLong("keyway.seed", 1);
        Path locks = directory.resolve("locks");
        Traces traces = new Traces(directory.resolve("traces"), "LocalHistoryTest");
        String url = "lock:native:local://" + locks + "?ttl=" + BeliefCrew.TTL.toMillis() + "ms&maxTtl="
                + MAX_TTL.toMillis() + "ms&trace=" + traces.directory();
        WorkerPool crew = new WorkerPool(directory, url, NAMES, true);
        try (Nemesis nemesis = new Nemesis(
                crew,
                new Deletions(locks, traces, crew),
                WORKERS,
                NAMES,
                BeliefCrew.TTL.multipliedBy(3).dividedBy(2))) {
            System.out.println(nemesis.histories(count, seed));
        }
    }

    private static final class Deletions implements Nemesis.Servers {
        private static final List<String> FILES = List.of(
                HostElection.LOCK, HostElection.INFO, "host.sock", LocalDirectory.CLIENTS, LocalDirectory.MEMBER);

        /** A host that trusts no proof waits for the longest ttl, and so may the one after it. */
        private static final Duration GO_ON_WITHIN = MAX_TTL.multipliedBy(2).plusSeconds(8);

        private final Path locks;
        private final Traces traces;
        private final WorkerPool crew;
        private final Set<ChildJvm> stopped = new HashSet<>();

        Deletions(Path locks, Traces traces, WorkerPool crew) {
            this.locks = locks;
            this.traces = traces;
            this.crew = crew;
        }

        @Override
        public void begin() {
            traces.next();
        }

        @Override
        public String logs() {
            return traces.keep();
        }

        @Override
        public String fault(SplittableRandom random, List<ChildJvm> workers) throws IOException, InterruptedException {
            int kind = random.nextInt(8);
            if (kind < FILES.size()) {
                String file = FILES.get(kind);
                return Files.deleteIfExists(locks.resolve(file)) ? file + " deleted" : "";
            }
            ChildJvm host = host(workers);
            if (host == null || stopped.contains(host)) {
                return "";
            }
            if (kind == FILES.size()) {
                crew.kill(host);
                return "the host killed";
            }
            crew.stop(host);
            stopped.add(host);
            return "the host stopped";
        }

        private ChildJvm host(List<ChildJvm> workers) {
            long pid = new HostElection(locks).info().map(HostInfo::pid).orElse(0L);
            return workers.stream()
                    .filter(worker -> worker.pid() == pid && crew.workers().contains(worker))
                    .findFirst()
                    .orElse(null);
        }

        @Override
        public void heal(List<ChildJvm> workers) {
            stopped.clear();
        }

        @Override
        public Duration goOnWithin() {
            return GO_ON_WITHIN;
        }
    }
}
