// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli.load;

import io.keyway.lock.tck.history.History;
import io.keyway.lock.tck.history.RecordedHold;
import io.keyway.lock.tck.history.Violation;
import io.keyway.lock.tck.journal.JournalLines;
import io.keyway.lock.tck.journal.Silence;
import io.keyway.lock.tck.journal.WorkerHistory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * What the clients of a load tell: counted, drawn as a series over time, and judged. Old requests are judged and
 * forgotten, so that it does not grow with the time. Thread-safe.
 */
final class LoadRecord {
    /** So many finished holds are drawn, the longest ones. */
    static final int DRAWN = 20_000;

    private static final int MOST_REASONS = 10;

    /**
     * Some clients were cut.
     *
     * @param clients from 0 on
     * @param from by the machine's clock
     * @param to 0 while it lasts
     */
    record Cut(List<Integer> clients, long from, long to) {}

    /**
     * A lock in the hands of a client.
     *
     * @param client from 0 on
     * @param lock from 1 on
     * @param asked by the machine's clock, as all instants
     * @param got when it was granted
     * @param ended when it was given back or lost
     * @param lost whether it was lost
     */
    record Span(int client, int lock, long asked, long got, long ended, boolean lost) {}

    /** What happened within one piece of time. */
    record Piece(int acquired, int handOvers, int errors, long p50, long p99) {}

    private static final class Series {
        int acquired;
        int handOvers;
        int errors;
        final Latencies latencies = new Latencies();

        Piece piece() {
            return new Piece(acquired, handOvers, errors, latencies.within(0.5), latencies.within(0.99));
        }
    }

    private record Last(long token, int client) {}

    private final List<JournalLines> journals;
    private final LoadCounts[] counts;
    private final boolean deathIsProven;
    private final boolean caching;
    private final List<Silence> silences = new ArrayList<>();
    private final List<Cut> cuts = new ArrayList<>();
    private final LongestHolds spans = new LongestHolds(DRAWN);
    private final Map<String, Last> last = new HashMap<>();
    private final Map<Long, Piece> series = new TreeMap<>();
    private final Set<String> known = new HashSet<>();
    private final TreeMap<String, String> firstBreaches = new TreeMap<>();
    private final Map<String, Integer> breaches = new TreeMap<>();
    private final Set<String> reasons = new HashSet<>();
    private final long pieceNanos;
    private Series current = new Series();
    private long currentAt;
    private long start;

    /** Of so many clients; the series has pieces of that time. */
    LoadRecord(int clients, boolean deathIsProven, boolean caching, long pieceNanos) {
        this.journals = IntStream.range(0, clients)
                .mapToObj(i -> new JournalLines(name(i)))
                .toList();
        this.counts =
                IntStream.range(0, clients).mapToObj(i -> new LoadCounts()).toArray(LoadCounts[]::new);
        this.deathIsProven = deathIsProven;
        this.caching = caching;
        this.pieceNanos = pieceNanos;
    }

    /** The name of a client, from 0 on. */
    static String name(int client) {
        return "client-" + (client + 1);
    }

    synchronized void start(long at) {
        start = at;
    }

    synchronized long start() {
        return start;
    }

    /** A line of its journal. */
    synchronized void journal(int client, String line) {
        RecordedHold hold = journals.get(client).read(line);
        if (hold == null) {
            return;
        }
        if (line.startsWith("granted ")) {
            granted(client, hold);
        } else if (line.startsWith("released ") || line.startsWith("lost ")) {
            spans.add(new Span(
                    client,
                    lock(hold),
                    hold.asked(),
                    hold.got(),
                    hold.losses().isEmpty()
                            ? hold.releaseCalledAt()
                            : hold.losses().get(0).at(),
                    !hold.losses().isEmpty()));
        }
    }

    private static int lock(RecordedHold hold) {
        return Integer.parseInt(hold.name().substring(hold.name().lastIndexOf('/') + 1));
    }

    private void granted(int client, RecordedHold hold) {
        Last before = last.get(hold.name());
        if (before == null || before.token() < hold.token()) {
            last.put(hold.name(), new Last(hold.token(), client));
            if (before != null && before.client() != client) {
                counts[client].handOvers++;
                now().handOvers++;
            }
        }
    }

    /** The client acquired a lock within that time, or took up one that it had kept. */
    synchronized void took(int client, long nanos, boolean cached) {
        counts[client].acquired++;
        (cached ? counts[client].cachedAcquires : counts[client].askedAcquires).add(nanos);
        Series now = now();
        now.acquired++;
        now.latencies.add(nanos);
    }

    /** The client gave a lock back within that time; 0 if it keeps it for now. */
    synchronized void gave(int client, long nanos) {
        counts[client].released++;
        if (nanos > 0) {
            counts[client].releases.add(nanos);
        }
    }

    synchronized void lost(int client) {
        counts[client].lost++;
    }

    synchronized void error(int client, String reason) {
        counts[client].errors++;
        now().errors++;
        if (reasons.size() < MOST_REASONS) {
            reasons.add(reason.replaceAll("keyway-load/\\d+/\\d+", "NAME").replaceAll("\\?[^\\s?]+=[^\\s]+(?=: )", ""));
        }
    }

    synchronized void command(int client, int commands) {
        counts[client].commands += commands;
    }

    synchronized void requests(int client, long requests) {
        counts[client].requests = requests;
    }

    private Series now() {
        long at = (System.nanoTime() - start) / pieceNanos;
        if (at != currentAt) {
            series.put(currentAt, current.piece());
            current = new Series();
            currentAt = at;
        }
        return current;
    }

    /** Returns the number of the cut. */
    synchronized int cut(List<Integer> clients, long from) {
        cuts.add(new Cut(clients, from, 0));
        return cuts.size() - 1;
    }

    /**
     * The cut has just ended.
     *
     * @param before was read before that
     * @param sure whether surely nothing went through from its beginning on, so that it can be judged
     */
    synchronized void healed(int number, long before, boolean sure) {
        Cut cut = cuts.get(number);
        cuts.set(number, new Cut(cut.clients(), cut.from(), before));
        if (sure) {
            cut.clients().forEach(client -> silences.add(new Silence(name(client), cut.from(), before, false)));
        }
    }

    /** Judges what is known by now; what ended before that instant is forgotten then. */
    synchronized void judge(long before) {
        List<RecordedHold> holds = new ArrayList<>();
        journals.forEach(
                each -> each.holds().stream().filter(RecordedHold::isGranted).forEach(holds::add));
        WorkerHistory history = new WorkerHistory(new History(holds), List.copyOf(silences), deathIsProven, caching);
        for (Violation violation : history.violations()) {
            String which = violation.rule()
                    + violation.holds().stream()
                            .map(hold -> hold.name() + " " + hold.token() + " " + hold.worker())
                            .collect(Collectors.joining(","));
            if (known.add(which)) {
                breaches.merge(violation.rule(), 1, Integer::sum);
                firstBreaches.computeIfAbsent(violation.rule(), rule -> history.show(violation));
            }
        }
        journals.forEach(each -> each.forget(before));
    }

    /** How often each rule was broken. */
    synchronized Map<String, Integer> breaches() {
        return Map.copyOf(breaches);
    }

    /** The first breach of each broken rule, in lines. */
    synchronized List<String> evidence() {
        return List.copyOf(firstBreaches.values());
    }

    /** What acquires were told that failed, a few of them. */
    synchronized List<String> reasons() {
        return reasons.stream().sorted().toList();
    }

    synchronized LoadCounts counts(int client) {
        return counts[client].copy();
    }

    /** All of them together. */
    synchronized LoadCounts total() {
        LoadCounts total = new LoadCounts();
        for (LoadCounts each : counts) {
            total.add(each);
        }
        return total;
    }

    synchronized List<Cut> cuts() {
        return List.copyOf(cuts);
    }

    /** The longest holds that have ended. */
    synchronized List<Span> spans() {
        return spans.all();
    }

    /** How many holds were left out of {@link #spans}. */
    synchronized long left() {
        return spans.left();
    }

    /** By the number of the piece, from 0 on; a piece in which nothing happened is missing. */
    synchronized Map<Long, Piece> series() {
        Map<Long, Piece> pieces = new TreeMap<>(series);
        pieces.put(currentAt, current.piece());
        return pieces;
    }

    long pieceNanos() {
        return pieceNanos;
    }
}
