// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.CommonOptions;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockException;
import io.keyway.lock.LockName;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Locks;
import io.keyway.lock.cli.trace.MemberTraces;
import io.keyway.lock.cli.trace.TraceFiles;
import io.keyway.lock.cli.trace.TraceMerge;
import io.keyway.lock.cli.trace.TraceMerge.Wish;
import io.keyway.lock.peer.local.IdleProbe;
import io.keyway.lock.peer.trace.Tracing;
import io.keyway.lock.peer.trace.Tracing.What;
import io.keyway.lock.simulator.picture.Run;
import io.keyway.lock.simulator.picture.RunJson;
import io.keyway.lock.simulator.picture.SequenceChart;
import io.keyway.lock.simulator.picture.SpaceTimePage;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** `keyway trace`: a picture of what members and clients have written down. */
@Command(
        name = "trace",
        mixinStandardHelpOptions = true,
        footer = "%nExit code: 0; 125 when a member gives no answer, or when nobody has recorded anything.",
        description = "Draws what the members of a native cluster, or of this machine, have recorded: messages, grants"
                + " and who believed in them. They record while --on, or keyway member --trace, says so; a client does"
                + " into the directory of its URL's option trace.")
final class TraceCommand implements Callable<Integer> {
    private static final String OPTION = "trace";
    private static final Pattern AUTHORITY = Pattern.compile("//[^/?]*");
    private static final Duration LIMIT = Duration.ofSeconds(5);
    private static final int EVENTS = 10_000;
    private static final int LINES = 200;

    private final Console console;

    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "URL",
            description = "Whose members to ask. Default: the variable KEYWAY_URL, else " + UrlOptions.DEFAULT_URL
                    + "; nobody with --files alone.")
    private @Nullable String url;

    @Option(names = "--on", description = "Have all members record from now on.")
    private boolean on;

    @Option(names = "--off", description = "Have all members record no more. What they have stays until they end.")
    private boolean off;

    @Option(
            names = "--files",
            paramLabel = "PATH",
            description = "Read these files too, or those of a directory: what clients have written. May be repeated.")
    private List<Path> files = List.of();

    @Option(
            names = "--lock",
            paramLabel = "NAME",
            description = "Show what concerns that lock alone; of Lamport's queue also the acknowledgements that a"
                    + " grant of it waits for.")
    private @Nullable String lock;

    @Option(
            names = "--last",
            paramLabel = "TIME",
            converter = Durations.AtLeast.class,
            description = "Show the last part of it alone.")
    private @Nullable Duration last;

    @Option(
            names = "--events",
            paramLabel = "N",
            description = "Show the last N events. Default: " + EVENTS + "; the chart has " + LINES + ".")
    private int events;

    @Option(
            names = "--heartbeats",
            description = "Show frames that carry nothing, timers, and questions of who holds, too.")
    private boolean heartbeats;

    @Option(names = "--html", paramLabel = "FILE", description = "Write the space-time diagram: one page.")
    private @Nullable Path html;

    @Option(names = "--json", paramLabel = "FILE", description = "Write what happened as JSON.")
    private @Nullable Path json;

    /** The members that gave no answer. */
    private final List<String> silent = new ArrayList<>();

    TraceCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (on && off) {
            throw new CommandException(ExitCode.USAGE, "--on and --off contradict each other; say one of them.");
        }
        if (events < 0) {
            throw new CommandException(ExitCode.USAGE, "--events is " + events + "; say 1 or more.");
        }
        Optional<String> one =
                Optional.ofNullable(lock).map(each -> LockName.of(each).toString());
        LockUrl given =
                LockUrl.parse(url != null ? url : console.variable("KEYWAY_URL").orElse(UrlOptions.DEFAULT_URL));
        boolean asks = url != null || files.isEmpty();
        if (on || off) {
            ask(given, (member, traces) -> {
                boolean records = traces.tell(on ? What.START : What.STOP);
                console.out().println(member + (records ? " records." : " records no more."));
            });
            return silent.isEmpty() ? ExitCode.OK : ExitCode.UNAVAILABLE;
        }
        TraceFiles read = new TraceFiles();
        readFiles(given, read);
        if (asks) {
            ask(given, (member, traces) -> traces.read(read));
        }
        if (read.isEmpty()) {
            throw new CommandException(
                    ExitCode.UNAVAILABLE,
                    "nobody has recorded anything" + (silent.isEmpty() ? "" : " of those who answer")
                            + ". Have the members record with keyway trace URL --on, and a client with the option"
                            + " trace=DIRECTORY of its URL; then look again.");
        }
        Wish wish = new Wish(one, Optional.ofNullable(last), events == 0 ? EVENTS : events, heartbeats);
        String of = asks ? Failures.shortened(plain(given).toString()) : "the files";
        show(TraceMerge.of(read, wish, one.map(name -> name + " at ").orElse("") + of, ""));
        return silent.isEmpty() ? ExitCode.OK : ExitCode.UNAVAILABLE;
    }

    private void readFiles(LockUrl given, TraceFiles read) throws IOException {
        List<Path> all = new ArrayList<>(files);
        Optional.ofNullable(given.options().get(OPTION)).map(Path::of).ifPresent(all::add);
        for (Path each : all) {
            try {
                if (read.read(each) == 0) {
                    console.say("there is no trace in " + each + ".");
                }
            } catch (IOException e) {
                throw new CommandException(ExitCode.USAGE, each + " cannot be read: " + e.getMessage() + ".", e);
            }
        }
    }

    private void show(Run run) throws IOException {
        console.out().println(run.title());
        console.out().print(SequenceChart.of(run, events == 0 ? LINES : events, width()));
        if (html != null) {
            write(html, SpaceTimePage.of(run));
        }
        if (json != null) {
            write(json, RunJson.of(run));
        }
    }

    private static void write(Path file, String text) throws IOException {
        try {
            Files.writeString(file, text, StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new CommandException(ExitCode.USAGE, file + " cannot be written: " + e + ".", e);
        }
    }

    private int width() {
        return console.outIsTerminal()
                ? console.variable("COLUMNS")
                        .filter(text -> text.matches("[1-9]\\d{0,3}"))
                        .map(Integer::parseInt)
                        .orElse(0)
                : 0;
    }

    // The members

    /** What is asked of one of them. */
    private interface Question {
        void ask(String member, MemberTraces traces) throws InterruptedException, TimeoutException;
    }

    /** Asks each member, over a client for it alone: one that serves any name would lead to one of them only. */
    private void ask(LockUrl given, Question question) throws InterruptedException {
        LockUrl plain = plain(given);
        if (!plain.provider().equals("native") || plain.protocol().equals(Optional.of("mem"))) {
            throw nobodyRecords(plain);
        }
        if (IdleProbe.of(plain, console.environment())) {
            throw new CommandException(
                    ExitCode.UNAVAILABLE, "nobody serves the locks of " + plain + " now, so nobody records.");
        }
        List<String> members;
        try (LockClient client = open(plain)) {
            Tracing tracing = client.unwrap(Tracing.class);
            members = tracing.members().toCompletableFuture().get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
            if (plain.hosts().isEmpty()) {
                ask(members.get(0), tracing, question);
                return;
            }
        } catch (ExecutionException | TimeoutException e) {
            throw new CommandException(ExitCode.UNAVAILABLE, "no member of " + plain + " answers.", e);
        }
        for (String member : members) {
            String alone = AUTHORITY.matcher(plain.reveal()).replaceFirst(Matcher.quoteReplacement("//" + member));
            try (LockClient client = open(LockUrl.parse(alone))) {
                ask(member, client.unwrap(Tracing.class), question);
            } catch (LockException e) {
                silent(member, Failures.message(e));
            }
        }
    }

    private void ask(String member, Tracing tracing, Question question) throws InterruptedException {
        try {
            question.ask(member, new MemberTraces(tracing, LIMIT));
        } catch (TimeoutException e) {
            silent(member, member + " gives no answer.");
        }
    }

    private void silent(String member, String why) {
        silent.add(member);
        console.say("not shown, " + member + ": " + why);
    }

    /** A client that writes down nothing of its own. */
    private static LockUrl plain(LockUrl given) {
        if (!given.options().containsKey(OPTION)) {
            return given;
        }
        String text = given.reveal().replaceAll("([?&])" + OPTION + "=[^&]*&?", "$1");
        return LockUrl.parse(text.replaceFirst("[?&]$", ""));
    }

    private LockClient open(LockUrl plain) {
        ClientOptions options = CommandOptions.of(plain)
                .secret(console.variable(UrlOptions.SECRET))
                .host("none")
                .options()
                .with(CommonOptions.CONNECT, CommonOptions.Connect.EAGER);
        return Locks.open(plain, options, TraceCommand.class.getClassLoader());
    }

    private static CommandException nobodyRecords(LockUrl plain) {
        return new CommandException(
                ExitCode.USAGE,
                "nobody records at " + Failures.shortened(plain.toString()) + ": keyway trace is for"
                        + " lock:native://MEMBERS/NAME and lock:native:local://. keyway show and keyway load work here"
                        + " too.");
    }
}
