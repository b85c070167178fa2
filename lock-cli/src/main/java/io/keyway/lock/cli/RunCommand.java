// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import io.keyway.lock.Feature;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockException;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockUrl;
import io.keyway.lock.UnsupportedFeatureException;
import io.keyway.lock.WriterPolicy;
import io.keyway.lock.cli.supervisor.Supervision;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** `keyway run`: runs a command while holding a lock. */
@Command(
        name = "run",
        mixinStandardHelpOptions = true,
        customSynopsis = {
            "keyway run [--url URL] [--wait TIME] [--ttl TIME] [--at-least TIME] [--tree]",
            "           [--shared | --permits N/M[xR] | --drain soft|TIME]",
            "           {NAME | --lock NAME...} -- COMMAND [ARG...]"
        },
        description = "Runs a command while holding a lock, and ends it if the lock is lost.",
        footer = {
            "%nThe command finds the fencing token in KEYWAY_TOKEN and the lock's name in KEYWAY_NAME; of several locks"
                    + " the names in KEYWAY_NAMES, one a line, and their tokens in KEYWAY_TOKENS, in the same order.",
            "Exit code: the command's own, 128 + n when signal n ended it; 123 the lock was lost, 124 not acquired in"
                    + " time, 125 the lock service cannot be reached, 126 the command cannot be run, 127 it is not"
                    + " found, 64 wrong usage, 130 Ctrl-C while waiting."
        })
final class RunCommand implements Callable<Integer> {
    private final Console console;
    private final @Nullable List<String> command;

    @Mixin
    private final UrlOptions target = new UrlOptions();

    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "NAME",
            description = "The lock: a path such as backup or db/orders.")
    private @Nullable String name;

    @Option(
            names = "--lock",
            paramLabel = "NAME",
            description =
                    "One lock of several: give it once for each. All are held or none, and the wait is one for all.")
    private List<String> several = List.of();

    @Option(
            names = "--wait",
            paramLabel = "TIME",
            converter = Durations.Wait.class,
            description = "How long to wait for the lock, as 500ms, 10s, 5m or 1h; 0s tries once. Default: forever.")
    private @Nullable Duration wait;

    @Option(
            names = "--ttl",
            paramLabel = "TIME",
            converter = Durations.Ttl.class,
            description = "How long the lock outlives a machine that went silent. Default: that of the URL, or 10s.")
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

    @Option(
            names = "--drain",
            paramLabel = "soft|TIME",
            converter = Durations.Drain.class,
            description = "Turn no reader of the lock (--shared) away: run when nobody holds it and nobody queues for"
                    + " it; with a time, not before no reader has come for so long. Needs --wait.")
    private @Nullable WriterPolicy drain;

    @Option(
            names = "--tree",
            description = "Lock the name and all names below it: db excludes a --tree lock of db/orders, and the other"
                    + " way round, but db/orders not db/users. With --shared beside others that share.")
    private boolean tree;

    RunCommand(Console console, @Nullable List<String> command) {
        this.console = console;
        this.command = command;
    }

    @Override
    public Integer call() throws Exception {
        if (command == null || command.isEmpty()) {
            throw new CommandException(
                    ExitCode.USAGE,
                    "say what to run after --, as in: keyway run " + (name == null ? "nightly" : name) + " -- sleep 5");
        }
        if ((shared ? 1 : 0) + (permits == null ? 0 : 1) + (drain == null ? 0 : 1) > 1) {
            throw new CommandException(ExitCode.USAGE, "--shared, --permits and --drain exclude each other.");
        }
        if (tree && (permits != null || drain != null || atLeast != null)) {
            throw new CommandException(
                    ExitCode.USAGE, "--tree goes with --shared, and not with --permits, --drain and --at-least.");
        }
        if (drain != null && wait == null) {
            throw new CommandException(
                    ExitCode.USAGE,
                    "--drain needs --wait TIME: as long as readers come it gets nothing, which may be forever.");
        }
        List<LockName> names = names();
        CommandLineWords words = CommandLineWords.check(command, console.environment());
        try (Supervision supervision = GuardedCommand.supervise();
                LockClient client = target.openToRun(console, supervision)) {
            RunRequest request = request(client, names, words);
            return run(client, request, words, supervision);
        }
    }

    private List<LockName> names() {
        if (several.isEmpty()) {
            if (name == null) {
                throw new CommandException(
                        ExitCode.USAGE, "say which lock: keyway run NAME -- COMMAND, or several by --lock NAME.");
            }
            return List.of(LockName.of(name));
        }
        if (shared || tree || permits != null || drain != null || atLeast != null) {
            throw new CommandException(
                    ExitCode.USAGE,
                    "--shared, --tree, --permits, --drain and --at-least are for one lock, not for several by --lock.");
        }
        List<LockName> names = new ArrayList<>();
        if (name != null) {
            names.add(LockName.of(name));
        }
        several.forEach(one -> names.add(LockName.of(one)));
        return names;
    }

    private static String joined(List<LockKey> keys) {
        return keys.stream().map(key -> key.name().value()).collect(Collectors.joining(", "));
    }

    private int run(LockClient client, RunRequest request, CommandLineWords words, Supervision supervision) {
        Signals signals = Signals.interrupting(Thread.currentThread());
        try {
            Optional<HeldLocks> lease = acquire(client, request, signals);
            if (lease.isEmpty()) {
                List<LockKey> keys = request.keys();
                console.say((keys.size() == 1 ? keys.get(0) + " was" : "the locks " + joined(keys) + " were")
                        + " not acquired "
                        + (wait == null || wait.isZero() ? "at once." : "within " + Durations.show(wait) + "."));
                return ExitCode.NOT_ACQUIRED;
            }
            try {
                return new GuardedCommand(console, words, lease.get(), supervision, signals).run();
            } catch (CommandException nothingWasRun) {
                keepNoLonger(client, request.keys().get(0), lease.get());
                throw nothingWasRun;
            }
        } catch (InterruptedException e) {
            return interrupted(signals);
        }
    }

    /** A lock that was released is kept for what was run under it; another machine may be able to run it. */
    private void keepNoLonger(LockClient client, LockKey key, HeldLocks released) {
        if (atLeast == null || released.token().isEmpty() || !client.features().contains(Feature.BREAK)) {
            return;
        }
        try {
            client.admin().breakLease(key, released.token().getAsLong(), "its command could not be started");
        } catch (LockException e) {
            console.say(key + " may be kept for " + Durations.show(atLeast) + ", though nothing was run: "
                    + Failures.message(e));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private RunRequest request(LockClient client, List<LockName> names, CommandLineWords words) {
        LockOptions options = LockOptions.none().withMetadata(Map.of("command", words.shortName()));
        if (ttl != null) {
            options = options.withTtl(ttl);
        }
        if (atLeast != null) {
            options = options.withHoldAtLeast(atLeast);
        }
        try {
            if (names.size() > 1) {
                return RunRequest.several(client, names, options);
            }
            LockName lockName = names.get(0);
            if (tree) {
                return RunRequest.tree(client, lockName, shared, options);
            }
            if (shared) {
                return RunRequest.shared(client, lockName, options);
            }
            if (drain != null) {
                return RunRequest.draining(client, lockName, drain, options);
            }
            return permits != null
                    ? RunRequest.permits(client, lockName, permits, options)
                    : RunRequest.exclusive(client, lockName, options);
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
        List<String> others = CommandOptions.providersWith(feature.get(), url);
        String needs = switch (feature.get()) {
            case HOLD_AT_LEAST -> "--at-least needs a store that keeps locks for some time (hold-at-least)";
            case TREE -> "--tree needs locks of trees (tree)";
            case DRAIN -> "--drain needs soft writers (drain)";
            case READ_WRITE -> (shared ? "--shared" : "--drain") + " needs read-write locks";
            default -> "--permits needs semaphores";
        };
        boolean keeps = feature.get() == Feature.HOLD_AT_LEAST;
        String have = (others.size() == 1 ? " has " : " have ") + (keeps ? "it." : "them.");
        return needs + ", which lock:" + url.provider() + which + ": lacks"
                + (others.isEmpty() ? "." : "; " + listed(others) + have);
    }

    private static String listed(List<String> names) {
        int last = names.size() - 1;
        return last == 0 ? names.get(0) : String.join(", ", names.subList(0, last)) + " and " + names.get(last);
    }

    private Optional<HeldLocks> acquire(LockClient client, RunRequest request, Signals signals)
            throws InterruptedException {
        try (WaitingNotice notice = WaitingNotice.begin(console, client, request.waits())) {
            Optional<HeldLocks> lease = wait == null ? Optional.of(request.acquire()) : request.tryAcquire(wait);
            if (signals.received() != 0) {
                lease.ifPresent(HeldLocks::close);
                throw new InterruptedException();
            }
            return lease;
        }
    }

    private int interrupted(Signals signals) {
        console.say("interrupted; " + (several.isEmpty() ? name + " is" : "the locks are")
                + " not held and nothing was run.");
        return ExitCode.ofSignal(signals.received() == 0 ? Signals.INT : signals.received());
    }
}
