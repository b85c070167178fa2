// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import io.keyway.lock.LockUrl;
import io.keyway.lock.Locks;
import io.keyway.lock.cli.load.Load;
import io.keyway.lock.cli.load.LoadJson;
import io.keyway.lock.cli.load.LoadPage;
import io.keyway.lock.cli.load.LoadPlan;
import io.keyway.lock.cli.load.LoadResult;
import io.keyway.lock.cli.load.LoadText;
import io.keyway.lock.cli.load.Scenario;
import io.keyway.lock.spi.LockProvider;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.TypeConversionException;

/** `keyway load`: processes that use locks at random. */
@Command(
        name = "load",
        mixinStandardHelpOptions = true,
        footer = "%nExit code: 0; 122 when what the clients did breaks a rule; 125 when the locks cannot be reached.",
        description = "Lets client processes acquire and release locks of its own names at random, cuts them from the"
                + " servers, and judges what they did.")
final class LoadCommand implements Callable<Integer> {
    private static final Duration DEFAULT_DURATION = Duration.ofSeconds(60);
    private static final int DEFAULT_OPS = 20;
    private static final long PLAIN_PROGRESS = 5;

    private final Console console;

    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "URL",
            description = "Where the locks are. Default: the variable KEYWAY_URL, else " + UrlOptions.DEFAULT_URL + ".")
    private @Nullable String url;

    @Option(names = "--clients", paramLabel = "N", defaultValue = "5", description = "Client processes (5).")
    private int clients;

    @Option(names = "--burst", paramLabel = "N", defaultValue = "5", description = "Commands sent at a time (5).")
    private int burst;

    @Option(
            names = "--ops",
            paramLabel = "N",
            description = "Commands for each client; without it 20, or no bound with --duration or --partition-every.")
    private @Nullable Integer ops;

    @Option(names = "--locks", paramLabel = "N", defaultValue = "30", description = "Locks (30).")
    private int locks;

    @Option(
            names = "--lease-time",
            paramLabel = "TIME",
            defaultValue = "5s",
            converter = Durations.Ttl.class,
            description = "The ttl of each lease (5s).")
    private Duration leaseTime = Duration.ZERO;

    @Option(
            names = "--wait",
            paramLabel = "TIME",
            defaultValue = "5s",
            converter = Durations.Wait.class,
            description = "How long an acquire waits (5s).")
    private Duration wait = Duration.ZERO;

    @Option(
            names = "--hold",
            paramLabel = "TIME",
            defaultValue = "0s",
            converter = Durations.Wait.class,
            description = "How long a client works after each acquire (0s).")
    private Duration hold = Duration.ZERO;

    @Option(
            names = "--partition-every",
            paramLabel = "TIME",
            converter = Durations.AtLeast.class,
            description = "Cut some of the clients from the servers that often. Default: never.")
    private @Nullable Duration partitionEvery;

    @Option(
            names = "--partition-for",
            paramLabel = "TIME",
            converter = Durations.AtLeast.class,
            description = "How long they stay cut. Default: the lease time.")
    private @Nullable Duration partitionFor;

    @Option(
            names = "--duration",
            paramLabel = "TIME",
            converter = Durations.AtLeast.class,
            description = "End after that time. Default: after --ops; 60s with --partition-every.")
    private @Nullable Duration duration;

    @Option(names = "--seed", paramLabel = "N", defaultValue = "1", description = "Of random choices (1).")
    private long seed;

    @Option(
            names = "--no-recall",
            description = "Clients keep what they gave back for the rest of its lease time, as if nobody could ask"
                    + " for it.")
    private boolean noRecall;

    @Option(names = "--json", description = "Print the result as JSON, on one line.")
    private boolean json;

    @Option(names = "--html", paramLabel = "FILE", description = "Write the result as a page, too.")
    private @Nullable Path html;

    private long progressed;

    @Option(
            names = "--scenario",
            paramLabel = "NAME",
            converter = ScenarioName.class,
            description = "Play one of: mutual-exclusion, partition-client, partition-server, cached.")
    private Scenario.@Nullable Name scenario;

    LoadCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        LockUrl given =
                LockUrl.parse(url != null ? url : console.variable("KEYWAY_URL").orElse(UrlOptions.DEFAULT_URL));
        LockProvider provider = provider(given);
        LockUrl parsed = completed(given, provider);
        if (scenario != null) {
            return play(scenario, parsed, provider);
        }
        LoadPlan plan = plan(parsed, provider);
        Signals signals = Signals.interrupting(Thread.currentThread());
        LoadResult result;
        try (Load load = new Load(plan, parsed, provider, this::say)) {
            result = load.run(prefix(), this::progress);
        } catch (IllegalStateException e) {
            throw new CommandException(ExitCode.UNAVAILABLE, Failures.message(e), e);
        } finally {
            endProgress();
        }
        console.out().print(json ? LoadJson.of(result) + "\n" : LoadText.of(result));
        if (html != null) {
            Files.writeString(html, LoadPage.of(result), StandardCharsets.UTF_8);
        }
        if (!result.breaches().isEmpty()) {
            return ExitCode.RULE_BROKEN;
        }
        return result.isInterrupted() ? ExitCode.ofSignal(signals.received()) : ExitCode.OK;
    }

    /** Of names that no other load uses, and no user. */
    private static String prefix() {
        return "keyway-load/" + ProcessHandle.current().pid();
    }

    private int play(Scenario.Name name, LockUrl parsed, LockProvider provider)
            throws IOException, InterruptedException {
        try (Scenario played = new Scenario(parsed, provider, leaseTime, prefix())) {
            console.out().println(name + ": passed: " + played.play(name));
            return ExitCode.OK;
        } catch (IllegalStateException | AssertionError e) {
            console.out().println(name + ": FAILED: " + Failures.message(e));
            return ExitCode.RULE_BROKEN;
        }
    }

    /**
     * What the environment adds, for client processes that are told nothing but a URL. On one machine a process of its
     * own serves them, since one of them could be stopped.
     */
    private LockUrl completed(LockUrl given, LockProvider provider) {
        LockUrl hosted =
                given.protocol().equals(Optional.of("local")) ? with(given, provider, "host", "process") : given;
        boolean hasSecret =
                hosted.options().containsKey("secretFile") || hosted.hosts().isEmpty();
        Optional<String> secret = console.variable(UrlOptions.SECRET).filter(text -> !hasSecret);
        return secret.map(text -> with(hosted, provider, "secret", text)).orElse(hosted);
    }

    private static LockUrl with(LockUrl given, LockProvider provider, String option, String value) {
        boolean known =
                provider.info().options().stream().anyMatch(each -> each.name().equals(option));
        if (!known || given.options().containsKey(option)) {
            return given;
        }
        String text = given.reveal();
        String encoded = URLEncoder.encode(value, StandardCharsets.UTF_8).replace("+", "%20");
        return LockUrl.parse(text + (text.contains("?") ? "&" : "?") + option + "=" + encoded);
    }

    private static LockProvider provider(LockUrl url) {
        return Locks.discover(LoadCommand.class.getClassLoader()).providers().stream()
                .filter(each -> each.schemes().contains(url.provider()))
                .findFirst()
                .orElseThrow(() -> new CommandException(
                        ExitCode.USAGE, "no provider takes " + url + "; keyway providers lists them."));
    }

    private LoadPlan plan(LockUrl parsed, LockProvider provider) {
        atLeastOne("--clients", clients);
        atLeastOne("--burst", burst);
        atLeastOne("--locks", locks);
        if (ops != null) {
            atLeastOne("--ops", ops);
        }
        boolean bounded = ops != null || duration != null;
        Optional<Duration> every = Optional.ofNullable(partitionEvery);
        if (every.isPresent()) {
            Optional<String> why = Load.uncuttable(parsed, provider);
            if (why.isPresent()) {
                console.say("warning: " + Failures.shortened(parsed.toString()) + " cannot be cut: " + why.get()
                        + "; the load runs without partitions.");
                every = Optional.empty();
            }
        }
        return new LoadPlan(
                clients,
                burst,
                ops != null ? ops : partitionEvery == null && duration == null ? DEFAULT_OPS : 0,
                locks,
                leaseTime,
                wait,
                hold,
                every,
                partitionFor == null ? leaseTime : partitionFor,
                bounded || partitionEvery == null ? Optional.ofNullable(duration) : Optional.of(DEFAULT_DURATION),
                seed,
                !noRecall);
    }

    private static void atLeastOne(String option, int value) {
        if (value < 1) {
            throw new CommandException(ExitCode.USAGE, option + " is " + value + "; say 1 or more.");
        }
    }

    private void say(String line) {
        console.say(line + ".");
    }

    private void progress(String line) {
        if (console.errIsTerminal()) {
            console.err().print("\r\033[K" + line);
            console.err().flush();
        } else if (progressed++ % PLAIN_PROGRESS == 0) {
            console.err().println(line.strip());
        }
    }

    private void endProgress() {
        if (console.errIsTerminal()) {
            console.err().print("\r\033[K");
            console.err().flush();
        }
    }

    /** For picocli. */
    static final class ScenarioName implements ITypeConverter<Scenario.Name> {
        @Override
        public Scenario.Name convert(String text) {
            return Arrays.stream(Scenario.Name.values())
                    .filter(each -> each.toString().equals(text))
                    .findFirst()
                    .orElseThrow(() -> new TypeConversionException("there is no scenario " + text + "; there are "
                            + Arrays.stream(Scenario.Name.values())
                                    .map(Scenario.Name::toString)
                                    .collect(Collectors.joining(", "))));
        }
    }
}
