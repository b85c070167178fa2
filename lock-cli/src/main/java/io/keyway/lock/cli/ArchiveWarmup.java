// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * Loads what keyway, its supervisor and a host load, for the class archive that the launcher makes once per build. What
 * it prints is thrown away by the launcher, and a failure costs no more than a slower start.
 */
final class ArchiveWarmup {
    /** What other processes than this one load. */
    private static final List<String> ELSEWHERE = List.of(
            "io.keyway.lock.cli.Main",
            "io.keyway.lock.cli.supervisor.Supervisor",
            "io.keyway.lock.cli.supervisor.Inbox",
            "io.keyway.lock.cli.supervisor.LeaseWatch",
            "io.keyway.lock.cli.supervisor.LeaseWatch$Step",
            "io.keyway.lock.peer.local.HostMain",
            "io.keyway.lock.peer.local.HostLauncher");

    private ArchiveWarmup() {}

    public static void main(String[] args) throws IOException, ClassNotFoundException {
        for (String name : ELSEWHERE) {
            Class.forName(name);
        }
        Path directory = Files.createTempDirectory("keyway");
        int code = warmUp("lock:native:local://" + directory.resolve("locks") + "?host=inprocess");
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path each : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(each);
            }
        }
        System.exit(code);
    }

    private static int warmUp(String url) {
        CommandTree tree = new CommandTree(Console.ofThisProcess());
        tree.execute("providers");
        tree.execute("break", "--url", url, "warm-up", "--reason", "warm-up");
        tree.execute("show", "--url", url);
        return tree.execute("run", "--url", url, "warm-up", "--", "true");
    }
}
