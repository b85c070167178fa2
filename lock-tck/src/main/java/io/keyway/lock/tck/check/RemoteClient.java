// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.tck.process.ClientProcess;
import java.io.File;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** A client in a process of its own. */
public final class RemoteClient implements AutoCloseable {
    private final ClientProcess process;

    private RemoteClient(ClientProcess process) {
        this.process = process;
    }

    /**
     * One that has taken that lock, of no other use, and released it: what it then asks takes no longer than it must.
     */
    static RemoteClient start(RunContext run, String role, ClientOptions options, String first)
            throws InterruptedException {
        ClientProcess process = ClientProcess.open(
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
        return new RemoteClient(process);
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

    /** Tries to acquire a lock; returns the token, empty if another held it all the while. */
    public OptionalLong acquire(String name, Duration wait) throws InterruptedException {
        return process.acquire(name, wait);
    }

    /** What the lease of that name says of itself. */
    public boolean isHeld(String name) throws InterruptedException {
        return process.isHeld(name);
    }

    /** Waits until that lease says that it was lost, and why; empty if it does not. */
    public Optional<LeaseLoss.Cause> loss(String name, Duration wait) throws InterruptedException {
        return process.loss(name, wait);
    }

    /** Releases that lease. */
    public ReleaseOutcome release(String name) throws InterruptedException {
        return process.release(name);
    }

    /** SIGKILL. */
    public void kill() throws InterruptedException {
        process.jvm().kill9();
    }

    /** SIGSTOP. */
    public void stop() throws Exception {
        process.jvm().stop();
    }

    /** SIGCONT. */
    public void cont() throws Exception {
        process.jvm().cont();
    }

    @Override
    public void close() throws InterruptedException {
        process.close();
    }
}
