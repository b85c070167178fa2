// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import io.keyway.lock.LockClient;
import io.keyway.lock.LockName;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.LockUrl;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** `keyway show`: who holds and who waits. */
@Command(
        name = "show",
        aliases = "list",
        mixinStandardHelpOptions = true,
        footer = "%nExit code: 0, also when nothing is locked; 125 when not all servers answered: what the others"
                + " know is shown.",
        description = "Shows the holders of locks, and the waiters in the order of the queue.")
final class ShowCommand implements Callable<Integer> {
    private static final long WATCH_NANOS = 1_000_000_000;

    private final Console console;

    @Mixin
    private final UrlOptions target = new UrlOptions();

    @Parameters(index = "0", arity = "0..1", paramLabel = "NAME", description = "One lock. Default: all.")
    private @Nullable String name;

    @Option(
            names = "--json",
            description = "Print an array of {kind, name, holders, waiters}, and softWriters and buckets if there are"
                    + " any.")
    private boolean json;

    @Option(
            names = "--watch",
            description = "Look again each second, and at one lock as soon as a cluster reports a change: a live page"
                    + " on a terminal, which q ends, elsewhere what has changed.")
    private boolean watch;

    /** What was said last of servers that do not answer. */
    private List<String> warned = List.of();

    ShowCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() throws InterruptedException {
        LockName one = name == null ? null : LockName.of(name);
        if (!watch && target.atRest(console)) {
            console.out().print(render(Statuses.NONE));
            return ExitCode.OK;
        }
        boolean network = !target.url(console).hosts().isEmpty();
        try (LockClient client = target.openToLook(console);
                ChangeBell bell = new ChangeBell(client, watch ? one : null, network)) {
            if (watch && !json && console.outIsTerminal() && page(client, one, bell)) {
                return ExitCode.OK;
            }
            String shown = "";
            while (true) {
                Statuses statuses = look(client, one);
                String text = render(statuses);
                if (!watch || !text.equals(shown)) {
                    console.out().print(text);
                }
                console.out().flush();
                shown = text;
                warn(statuses.missing());
                if (!watch) {
                    return statuses.missing().isEmpty() ? ExitCode.OK : ExitCode.UNAVAILABLE;
                }
                if (console.out().checkError()) {
                    // Nobody reads any more.
                    return ExitCode.OK;
                }
                bell.await(console.clock(), WATCH_NANOS);
            }
        }
    }

    /** True if there is a page, and its user has had enough of it. */
    private boolean page(LockClient client, @Nullable LockName one, ChangeBell bell) throws InterruptedException {
        LockUrl url = target.url(console);
        String where = Failures.shortened(url.toString());
        String title = one == null ? where : one + "  " + where;
        return new LiveWatch(console, client, title, !url.hosts().isEmpty(), each -> look(each, one), bell).run();
    }

    /** Whoever watches goes on watching when nobody answers for a while. */
    private Statuses look(LockClient client, @Nullable LockName one) throws InterruptedException {
        if (watch && target.atRest(console)) {
            return Statuses.NONE;
        }
        try {
            return Statuses.of(client, one);
        } catch (LockUnavailableException e) {
            if (!watch || !e.retryable()) {
                throw e;
            }
            return new Statuses(List.of(), List.of(Failures.trouble(e)));
        }
    }

    private void warn(List<String> missing) {
        if (!missing.equals(warned)) {
            missing.forEach(why -> console.say("not shown: " + why + (why.endsWith(".") ? "" : ".")));
            warned = missing;
        }
    }

    private String render(Statuses statuses) {
        boolean silent = statuses.found().isEmpty() && !statuses.missing().isEmpty();
        if (json) {
            return silent && watch ? "" : Json.array(statuses.found()) + "\n";
        }
        if (silent) {
            return ""; // whoever does not answer may know of a lock
        }
        if (statuses.found().isEmpty()) {
            return name == null ? "No lock is held or waited for.\n" : name + " is free.\n";
        }
        return StatusText.of(statuses.found());
    }
}
