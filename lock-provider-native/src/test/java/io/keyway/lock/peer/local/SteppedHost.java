// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.local;

import io.keyway.lock.peer.algorithms.Algorithms;
import io.keyway.lock.peer.member.HostElection;
import io.keyway.lock.peer.os.MachineFacts;
import io.keyway.lock.peer.os.SystemFacts;
import io.keyway.lock.tck.process.ChildJvm;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A process that hosts the processes of a {@link BeliefCrew}, with a wall clock that is off by so many milliseconds.
 * Arguments: directory, the longest ttl in milliseconds, and those. Says {@code hosting}; ends in order when its
 * standard input does.
 */
final class SteppedHost {
    private SteppedHost() {}

    static ChildJvm start(Path directory, Duration step) throws IOException {
        // As the crew has it, which a busy machine stretches.
        String ttl = Long.toString(BeliefCrew.TTL.toMillis());
        return ChildJvm.start(SteppedHost.class, directory.toString(), ttl, Long.toString(step.toMillis()));
    }

    public static void main(String[] args) throws IOException {
        LocalConfig place = LocalConfig.of(
                Path.of(args[0]),
                Duration.ofMillis(Long.parseLong(args[1])),
                Algorithms.standard(),
                Duration.ofSeconds(5),
                new Stepped(Long.parseLong(args[2])));
        HostElection.Hosting hosting =
                (HostElection.Hosting) place.directory().election().tryHost();
        try (LocalHost host = LocalHost.start(place, hosting, () -> {})) {
            System.out.println("hosting");
            if (System.in.read() < 0) {
                return;
            }
        }
    }

    private record Stepped(MachineFacts real, long by) implements MachineFacts {
        Stepped(long by) {
            this(new SystemFacts(), by);
        }

        @Override
        public Optional<String> bootId() {
            return real.bootId();
        }

        @Override
        public Optional<String> timeNamespace() {
            return real.timeNamespace();
        }

        @Override
        public OptionalLong bootNanos() {
            return real.bootNanos();
        }

        @Override
        public long nanoTime() {
            return real.nanoTime();
        }

        @Override
        public long wallMillis() {
            return real.wallMillis() + by;
        }

        /** The file system's clock is stepped too. */
        @Override
        public Optional<FileFacts> file(Path path) throws IOException {
            return real.file(path).map(file -> new FileFacts(file.inode(), file.changedMillis() + by));
        }

        @Override
        public String fileSystemType(Path path) throws IOException {
            return real.fileSystemType(path);
        }

        @Override
        public void forceName(Path path) throws IOException {
            real.forceName(path);
        }
    }
}
