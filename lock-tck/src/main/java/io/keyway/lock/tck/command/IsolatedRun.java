// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.command;

import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.LockUrl;
import io.keyway.lock.tck.CheckInfo;
import io.keyway.lock.tck.CheckResult;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckListener;
import io.keyway.lock.tck.TckResult;
import io.keyway.lock.tck.TckResult.Trouble;
import io.keyway.lock.tck.TckRunner;
import io.keyway.lock.tck.Verdict;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.command.Wire.Message;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A run in child JVMs. If the provider ends one, another goes on with the checks that are left. Several checks run at
 * once, so those that ran at the time are made again one by one, to find the guilty one.
 */
final class IsolatedRun {
    private static final int DEATHS = 5;
    /** Of what a child left, with the start of the provider. */
    private static final Duration REMOVAL = Duration.ofSeconds(20);

    /** For so many limits of a check a child may say nothing: one that hangs is tried again with twice its limits. */
    private static final int SILENT_FOR = 3 * Check.MOST_LIMITS + 1;

    /** A busy machine takes so long to start a JVM: until its first report no limit of a check counts. */
    private static final Duration JVM_STARTS = Duration.ofMinutes(1);

    private static final int LAST_LINES = 15;
    private static final int LAST_BYTES = 16_384;

    private final String url;
    private final TckConfig config;
    private final List<Path> providerPath;
    private final ServerCommands commands;
    private final Path log;
    private final TckListener listener;
    private final long begun = System.nanoTime();
    private final List<CheckInfo> planned;
    private final Map<String, CheckResult> results = new LinkedHashMap<>();
    private final Set<String> running = new LinkedHashSet<>();
    private final List<String> suspects = new ArrayList<>();
    /** Where a check may have left something. */
    private Optional<String> changed = Optional.empty();

    private @Nullable TckResult subject;
    private @Nullable Child child;
    private volatile boolean cancelled;
    private @Nullable String lastFinished;
    private @Nullable Crowd crowd;

    /** How a child ended. */
    private record Death(String how, String stack, boolean proven) {
        Death adding(String text) {
            return new Death(how + text, stack, proven);
        }
    }

    /**
     * A run.
     *
     * @param commands what the checks can do to the server
     * @param log gets what the provider prints
     */
    IsolatedRun(
            String url,
            TckConfig config,
            List<Path> providerPath,
            ServerCommands commands,
            Path log,
            TckListener listener) {
        this.url = url;
        this.config = config;
        this.providerPath = providerPath;
        this.commands = commands;
        this.log = log;
        this.listener = listener;
        Set<String> ids = Set.copyOf(TckRunner.planned(config));
        this.planned = TckRunner.checks().stream()
                .filter(check -> ids.contains(check.id()))
                .toList();
    }

    /** Ends the run from another thread; {@link #run} then returns what is there. */
    void cancel() {
        Child now;
        synchronized (this) {
            cancelled = true;
            now = child;
        }
        if (now != null) {
            now.close();
        }
    }

    TckResult run() throws IOException, InterruptedException {
        Files.deleteIfExists(log);
        Files.createFile(log);
        Trouble trouble = null;
        for (int deaths = 0; trouble == null && !left().isEmpty(); ) {
            if (deaths == DEATHS) {
                giveUp("not made: the provider ended the JVM " + DEATHS + " times before");
                break;
            }
            List<String> batch = suspects.isEmpty() ? left() : List.copyOf(suspects);
            int parallel = suspects.isEmpty() ? config.parallel() : 1;
            TckConfig some = config.withParallel(parallel)
                    .withOnly(batch.stream().map(id -> id + "/").toList());
            Child started = Child.start(url, some, providerPath, commands, log, Optional.empty());
            synchronized (this) {
                child = started;
                if (cancelled) {
                    started.close();
                }
            }
            try (started) {
                Outcome outcome = follow(started, Set.copyOf(batch));
                deaths += outcome.death() == null ? 0 : 1;
                String unremoved = removeLeftovers(started);
                trouble = cancelled
                        ? new Trouble(Trouble.Kind.CANCELLED, "the run was cancelled" + unremoved)
                        : judge(outcome.adding(unremoved), batch);
            }
        }
        return result(trouble);
    }

    private record Outcome(
            @Nullable TckResult result, @Nullable Death death) {
        Outcome adding(String text) {
            return death == null || text.isEmpty() ? this : new Outcome(result, death.adding(text));
        }
    }

    /** The checks that have no result. */
    private List<String> left() {
        return planned.stream()
                .map(CheckInfo::id)
                .filter(id -> !results.containsKey(id))
                .toList();
    }

    private void giveUp(String why) {
        for (String id : left()) {
            finish(made(id, Verdict.INCONCLUSIVE, why, Optional.empty()));
        }
    }

    // One child

    private Outcome follow(Child from, Set<String> batch) throws InterruptedException {
        Duration patience = config.checkLimit().multipliedBy((long) Math.ceil(SILENT_FOR * config.timeFactor()));
        running.clear();
        Optional<Message.Dying> lastWords = Optional.empty();
        Duration limit = patience.plus(JVM_STARTS);
        while (!cancelled) {
            Child.News news = from.next(limit);
            limit = patience;
            if (!(news instanceof Child.News.Report report)) {
                return new Outcome(null, death(news, lastWords));
            }
            Message message = report.message();
            if (message instanceof Message.Opened opened) {
                opened(opened.subject());
            } else if (message instanceof Message.Started started) {
                started(started.id());
            } else if (message instanceof Message.Finished finished) {
                finished(finished.check(), batch);
            } else if (message instanceof Message.Left where) {
                changed = where.place();
            } else if (message instanceof Message.Dying dying) {
                lastWords = Optional.of(dying);
            } else if (message instanceof Message.Ended ended) {
                from.finish();
                return new Outcome(ended.subject(), null);
            } else {
                throw new IllegalStateException("the TCK itself failed: " + message);
            }
        }
        return new Outcome(null, null);
    }

    /**
     * What a child has left in a place for tests, which had no time to remove it, another one removes. Returns empty
     * text, or what is to be said of it.
     */
    private String removeLeftovers(Child ended) throws IOException, InterruptedException {
        ended.close();
        // Of a run that was cancelled the last reports have not been read.
        while (ended.next(REMOVAL) instanceof Child.News.Report report) {
            if (report.message() instanceof Message.Left where) {
                changed = where.place();
            }
        }
        Optional<String> place = changed;
        changed = Optional.empty();
        if (place.isEmpty()) {
            return "";
        }
        try (Child remover = Child.start(url, config, providerPath, commands, log, place)) {
            Child.News news =
                    remover.next(JVM_STARTS.plus(REMOVAL.multipliedBy((long) Math.ceil(config.timeFactor()))));
            if (!(news instanceof Child.News.Report report)) {
                return "; what is left at " + LockUrl.parse(place.get())
                        + ", a place for tests, was not removed in time; remove it yourself";
            }
            return report.message() instanceof Message.Broken broken ? "; " + broken.stack() : "";
        }
    }

    private void opened(TckResult result) {
        if (subject == null) {
            subject = result;
            listener.opened(result);
            listener.planned(planned.size());
        }
    }

    private void started(String id) {
        running.add(id);
        if (suspects.isEmpty()) {
            listener.started(id);
        }
    }

    private void finished(CheckResult check, Set<String> batch) {
        running.remove(check.id());
        if (batch.contains(check.id())) {
            finish(check);
        }
    }

    private void finish(CheckResult check) {
        results.put(check.id(), check);
        suspects.remove(check.id());
        lastFinished = check.id();
        listener.finished(check);
    }

    private Death death(Child.News news, Optional<Message.Dying> lastWords) {
        if (news instanceof Child.News.End end) {
            cancelled |= lastWords.filter(Message.Dying::signal).isPresent();
            String stack = lastWords.map(Message.Dying::stack).orElse("");
            boolean crash = end.exitCode() == 134 || end.exitCode() == 139;
            String how = "the provider ended the JVM (exit code " + end.exitCode() + ")";
            return new Death(how, stack, !stack.isEmpty() || crash);
        }
        return new Death("the JVM of the checks was ended, since it had not been heard of for too long", "", false);
    }

    // What it means

    private @Nullable Trouble judge(Outcome outcome, List<String> batch) throws IOException {
        TckResult result = outcome.result();
        if (result != null) {
            if (result.trouble().isEmpty()) {
                innocentAlone();
                return null;
            }
            if (subject == null) {
                subject = result;
                return result.trouble().get();
            }
            giveUp("not made: the URL could not be opened again: "
                    + result.trouble().get().message());
            return null;
        }
        Death death = outcome.death();
        if (death == null) {
            throw new IllegalStateException("a child without an end");
        }
        if (subject == null) {
            return new Trouble(Trouble.Kind.CANNOT_OPEN, death.how() + " while the URL was opened" + evidence(death));
        }
        blame(death, batch);
        return null;
    }

    private void blame(Death death, List<String> batch) throws IOException {
        List<String> guilty = running.stream().filter(batch::contains).toList();
        if (guilty.size() > 1) {
            suspects.clear();
            suspects.addAll(guilty);
            crowd = new Crowd(death, List.copyOf(guilty));
            return;
        }
        crowd = null;
        suspects.clear();
        String id = guilty.isEmpty() ? lastFinished : guilty.get(0);
        if (id == null) {
            id = left().get(0);
        }
        String when = guilty.isEmpty() ? " after this check" : "";
        finish(made(
                id,
                Verdict.FAIL,
                death.how() + when,
                Optional.of(evidence(death).strip())));
    }

    /** Checks of which one has ended the JVM, one does not know which. */
    private record Crowd(Death death, List<String> ids) {}

    /** None of the suspects ended the JVM when it was alone. */
    private void innocentAlone() throws IOException {
        Crowd last = crowd;
        crowd = null;
        if (last == null) {
            return;
        }
        suspects.clear();
        for (String id : last.ids()) {
            CheckResult alone = results.get(id);
            if (alone != null && alone.verdict() == Verdict.PASS) {
                finish(made(
                        id,
                        last.death().proven() ? Verdict.FAIL : Verdict.INCONCLUSIVE,
                        last.death().how() + " while this check ran beside "
                                + (last.ids().size() - 1) + " others; alone it passed",
                        Optional.of(evidence(last.death()).strip())));
            }
        }
    }

    private String evidence(Death death) throws IOException {
        StringBuilder text = new StringBuilder();
        if (!death.stack().isEmpty()) {
            text.append('\n').append(death.stack());
        }
        List<String> lines = end(log).lines().toList();
        if (!lines.isEmpty()) {
            text.append("\nthe last lines that it printed (").append(log).append("):");
            lines.subList(Math.max(0, lines.size() - LAST_LINES), lines.size())
                    .forEach(line -> text.append("\n    ").append(line));
        }
        return text.toString();
    }

    /** The end of what was printed, which may be long, and in any encoding. */
    private static String end(Path log) throws IOException {
        try (RandomAccessFile file = new RandomAccessFile(log.toFile(), "r")) {
            long length = file.length();
            byte[] bytes = new byte[(int) Math.min(length, LAST_BYTES)];
            file.seek(length - bytes.length);
            file.readFully(bytes);
            return new String(bytes, StandardCharsets.UTF_8);
        }
    }

    private CheckResult made(String id, Verdict verdict, String message, Optional<String> evidence) {
        CheckInfo check = planned.stream()
                .filter(each -> each.id().equals(id))
                .findFirst()
                .orElseThrow();
        return new CheckResult(
                id,
                check.rules(),
                check.level(),
                verdict,
                Duration.ZERO,
                message,
                "Does the provider, or a library of its, call System.exit, or crash in native code?",
                verdict == Verdict.FAIL ? evidence.filter(text -> !text.isEmpty()) : Optional.empty(),
                Optional.empty(),
                List.of(),
                0);
    }

    private TckResult result(@Nullable Trouble trouble) {
        TckResult head = subject == null ? unopened() : subject;
        return head.ended(
                Duration.ofNanos(System.nanoTime() - begun),
                Optional.ofNullable(trouble),
                planned.stream()
                        .map(check -> Optional.ofNullable(results.get(check.id())))
                        .flatMap(Optional::stream)
                        .toList());
    }

    private TckResult unopened() {
        String masked;
        try {
            masked = LockUrl.parse(url).toString();
        } catch (InvalidLockUrlException e) {
            masked = "(no URL)";
        }
        return TckResult.unopened(masked, config);
    }
}
