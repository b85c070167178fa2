// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.testing;

import io.keyway.lock.Feature;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Locks;
import io.keyway.lock.tck.history.History;
import io.keyway.lock.tck.history.RecordedHold;
import io.keyway.lock.tck.journal.JournalReader;
import io.keyway.lock.tck.journal.MachineClock;
import io.keyway.lock.tck.journal.Silence;
import io.keyway.lock.tck.journal.WorkerHistory;
import io.keyway.lock.tck.process.ChildJvm;
import io.keyway.lock.tck.process.Signals;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Processes that take the same locks at random, what is done to them, and the history that they write. Nothing that
 * they did may break a {@linkplain #check rule}: exclusion of grants (R1) and of beliefs (R2), tokens (R5), expiry
 * (R7) and the news of a loss (R9). For one thread.
 */
public final class WorkerPool implements AutoCloseable {
    /** The options of the JVM of a worker of which one user takes most locks in transactions. */
    public static final List<String> TRANSACTIONS = List.of("-D" + HistoryWorker.TRANSACTIONS + "=true");

    private final Path directory;
    private String url;
    private final String names;
    private final boolean deathIsProven;
    private final List<ChildJvm> workers = new ArrayList<>();
    private final List<ChildJvm> everybody = new ArrayList<>();
    private final Map<ChildJvm, List<String>> journalsOf = new HashMap<>();
    private final Map<ChildJvm, Long> stopped = new HashMap<>();
    private final List<JournalReader> journals = new ArrayList<>();
    private final List<Silence> silences = new ArrayList<>();
    private final Map<String, Integer> awaited = new HashMap<>();
    private long lastButOne = Long.MIN_VALUE;
    private long last = Long.MIN_VALUE;

    /**
     * Makes a pool without workers.
     *
     * @param directory for the journals
     * @param url of the locks, opened by each worker
     * @param names how many names they share
     * @param deathIsProven the authority of these locks may free those of a killed process at once
     */
    public WorkerPool(Path directory, String url, int names, boolean deathIsProven) {
        this.directory = directory;
        this.url = url;
        this.deathIsProven = deathIsProven;
        List<String> all = new ArrayList<>();
        for (int i = 0; i < names; i++) {
            all.add("name-" + i);
        }
        this.names = String.join(",", all);
    }

    /** Workers that are started from now on find the locks at that URL. */
    public void changeUrl(String to) {
        url = to;
    }

    /** Starts a worker. */
    public ChildJvm start() throws InterruptedException {
        return start(1, List.of());
    }

    /** Starts a worker with two clients, one of them with classes of another class loader. */
    public ChildJvm startTwins() throws InterruptedException {
        return start(2, List.of());
    }

    /** Starts a worker with these options of its JVM. */
    public ChildJvm start(List<String> options) throws InterruptedException {
        return start(1, options);
    }

    private ChildJvm start(int clients, List<String> options) throws InterruptedException {
        List<String> arguments = new ArrayList<>(List.of(url, Integer.toString(everybody.size() + 1), names));
        List<String> own = new ArrayList<>();
        for (int i = 0; i < clients; i++) {
            Path file = directory.resolve("journal-" + journals.size());
            String worker = "worker " + (everybody.size() + 1) + (i == 0 ? "" : " twin");
            journals.add(new JournalReader(worker, file));
            arguments.add(file.toString());
            own.add(worker);
        }
        long before = MachineClock.now();
        ChildJvm worker = ChildJvm.start(options, HistoryWorker.class, arguments.toArray(String[]::new));
        workers.add(worker);
        everybody.add(worker);
        journalsOf.put(worker, own);
        MachineClock.check(before, Long.parseLong(worker.await("ready")), MachineClock.now());
        return worker;
    }

    /** The workers that have not been ended, in the order of their starts. */
    public List<ChildJvm> workers() {
        return workers;
    }

    /** SIGKILL. */
    public void kill(ChildJvm worker) throws InterruptedException {
        worker.kill9();
        long since = stopped.getOrDefault(worker, MachineClock.now());
        journalsOf(worker).forEach(each -> silences.add(new Silence(each, since, Long.MAX_VALUE, true)));
        gone(worker);
    }

    /** SIGSTOP. */
    public void stop(ChildJvm worker) throws IOException, InterruptedException {
        worker.stop();
        stopped.putIfAbsent(worker, MachineClock.now());
    }

    /** SIGCONT for a worker that was stopped; else nothing. */
    public void cont(ChildJvm worker) throws IOException, InterruptedException {
        Long since = stopped.remove(worker);
        if (since != null) {
            long now = MachineClock.now();
            journalsOf(worker).forEach(each -> silences.add(new Silence(each, since, now, false)));
            worker.cont();
        }
    }

    /** Lets it close its clients and end, if it was not told so before; it must end with status 0. */
    public void end(ChildJvm worker) throws InterruptedException {
        try {
            worker.tell("end");
        } catch (UncheckedIOException e) {
            // It was told before, and has ended since.
        }
        int status = worker.awaitExit();
        if (status != 0) {
            throw new AssertionError("a worker ended with status " + status + ": " + worker.printed());
        }
        gone(worker);
    }

    /**
     * All links of that worker were cut both ways before {@code from} and healed after {@code to}, by {@link
     * System#nanoTime}.
     */
    public void wasCut(ChildJvm worker, long from, long to) {
        journalsOf(worker).forEach(each -> silences.add(new Silence(each, from, to, false)));
    }

    private void gone(ChildJvm worker) {
        workers.remove(worker);
        stopped.remove(worker);
    }

    private List<String> journalsOf(ChildJvm worker) {
        return journalsOf.getOrDefault(worker, List.of());
    }

    /** Waits until every client of every worker got a lock that it had not when this was called. */
    public void awaitProgress(String when) {
        awaitProgress(
                when,
                workers.stream().mapToInt(worker -> journalsOf(worker).size()).sum());
    }

    /** Waits until so many clients got a lock that they had not when this was called. */
    public void awaitProgress(String when, int clients) {
        poll();
        Map<JournalReader, Integer> before = new HashMap<>();
        journals.forEach(each -> before.put(each, each.grants()));
        Signals.until("progress of " + clients + " clients " + when, () -> {
            poll();
            return journals.stream()
                            .filter(each -> each.grants() > before.getOrDefault(each, 0))
                            .count()
                    >= clients;
        });
    }

    /**
     * Lets every worker take every name once, one after the other, while nobody takes any at random.
     *
     * @return how long that took until the last one was ready
     */
    public Duration tour() throws InterruptedException {
        long start = MachineClock.now();
        workers.forEach(worker -> worker.tell("tour"));
        long last = start;
        for (ChildJvm worker : workers) {
            last = Math.max(last, Long.parseLong(worker.await("toured")));
        }
        workers.forEach(worker -> worker.tell("go"));
        return Duration.ofNanos(last - start);
    }

    /**
     * All grants since that instant of {@link System#nanoTime} of the name that was waited for longest, one a line, in
     * milliseconds from it.
     */
    public String longestWait(long since) {
        poll();
        History history = history(since);
        return history.holds().stream()
                .max(Comparator.comparingLong(hold -> hold.got() - Math.max(hold.asked(), since)))
                .map(longest -> history.grants().getOrDefault(longest.name(), List.of()).stream()
                        .map(hold -> "\n    " + hold.show(since))
                        .collect(Collectors.joining()))
                .orElse(" none");
    }

    /** The highest token of all grants up to now; 0 if there were none. */
    public long highestToken() {
        poll();
        return history(Long.MIN_VALUE).holds().stream()
                .mapToLong(RecordedHold::token)
                .max()
                .orElse(0);
    }

    /**
     * Waits for such a grant after an instant of {@link System#nanoTime}, at most a minute; returns when the first of
     * them was got.
     */
    public long awaitGrant(long since, Predicate<RecordedHold> wanted) {
        OptionalLong[] got = {OptionalLong.empty()};
        Signals.until("such a grant", () -> {
            poll();
            got[0] = history(since).holds().stream()
                    .filter(wanted)
                    .mapToLong(RecordedHold::got)
                    .min();
            return got[0].isPresent();
        });
        return got[0].getAsLong();
    }

    /** Waits until one of them has logged that, again if it was waited for before. */
    public void awaitLog(String text) {
        int before = awaited.getOrDefault(text, 0);
        Signals.until("a log says: " + text, () -> logged(text) > before);
        awaited.put(text, logged(text));
    }

    /** How often they have logged that. */
    public int logged(String text) {
        int times = 0;
        for (ChildJvm worker : everybody) {
            times += worker.printed().split(Pattern.quote(text), -1).length - 1;
        }
        return times;
    }

    /** What users who would have waited for half a minute were told instead of a lease. */
    public List<String> refusals() {
        poll();
        return journals.stream().flatMap(each -> each.refusals().stream()).toList();
    }

    /** How many leases were lost. */
    public long losses() {
        poll();
        return history(Long.MIN_VALUE).holds().stream()
                .filter(hold -> !hold.losses().isEmpty())
                .count();
    }

    /** How many transactions were aborted to end a deadlock. */
    public int deadlocks() {
        poll();
        return journals.stream().mapToInt(JournalReader::deadlocks).sum();
    }

    /** How many leases were handed out. */
    public int grants() {
        poll();
        return journals.stream().mapToInt(JournalReader::grants).sum();
    }

    /**
     * Checks what they did since the last check but one.
     *
     * @param what the seed and what else repeats it
     * @throws AssertionError that shows which rules were broken
     */
    public void check(String what) {
        poll();
        check(what, lastButOne);
        lastButOne = last;
        last = MachineClock.now();
    }

    /** Ends all, checks all that they ever did, and that it were at least so many grants. */
    public void endAndCheck(String what, int least) throws InterruptedException {
        for (ChildJvm worker : List.copyOf(workers)) {
            end(worker);
        }
        poll();
        check(what, Long.MIN_VALUE);
        if (grants() < least) {
            throw new AssertionError(what + ": only " + grants() + " grants, which is no test");
        }
    }

    private void check(String what, long since) {
        new WorkerHistory(history(since), List.copyOf(silences), deathIsProven, caches()).check(what);
    }

    private boolean caches() {
        LockUrl locks = LockUrl.parse(url);
        return Locks.discover(WorkerPool.class.getClassLoader()).providers().stream()
                .filter(provider -> provider.schemes().contains(locks.provider()))
                .anyMatch(provider -> provider.features(locks).contains(Feature.CACHING));
    }

    private History history(long since) {
        List<RecordedHold> holds = new ArrayList<>();
        for (JournalReader each : journals) {
            each.holds().stream()
                    .filter(hold -> hold.isGranted() && hold.got() >= since)
                    .forEach(holds::add);
        }
        return new History(holds);
    }

    private void poll() {
        try {
            for (JournalReader each : journals) {
                each.poll();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Kills all that live. */
    @Override
    public void close() throws InterruptedException {
        for (ChildJvm worker : everybody) {
            worker.close();
        }
    }
}
