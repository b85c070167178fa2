// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockException;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockUrl;
import io.keyway.lock.UnsupportedFeatureException;
import io.keyway.lock.cli.supervisor.Supervision;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** `keyway run`: runs a command while holding a lock. */
@Command(
        name = "run",
        mixinStandardHelpOptions = true,
        customSynopsis =
                "keyway run [--url URL] [--wait TIME] [--ttl TIME] [--at-least TIME] [--shared | --permits N/M[xR]]"
                        + " NAME -- COMMAND [ARG...]",
        description = "Runs a command while holding a lock, and ends it if the lock is lost.",
        footer = {
            "%nThe command finds the fencing token in KEYWAY_TOKEN and the lock's name in KEYWAY_NAME.",
            "Exit code: the command's own, 128 + n when signal n ended it; 123 the lock was lost, 124 not acquired in"
                    + " time, 125 the lock service cannot be reached, 126 the command cannot be run, 127 it is not"
                    + " found, 64 wrong usage, 130 Ctrl-C while waiting."
        })
final class RunCommand implements Callable<Integer> {
    private final Console console;
    private final @Nullable List<String> command;

    @Mixin
    private final UrlOptions target = new UrlOptions();

    @Parameters(index = "0", paramLabel = "NAME", description = "The lock: a path such as backup or db/orders.")
    private String name = "";

    @Option(
            names = "--wait",
            paramLabel = "TIME",
            converter = Durations.Wait.class,
            description = "How long to wait for the lock, as 500ms, 10s, 5m or 1h; 0s tries once. Default: for ever.")
    private @Nullable Duration wait;

    @Option(
            names = "--ttl",
            paramLabel = "TIME",
            converter = Durations.Ttl.class,
            description = "How long the lock outlives a machine that went silent. Default: 10s.")
    private @Nullable Duration ttl;

    @Option(
            names = "--at-least",
            paramLabel = "TIME",
            converter = Durations.AtLeast.class,
            description =
                    "How long the lock is kept at the least, also when the command, or this machine, ends earlier:"
                            + " a job that several machines start at about the same time runs once.")
    private @Nullable Duration atLeast;

    @Option(names = "--shared", description = "Share the lock with other holders that share it.")
    private boolean shared;

    @Option(
            names = "--permits",
            paramLabel = "N/M[xR]",
            converter = Permits.Converter.class,
            description = "Take N of the M permits of the semaphore of that name; or of M for each of R resources.")
    private @Nullable Permits permits;

    RunCommand(Console console, @Nullable List<String> command) {
        this.console = console;
        this.command = command;
    }

    @Override
    public Integer call() throws Exception {
        if (command == null || command.isEmpty()) {
            throw new CommandException(
                    ExitCode.USAGE, "say what to run after --, as in: keyway run " + name + " -- sleep 5");
        }
        if (shared && permits != null) {
            throw new CommandException(ExitCode.USAGE, "--shared and --permits exclude each other.");
        }
        LockName lockName = LockName.of(name);
        CommandLineWords words = CommandLineWords.check(command, console.environment());
        try (Supervision supervision = supervise();
                LockClient client = target.openToRun(console, supervision)) {
            LockRequest request = request(client, lockName, words);
            return run(client, request, words, supervision);
        }
    }

    private int run(LockClient client, LockRequest request, CommandLineWords words, Supervision supervision) {
        Signals signals = Signals.interrupting(Thread.currentThread());
        try {
            Optional<Lease> lease = acquire(client, request, signals);
            if (lease.isEmpty()) {
                console.say(request.key() + " was not acquired "
                        + (wait == null || wait.isZero() ? "at once." : "within " + Durations.show(wait) + "."));
                return ExitCode.NOT_ACQUIRED;
            }
            try {
                return new GuardedCommand(console, words, lease.get(), supervision, signals).run();
            } catch (CommandException nothingWasRun) {
                keepNoLonger(client, request.key(), lease.get());
                throw nothingWasRun;
            }
        } catch (InterruptedException e) {
            return interrupted(signals);
        }
    }

    /** A lock that was released is kept for what was run under it; another machine may be able to run it. */
    private void keepNoLonger(LockClient client, LockKey key, Lease released) {
        if (atLeast == null || !client.features().contains(Feature.BREAK)) {
            return;
        }
        try {
            client.admin().breakLease(key, released.token(), "its command could not be started");
        } catch (LockException e) {
            console.say(key + " may be kept for " + Durations.show(atLeast) + ", though nothing was run: "
                    + Failures.message(e));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private Supervision supervise() {
        try {
            return Supervision.begin();
        } catch (IOException e) {
            throw new CommandException(ExitCode.UNAVAILABLE, "the supervisor cannot be started: " + e.getMessage(), e);
        }
    }

    private LockRequest request(LockClient client, LockName lockName, CommandLineWords words) {
        LockOptions options = LockOptions.none().withMetadata(Map.of("command", words.shortName()));
        if (ttl != null) {
            options = options.withTtl(ttl);
        }
        if (atLeast != null) {
            options = options.withHoldAtLeast(atLeast);
        }
        try {
            if (shared) {
                return LockRequest.shared(client, lockName, options);
            }
            return permits != null
                    ? LockRequest.permits(client, lockName, permits, options)
                    : LockRequest.exclusive(client, lockName, options);
        } catch (UnsupportedFeatureException e) {
            throw new CommandException(ExitCode.USAGE, lacks(client.url(), e), e);
        }
    }

    private String lacks(LockUrl url, UnsupportedFeatureException lacking) {
        Optional<Feature> feature = lacking.feature();
        if (feature.isEmpty()) {
            return String.valueOf(lacking.getMessage());
        }
        String which = url.protocol().map(protocol -> ":" + protocol).orElse("");
        List<String> others = CommandOptions.providersWith(feature.get(), url.provider());
        boolean keeps = feature.get() == Feature.HOLD_AT_LEAST;
        String needs = keeps
                ? "--at-least needs a store that keeps locks for some time (hold-at-least)"
                : shared ? "--shared needs read-write locks" : "--permits needs semaphores";
        String have = (others.size() == 1 ? " has " : " have ") + (keeps ? "it." : "them.");
        return needs + ", which lock:" + url.provider() + which + ": lacks"
                + (others.isEmpty() ? "." : "; " + listed(others) + have);
    }

    private static String listed(List<String> names) {
        int last = names.size() - 1;
        return last == 0 ? names.get(0) : String.join(", ", names.subList(0, last)) + " and " + names.get(last);
    }

    private Optional<Lease> acquire(LockClient client, LockRequest request, Signals signals)
            throws InterruptedException {
        try (WaitingNotice notice = WaitingNotice.begin(console, client, request.key())) {
            Optional<Lease> lease = wait == null ? Optional.of(request.acquire()) : request.tryAcquire(wait);
            if (signals.received() != 0) {
                lease.ifPresent(Lease::close);
                throw new InterruptedException();
            }
            return lease;
        }
    }

    private int interrupted(Signals signals) {
        console.say("interrupted; " + name + " is not held and nothing was run.");
        return ExitCode.ofSignal(signals.received() == 0 ? Signals.INT : signals.received());
    }
}
