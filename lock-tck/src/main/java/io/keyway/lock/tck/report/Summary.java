// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.report;

import io.keyway.lock.Feature;
import io.keyway.lock.Guarantee;
import io.keyway.lock.Guarantees;
import io.keyway.lock.tck.CheckResult;
import io.keyway.lock.tck.TckResult;
import io.keyway.lock.tck.Verdict;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** A result in the words that all reports use. */
final class Summary {
    private static final Pattern NUMBER = Pattern.compile("\\d+");

    private Summary() {}

    /** The one word. */
    static String word(TckResult result) {
        return word(result.outcome().name());
    }

    /** A verdict as a heading. */
    static String heading(Verdict verdict) {
        String word = word(verdict.name());
        return word.substring(0, 1).toUpperCase(Locale.ROOT) + word.substring(1);
    }

    static String word(String constant) {
        return constant.toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    /** What the one word means here, in a sentence. */
    static String meaning(TckResult result) {
        return switch (result.outcome()) {
            case COMPATIBLE ->
                "Every check of the profile " + profile(result) + " that applies and could be tried has passed.";
            case NOT_COMPATIBLE -> "At least one check has failed." + common(result);
            case CANNOT_OPEN -> "No check was made: " + trouble(result);
            case INCOMPLETE -> incomplete(result);
            case CANCELLED -> "The run was ended before its end.";
        };
    }

    /** A rule that checks found broken which are about others: it may be the cause of all the rest. */
    private static String common(TckResult result) {
        List<CheckResult> failed = result.with(Verdict.FAIL);
        Map<String, Long> astray = failed.stream()
                .map(check -> check.id().startsWith(check.rules().get(0) + "/")
                        ? ""
                        : check.rules().get(0))
                .filter(rule -> !rule.isEmpty())
                .collect(Collectors.groupingBy(rule -> rule, TreeMap::new, Collectors.counting()));
        return astray.entrySet().stream()
                .filter(entry -> entry.getValue() > 1)
                .max(Map.Entry.comparingByValue())
                .map(entry -> " " + entry.getValue() + " of " + failed.size() + " failures are of " + entry.getKey()
                        + ", though their checks are about other rules: look at that first.")
                .orElse("");
    }

    /** How often what a backend runs in the background ended by itself; empty if it never did. */
    static Optional<String> loops(TckResult result) {
        long times = 0;
        long checks = 0;
        for (CheckResult check : result.checks()) {
            for (String note : check.notes()) {
                if (note.startsWith(CheckResult.LOOPS_ENDED)) {
                    Matcher number = NUMBER.matcher(note);
                    times += number.find() ? Long.parseLong(number.group()) : 0;
                    checks++;
                }
            }
        }
        return checks == 0
                ? Optional.empty()
                : Optional.of("Loops in the background ended " + times + " times in " + checks
                        + " checks that broke nothing: what they say unasked is late then.");
    }

    private static String incomplete(TckResult result) {
        if (result.count(Verdict.EXCLUDED) > 0) {
            return "Nothing failed, but checks were excluded: a run with exclusions never says compatible.";
        }
        return result.count(Verdict.INCONCLUSIVE) > 0
                ? "Nothing failed, but checks ended without a verdict."
                : "Nothing failed, and nothing passed.";
    }

    static String trouble(TckResult result) {
        return result.trouble().map(TckResult.Trouble::message).orElse("");
    }

    static String profile(TckResult result) {
        return result.profile().name().toLowerCase(Locale.ROOT);
    }

    /** How many checks have each verdict that occurs. */
    static String counts(TckResult result) {
        List<String> parts = new ArrayList<>();
        for (Verdict verdict : Verdict.values()) {
            long count = result.count(verdict);
            if (count > 0) {
                parts.add(count + " " + label(verdict));
            }
        }
        return parts.isEmpty() ? "no checks" : String.join(", ", parts);
    }

    static String label(Verdict verdict) {
        return switch (verdict) {
            case PASS -> "passed";
            case FAIL -> "failed";
            default -> word(verdict.name());
        };
    }

    /** The provider and its version; what stands for it if none says that it takes the URL. */
    static String provider(TckResult result) {
        return result.provider().isEmpty() ? "(unknown provider)" : result.provider() + " " + result.providerVersion();
    }

    /** The ids of the checks with that verdict, by their reason, in order. */
    static Map<String, List<String>> byReason(TckResult result, Verdict verdict) {
        Map<String, List<String>> groups = new LinkedHashMap<>();
        for (CheckResult check : result.with(verdict)) {
            groups.computeIfAbsent(firstLine(check.message()), reason -> new ArrayList<>())
                    .add(check.id());
        }
        return groups;
    }

    static String firstLine(String text) {
        return text.lines().findFirst().orElse("");
    }

    /** The features in their order, and whether each is declared. */
    static Map<Feature, Boolean> features(TckResult result) {
        Map<Feature, Boolean> table = new LinkedHashMap<>();
        for (Feature feature : Feature.values()) {
            table.put(feature, result.features().contains(feature));
        }
        return table;
    }

    /** The promises by name. */
    static Map<String, Guarantee> guarantees(Guarantees promised) {
        Map<String, Guarantee> table = new LinkedHashMap<>();
        table.put("exclusion", promised.exclusion());
        table.put("belief", promised.belief());
        table.put("tokens", promised.tokens());
        table.put("failover", promised.failover());
        return table;
    }

    /** A duration for people. */
    static String time(Duration time) {
        long millis = time.toMillis();
        if (millis < 1000) {
            return millis + " ms";
        }
        if (millis < 120_000) {
            return String.format(Locale.ROOT, "%.1f s", millis / 1000.0);
        }
        long minutes = millis / 60_000;
        return minutes < 120
                ? minutes + " min" + rest(millis / 1000 % 60, "s")
                : minutes / 60 + " h" + rest(minutes % 60, "min");
    }

    private static String rest(long count, String unit) {
        return count == 0 ? "" : " " + count + " " + unit;
    }

    /** The time factor as it was given. */
    static String factor(TckResult result) {
        double factor = result.timeFactor();
        return factor == Math.rint(factor) ? Long.toString((long) factor) : Double.toString(factor);
    }

    /** What machine this is; nothing that names it. */
    static Map<String, String> host() {
        Map<String, String> facts = new LinkedHashMap<>();
        facts.put("os", property("os.name") + " " + property("os.version") + " " + property("os.arch"));
        facts.put("java", property("java.vendor") + " " + property("java.vm.version"));
        facts.put("processors", Integer.toString(Runtime.getRuntime().availableProcessors()));
        return facts;
    }

    private static String property(String name) {
        return System.getProperty(name, "unknown");
    }
}
