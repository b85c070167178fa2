// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.local;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** A process that launches a host, prints "launched" and its id, and waits to be ended. */
final class LaunchingProcess {
    private LaunchingProcess() {}

    @SuppressWarnings("SystemOut") // the line protocol of this process
    public static void main(String[] args) throws IOException, InterruptedException {
        Path directory = Path.of(args[0]);
        ProcessHandle host = new HostLauncher(
                        List.of("-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
                        LaunchedHost.class.getName(),
                        List.of(directory.resolve("seen").toString(), "two words", "$HOME 'quoted'"),
                        directory.resolve("host.log"))
                .launch();
        System.out.println("launched " + host.pid());
        if (args.length == 1) {
            Thread.currentThread().join();
        }
    }
}
