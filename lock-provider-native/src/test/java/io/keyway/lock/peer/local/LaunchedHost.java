// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.local;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.TreeSet;

/**
 * What a detached host sees of the world, written to a file; then it lives until the file "stop" appears beside that,
 * or for a minute.
 */
final class LaunchedHost {
    private LaunchedHost() {}

    @SuppressWarnings({"SystemOut", "ThreadSleep"}) // prints to its log; polls since nobody can speak to it
    public static void main(String[] args) throws IOException, InterruptedException {
        System.out.println("a line for the log");
        Path seen = Path.of(args[0]);
        StringBuilder text = new StringBuilder();
        text.append("cwd=").append(Path.of("").toAbsolutePath()).append('\n');
        text.append("environment=")
                .append(new TreeSet<>(System.getenv().keySet()))
                .append('\n');
        for (int descriptor = 0; descriptor <= 2; descriptor++) {
            Path link = Path.of("/proc/self/fd/" + descriptor);
            text.append(descriptor)
                    .append('=')
                    .append(Files.isSymbolicLink(link) ? Files.readSymbolicLink(link) : "?")
                    .append('\n');
        }
        text.append("arguments=").append(args.length).append('\n');
        Path fresh = seen.resolveSibling("fresh");
        Files.writeString(fresh, text);
        Files.move(fresh, seen);
        for (int i = 0; i < 6000 && !Files.exists(seen.resolveSibling("stop")); i++) {
            Thread.sleep(10);
        }
    }
}
