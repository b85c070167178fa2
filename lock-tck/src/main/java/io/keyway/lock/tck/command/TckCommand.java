// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.command;

import io.keyway.lock.spi.RuleBook;
import io.keyway.lock.tck.CheckInfo;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckResult;
import io.keyway.lock.tck.TckRunner;
import io.keyway.lock.tck.report.ConsoleTable;
import io.keyway.lock.tck.report.Reports;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The technology compatibility kit as a command: tests the provider of a URL and says whether it is compatible. */
@Command(
        name = "tck",
        mixinStandardHelpOptions = true,
        description = {
            "Tests the provider of a URL against the rules, in a JVM of its own.",
            "It takes and breaks locks of names of its own (tck/...), and gives floors of tokens in a place for tests"
                    + " that it removes: the store is left as it was."
        },
        footer = {
            "",
            "Exit codes: 0 compatible; 1 a check failed; 2 wrong usage (64 of keyway); 3 the URL cannot be opened;",
            "4 nothing failed, but checks were excluded or ended without a verdict; 130 Ctrl-C."
        })
public final class TckCommand implements Callable<Integer> {
    /** The variable that names the URL where {@code --url} is not given: a command line can be read by everybody. */
    public static final String URL_VARIABLE = "KEYWAY_TCK_URL";

    private final PrintStream out;
    private final @Nullable String urlOfEnvironment;

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Option(
            names = "--url",
            paramLabel = "URL",
            description = "what to test; otherwise the variable " + URL_VARIABLE + ", which nobody else can read")
    private @Nullable String url;

    @Option(
            names = "--provider-path",
            paramLabel = "PATH",
            description = "the provider: jars and folders of jars, joined as in a class path")
    private @Nullable String providerPath;

    @Option(
            names = "--profile",
            paramLabel = "NAME",
            description = "smoke (25 s), quick (2 min) or full (8 min); quick")
    private String profile = "quick";

    @Option(names = "--seed", paramLabel = "N", description = "where random choices come from; 1")
    private long seed = 1;

    @Option(
            names = "--time-factor",
            paramLabel = "X",
            description = "stretches ttls and patience, for slow machines; 1 to 100")
    private double timeFactor = 1;

    @Option(names = "--parallel", paramLabel = "N", description = "how many checks run at once; 8")
    private int parallel = 8;

    @Option(
            names = "--only",
            paramLabel = "ID",
            split = ",",
            description = "only rules and checks whose ids begin so; may be repeated")
    private List<String> only = new ArrayList<>();

    @Option(
            names = "--exclude",
            paramLabel = "FILE",
            description =
                    "checks known to fail, a line 'id, reason, link of the issue' for each; never compatible then")
    private @Nullable Path exclude;

    @Option(
            names = "--kill-command",
            paramLabel = "CMD",
            description = "a shell's command that ends the server as a crash would; with --start-command")
    private @Nullable String killCommand;

    @Option(
            names = "--start-command",
            paramLabel = "CMD",
            description = "starts it again, in the background; with --kill-command")
    private @Nullable String startCommand;

    @Option(
            names = "--pause-command",
            paramLabel = "CMD",
            description = "makes the server stand still, as SIGSTOP does; with --resume-command")
    private @Nullable String pauseCommand;

    @Option(names = "--resume-command", paramLabel = "CMD", description = "lets it go on; with --pause-command")
    private @Nullable String resumeCommand;

    @Option(
            names = "--count-command",
            paramLabel = "CMD",
            description = "prints how many keys, nodes or rows the store keeps, as one number")
    private @Nullable String countCommand;

    @Option(names = "--report", paramLabel = "DIR", description = "where the reports go; tck-report")
    private Path report = Path.of("tck-report");

    @Option(names = "--list", description = "list rules and checks, and run nothing")
    private boolean list;

    /**
     * The command.
     *
     * @param out for what it has to say
     * @param environment the variables of the process
     */
    public TckCommand(PrintStream out, Map<String, String> environment) {
        this.out = out;
        this.urlOfEnvironment = environment.get(URL_VARIABLE);
    }

    /** Runs it; returns the exit code. */
    @Override
    public Integer call() throws IOException, InterruptedException {
        if (list) {
            list();
            return 0;
        }
        String where = url == null ? urlOfEnvironment : url;
        if (where == null || where.isBlank()) {
            throw wrong("nothing to test: give --url, or the variable " + URL_VARIABLE);
        }
        TckConfig config;
        List<Path> path;
        ServerCommands commands;
        try {
            config = config();
            path = providerPath == null ? List.of() : ProviderPath.parse(providerPath);
            commands = new ServerCommands(killCommand, startCommand, pauseCommand, resumeCommand, countCommand);
        } catch (IllegalArgumentException e) {
            throw wrong(e.getMessage());
        }
        if (TckRunner.planned(config).isEmpty()) {
            throw wrong("no check of the profile " + profile + " has an id that begins with "
                    + String.join(" or ", only) + "; --list shows them");
        }
        return run(where, config, path, commands);
    }

    private TckConfig config() {
        return TckConfig.of(profile())
                .withSeed(seed)
                .withTimeFactor(timeFactor)
                .withParallel(parallel)
                .withOnly(only)
                .withExcluded(exclude == null ? Map.of() : Exclusions.read(exclude));
    }

    private Profile profile() {
        try {
            return Profile.valueOf(profile.toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "there is no profile " + profile + "; there are smoke, quick and full", e);
        }
    }

    private ParameterException wrong(@Nullable String what) {
        return new ParameterException(spec.commandLine(), String.valueOf(what));
    }

    private int run(String where, TckConfig config, List<Path> path, ServerCommands commands)
            throws IOException, InterruptedException {
        Files.createDirectories(report);
        ConsoleTable table = new ConsoleTable(out, Optional.of(report));
        IsolatedRun run = new IsolatedRun(where, config, path, commands, report.resolve("provider.log"), table);
        CountDownLatch told = new CountDownLatch(1);
        Thread cancel = new Thread(() -> cancel(run, told), "tck-cancel");
        Runtime.getRuntime().addShutdownHook(cancel);
        try {
            TckResult result = run.run();
            Reports.write(report, result);
            table.summary(result);
            return result.outcome().exitCode();
        } finally {
            told.countDown();
            try {
                Runtime.getRuntime().removeShutdownHook(cancel);
            } catch (IllegalStateException e) {
                // This JVM is ending already, by Ctrl-C.
            }
        }
    }

    /** Ctrl-C: the run ends with what it has, and this JVM when that has been told. */
    private static void cancel(IsolatedRun run, CountDownLatch told) {
        run.cancel();
        try {
            if (!told.await(30, TimeUnit.SECONDS)) {
                return;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void list() {
        List<CheckInfo> checks = TckRunner.checks();
        for (RuleBook.Rule rule : RuleBook.read().rules()) {
            out.println(rule.id() + " " + rule.sentence());
            for (CheckInfo check : checks) {
                if (check.rules().get(0).equals(rule.id())) {
                    out.println("    " + check.from().name().toLowerCase(Locale.ROOT) + "  " + check.id());
                }
            }
        }
    }
}
