// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli.load;

import java.time.Duration;
import java.util.Locale;
import java.util.Map;

/** A load in words. */
public final class LoadText {
    private LoadText() {}

    /** One line about the course of a load. */
    static String progress(LoadRecord record, long now) {
        LoadCounts total = record.total();
        return String.format(
                Locale.ROOT,
                "%4.0f s  %d acquired, %d released, %d errors, %d lost, %d hand-overs%s",
                (now - record.start()) / 1e9,
                total.acquired,
                total.released,
                total.errors,
                total.lost,
                total.handOvers,
                record.breaches().isEmpty() ? "" : ", rules BROKEN");
    }

    /** What a person reads, in lines that end. */
    public static String of(LoadResult result) {
        LoadPlan plan = result.plan();
        LoadRecord record = result.record();
        StringBuilder text = new StringBuilder();
        line(text, "%s: %s", result.url(), words(plan));
        line(text, "");
        line(
                text,
                "%-12s %8s %8s %8s %6s %6s %7s  %s",
                "",
                "commands",
                "acquired",
                "released",
                "errors",
                "lost",
                "cached",
                "acquire 50 %, 99 %, longest");
        for (int i = 0; i < plan.clients(); i++) {
            row(text, LoadRecord.name(i), record.counts(i));
        }
        LoadCounts total = record.total();
        row(text, "all", total);
        line(text, "");
        latencies(text, "acquire", total.askedAcquires);
        latencies(text, "cached", total.cachedAcquires);
        latencies(text, "release", total.releases);
        line(
                text,
                "time         %s, with what the clients held%s",
                time(result.nanos()),
                result.isInterrupted() ? ", interrupted" : "");
        line(
                text,
                "rate         %.1f acquires/s, %.1f hand-overs/s between clients, of that time",
                total.acquired / result.seconds(),
                total.handOvers / result.seconds());
        line(text, "fairness     %.3f (Jain's index of the clients' acquires; 1 is even)", result.fairness());
        if (total.requests >= 0 && total.acquired > 0) {
            line(
                    text,
                    "requests     %.2f to the store for each acquire and release",
                    (double) total.requests / (total.acquired + total.released));
        }
        if (plan.cutEvery().isPresent()) {
            line(text, "partitions   %d", record.cuts().size());
        }
        record.reasons().forEach(reason -> line(text, "error        %s", reason));
        rules(text, record);
        return text.toString();
    }

    private static String words(LoadPlan plan) {
        return String.format(
                Locale.ROOT,
                "%d clients, bursts of %d%s%s, %d %s, lease %s, wait %s%s, seed %d%s",
                plan.clients(),
                plan.burst(),
                plan.ops() == 0 ? "" : ", " + plan.ops() + " operations each",
                plan.duration().map(most -> ", for " + show(most)).orElse(""),
                plan.locks(),
                plan.locks() == 1 ? "lock" : "locks",
                show(plan.leaseTime()),
                show(plan.lockWait()),
                plan.cutEvery()
                        .map(every -> ", partitions every " + show(every) + " for " + show(plan.cutFor()))
                        .orElse(""),
                plan.seed(),
                plan.recall() ? "" : ", without recall");
    }

    private static String show(Duration time) {
        return time.toMillis() % 1000 == 0 ? time.toSeconds() + " s" : time.toMillis() + " ms";
    }

    private static void row(StringBuilder text, String name, LoadCounts counts) {
        Latencies all = new Latencies();
        all.addAll(counts.askedAcquires);
        all.addAll(counts.cachedAcquires);
        line(
                text,
                "%-12s %8d %8d %8d %6d %6d %7s  %s, %s, %s",
                name,
                counts.commands,
                counts.acquired,
                counts.released,
                counts.errors,
                counts.lost,
                counts.acquired == 0 ? "-" : String.format(Locale.ROOT, "%.0f %%", counts.cachedPercent()),
                time(all.within(0.5)),
                time(all.within(0.99)),
                time(all.longest()));
    }

    private static void latencies(StringBuilder text, String what, Latencies of) {
        if (of.count() > 0) {
            line(
                    text,
                    "%-12s 50 %% within %s, 90 %% %s, 99 %% %s, longest %s (%d)",
                    what,
                    time(of.within(0.5)),
                    time(of.within(0.9)),
                    time(of.within(0.99)),
                    time(of.longest()),
                    of.count());
        }
    }

    private static void rules(StringBuilder text, LoadRecord record) {
        if (record.breaches().isEmpty()) {
            line(
                    text,
                    "rules        none broken: exclusion (R1, R2), time to stop (R3), tokens (R5), expiry (R7), "
                            + "holders notified (R9)");
            return;
        }
        for (Map.Entry<String, Integer> each : record.breaches().entrySet()) {
            line(text, "rules        BROKEN: %s, %d times", each.getKey(), each.getValue());
        }
        record.evidence().forEach(each -> text.append(each.strip()).append("\n\n"));
    }

    /** With its unit, in three digits. */
    static String time(long nanos) {
        double value = nanos;
        for (String unit : new String[] {"ns", "us", "ms"}) {
            if (value < 999.5) {
                return String.format(
                        Locale.ROOT, value < 9.95 && !unit.equals("ns") ? "%.1f %s" : "%.0f %s", value, unit);
            }
            value /= 1000;
        }
        return String.format(Locale.ROOT, value < 99.5 ? "%.1f s" : "%.0f s", value);
    }

    private static void line(StringBuilder text, String format, Object... values) {
        text.append(String.format(Locale.ROOT, format, values).stripTrailing()).append('\n');
    }
}
