// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.tck.process.ClientProcess;
import io.keyway.lock.tck.process.WallClock;
import java.io.File;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Clients in processes of their own, which have the subject's provider on their class path. */
final class RemoteClients {
    private RemoteClients() {}

    /**
     * Starts one that has taken that lock, of no other use, and released it: what it then asks takes no longer than it
     * must. Its wall clock is so far ahead of that of this process, or behind it.
     */
    static ClientProcess start(RunContext run, String role, ClientOptions options, String first, Duration ahead)
            throws InterruptedException {
        ClientProcess process = ClientProcess.open(
                ahead.isZero() ? List.of() : WallClock.ahead(ahead),
                classPath(run.subject().loader()),
                run.url().reveal(),
                "tck-" + role,
                options.lockDefaults().ttl().orElseThrow());
        try {
            // A new process on a busy machine has to load its classes and to connect: that says nothing of its
            // provider.
            if (process.acquireIfReachable(first, run.patience()).isPresent()) {
                process.release(first);
            }
        } catch (InterruptedException | RuntimeException | AssertionError e) {
            process.close();
            throw e;
        }
        return process;
    }

    private static String classPath(ClassLoader loader) {
        List<String> path = new ArrayList<>(List.of(System.getProperty("java.class.path")));
        if (loader instanceof URLClassLoader jars) {
            for (URL jar : jars.getURLs()) {
                path.add(Path.of(URI.create(jar.toString())).toString());
            }
        }
        return String.join(File.pathSeparator, path);
    }
}
