// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import io.keyway.lock.Candidacy;
import io.keyway.lock.Candidate;
import io.keyway.lock.Election;
import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import io.keyway.lock.NodeRule;
import io.keyway.lock.NodeSet;
import io.keyway.lock.cli.supervisor.Supervision;
import io.keyway.lock.spi.NodeParts;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** `keyway elect`: runs a command while it is the leader. */
@Command(
        name = "elect",
        mixinStandardHelpOptions = true,
        customSynopsis = "keyway elect [--url URL] [--ttl TIME] [--as CANDIDATE] [--at NODES] NAME -- COMMAND"
                + " [ARG...]%n"
                + "       keyway elect [--url URL] [--at NODES] --show NAME",
        description = "Stands for election, runs a command while it leads, ends it when the leadership is lost, and"
                + " stands again.",
        footer = {
            "%nThe command finds the fencing token of the leadership in KEYWAY_TOKEN and the name of the election in"
                    + " KEYWAY_NAME.",
            "Exit code: the command's own when it ends while it leads, 128 + n when signal n ended it; 125 the lock"
                    + " service cannot be reached, 126 the command cannot be run, 127 it is not found, 64 wrong usage,"
                    + " 130 Ctrl-C while it does not lead. With --show: 0, or 1 if nobody leads."
        })
final class ElectCommand implements Callable<Integer> {
    private static final int NOBODY = 1;

    private final Console console;
    private final @Nullable List<String> command;

    @Mixin
    private final UrlOptions target = new UrlOptions();

    @Parameters(index = "0", paramLabel = "NAME", description = "The election: a path such as billing/scheduler.")
    private String name = "";

    @Option(
            names = "--ttl",
            paramLabel = "TIME",
            converter = Durations.Ttl.class,
            description =
                    "How long a leader that went silent keeps the others waiting. Default: that of the URL, or 10s.")
    private @Nullable Duration ttl;

    @Option(
            names = "--as",
            paramLabel = "CANDIDATE",
            description = "The name of this candidate. Default: user@host:pid.")
    private @Nullable String candidate;

    @Option(
            names = "--at",
            paramLabel = "NODES",
            split = ",",
            description = "The members of the cluster of which a majority elects, as a:7400,b:7400,c:7400; the same"
                    + " for all candidates. Default: the one that has the election's name.")
    private List<String> nodes = List.of();

    @Option(names = "--show", description = "Print the leader and the candidates, and end.")
    private boolean show;

    ElectCommand(Console console, @Nullable List<String> command) {
        this.console = console;
        this.command = command;
    }

    @Override
    public Integer call() throws Exception {
        LockName election = LockName.of(name);
        if (show) {
            return show(election);
        }
        if (command == null || command.isEmpty()) {
            throw new CommandException(
                    ExitCode.USAGE,
                    "say what the leader runs after --, as in: keyway elect " + name + " -- ./serve.sh");
        }
        CommandLineWords words = CommandLineWords.check(command, console.environment());
        Signals signals = Signals.interrupting(Thread.currentThread());
        while (true) {
            try (Supervision supervision = GuardedCommand.supervise();
                    LockClient client = target.openToRun(console, supervision)) {
                int code = term(client, election(client, election, words), words, supervision, signals);
                // A leader that was asked to end does not stand again.
                if (code != ExitCode.LOST || signals.received() != 0) {
                    return code;
                }
            } catch (InterruptedException e) {
                console.say("interrupted; it does not lead " + name + ", and nothing runs.");
                return ExitCode.ofSignal(signals.received() == 0 ? Signals.INT : signals.received());
            }
            console.say("standing for " + name + " again.");
        }
    }

    /** Stands, and runs the command for one leadership. */
    private int term(
            LockClient client, Election election, CommandLineWords words, Supervision supervision, Signals signals)
            throws InterruptedException {
        // The notice hears that the candidate waits only if it listens before that stands.
        try (WaitingNotice notice = WaitingNotice.begin(console, client, keys(election.name()));
                Candidacy candidacy = election.stand()) {
            Lease leadership = elected(candidacy);
            notice.close();
            if (signals.received() != 0) {
                throw new InterruptedException();
            }
            console.say(candidacy.name() + " leads " + name + " under token " + leadership.token() + ".");
            return new GuardedCommand(console, words, HeldLocks.of(leadership), supervision, signals).run();
        }
    }

    private Lease elected(Candidacy candidacy) throws InterruptedException {
        try {
            return candidacy.elected().toCompletableFuture().get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException known) {
                throw known;
            }
            throw new IllegalStateException(e.getCause());
        }
    }

    private Election election(LockClient client, LockName election, @Nullable CommandLineWords words) {
        LockOptions options = LockOptions.none();
        if (words != null) {
            options = options.withMetadata(Map.of("command", words.shortName()));
        }
        if (ttl != null) {
            options = options.withTtl(ttl);
        }
        Election with = atNodes(client.election(election)).with(options);
        return candidate == null ? with : with.as(candidate);
    }

    /** The locks of the election: one, or that at each node. */
    private List<LockKey> keys(LockName election) {
        return nodes.isEmpty()
                ? List.of(LockKey.lock(election))
                : nodes.stream()
                        .map(node -> LockKey.lock(NodeParts.part(election, node)))
                        .toList();
    }

    private Election atNodes(Election election) {
        return nodes.isEmpty() ? election : election.at(NodeSet.of(NodeRule.MAJORITY, nodes));
    }

    private int show(LockName election) throws InterruptedException {
        if (target.atRest(console)) {
            console.say("nobody leads " + name + ".");
            return NOBODY;
        }
        try (LockClient client = target.openToLook(console)) {
            if (!client.features().contains(Feature.LIST)) {
                throw new CommandException(
                        ExitCode.USAGE,
                        "lock:" + client.url().provider() + ": cannot show the candidates: it lacks listing.");
            }
            List<Candidate> candidates = atNodes(client.election(election)).candidates();
            for (Candidate each : candidates) {
                console.out()
                        .println((each.leads() ? "leads   " : "stands  ") + StatusText.printable(each.name())
                                + "  for " + Durations.show(each.since())
                                + (each.token().isPresent()
                                        ? ", token " + each.token().getAsLong()
                                        : ""));
            }
            Optional<Candidate> leader =
                    candidates.stream().filter(Candidate::leads).findFirst();
            if (leader.isEmpty()) {
                console.say("nobody leads " + name + ".");
            }
            return leader.isPresent() ? 0 : NOBODY;
        }
    }
}
