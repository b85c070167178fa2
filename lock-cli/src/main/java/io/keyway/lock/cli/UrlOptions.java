// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Locks;
import io.keyway.lock.Scope;
import io.keyway.lock.cli.supervisor.Supervision;
import io.keyway.lock.peer.local.IdleProbe;
import io.keyway.lock.peer.local.LocalGuard;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which locks a command is about. */
final class UrlOptions {
    /** The variable with the secret of a cluster. */
    static final String SECRET = "KEYWAY_SECRET";

    static final String DEFAULT_URL = "lock:native:local://";

    @Option(
            names = "--url",
            paramLabel = "URL",
            description = "Where the locks are. Default: the variable KEYWAY_URL, else " + DEFAULT_URL
                    + ", the locks of" + " this user on this machine.")
    private @Nullable String url;

    LockUrl url(Console console) {
        return LockUrl.parse(url != null ? url : console.variable("KEYWAY_URL").orElse(DEFAULT_URL));
    }

    /**
     * Whether nothing can be held, kept or waited for, since nobody serves the locks of this machine and nobody who
     * could hold one lives.
     */
    boolean atRest(Console console) {
        return IdleProbe.of(url(console), console.environment());
    }

    /**
     * Opens a client that only looks: on this machine it never becomes the one that serves the others, and a process
     * that does is started only where nobody else would show what is kept.
     */
    LockClient openToLook(Console console) {
        LockUrl parsed = url(console);
        String host = IdleProbe.keeps(parsed, console.environment()) ? "process" : "none";
        return open(parsed, options(parsed, console).host(host).options());
    }

    /**
     * Opens a client to run a command. On this machine it never serves the others, which Ctrl-Z would stop, and it
     * counts as dead only when the supervisor is dead too.
     */
    LockClient openToRun(Console console, Supervision supervision) {
        LockUrl parsed = url(console);
        CommandOptions options = options(parsed, console).host("process");
        Optional<Path> file = LocalGuard.file(parsed, console.environment());
        long guard = LocalGuard.draw();
        LockClient client = open(parsed, options.guard(guard).options());
        file.ifPresent(path -> supervision.guard(path, guard));
        return client;
    }

    private static CommandOptions options(LockUrl parsed, Console console) {
        CommandOptions options = CommandOptions.of(parsed);
        if (options.reach() == Scope.JVM) {
            console.say("warning: " + Failures.shortened(parsed.toString())
                    + " is of this process alone: no other keyway and no program sees it. It is meant for tests.");
        }
        return options.secret(console.variable(SECRET));
    }

    private static LockClient open(LockUrl parsed, ClientOptions options) {
        return Locks.open(parsed, options, UrlOptions.class.getClassLoader());
    }
}
