// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.history;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * What several processes did with locks, on one clock.
 *
 * @param holds all requests
 * @param silences when workers could not be heard
 * @param deathIsProven the authority may free the locks of a dead process at once, as on one machine
 */
record History(List<RecordedHold> holds, List<Silence> silences, boolean deathIsProven) {
    /** The grants of each name, in the order in which their users had them. */
    Map<String, List<RecordedHold>> grants() {
        Map<String, List<RecordedHold>> grants = holds.stream()
                .filter(RecordedHold::isGranted)
                .sorted(Comparator.comparingLong(RecordedHold::got))
                .collect(Collectors.groupingBy(hold -> hold.name, TreeMap::new, Collectors.toList()));
        return grants;
    }

    /** All breaches of all rules that hold on any clock. */
    List<Violation> violations() {
        return violations(Rule.ALL);
    }

    /** All breaches of these rules. */
    List<Violation> violations(List<Rule> rules) {
        List<Violation> violations = new ArrayList<>();
        for (Rule rule : rules) {
            violations.addAll(rule.check(this));
        }
        return violations;
    }

    /**
     * Checks all rules; for what happened on the machine's clock.
     *
     * @param what the seed and what else repeats it
     * @throws AssertionError that shows the first breach of each broken rule, and what happened to its name around it
     */
    void check(String what) {
        List<Violation> violations = violations(Rule.ON_THE_MACHINES_CLOCK);
        if (!violations.isEmpty()) {
            Map<String, List<Violation>> byRule = violations.stream()
                    .collect(Collectors.groupingBy(Violation::rule, TreeMap::new, Collectors.toList()));
            StringBuilder text = new StringBuilder(what + ": broken are");
            byRule.forEach((rule, all) -> text.append(' ')
                    .append(rule)
                    .append(" (")
                    .append(all.size())
                    .append(" times)"));
            byRule.values().forEach(all -> text.append(show(all.get(0))));
            throw new AssertionError(text.toString());
        }
    }

    /** Every request, in the order of asking, with times in milliseconds from the first. */
    String show() {
        StringBuilder text = new StringBuilder("all requests, in milliseconds:");
        long zero = holds.isEmpty() ? 0 : holds.get(0).asked;
        holds.stream().limit(200).forEach(hold -> text.append("\n    ").append(hold.show(zero)));
        if (holds.size() > 200) {
            text.append("\n    ... and ").append(holds.size() - 200).append(" more");
        }
        return text.toString();
    }

    /** One breach, and what happened to its name around it. */
    String show(Violation violation) {
        RecordedHold first = violation.holds().get(0);
        long zero = first.asked;
        StringBuilder text = new StringBuilder("\n\n" + violation.rule() + ": " + violation.text());
        violation.holds().forEach(hold -> text.append("\n    ").append(hold.show(zero)));
        text.append("\n  the grants of ").append(first.name).append(" around it, in milliseconds:");
        List<RecordedHold> all = grants().getOrDefault(first.name, List.of());
        int at = all.indexOf(first);
        all.subList(Math.max(0, at - 10), Math.min(all.size(), at + 15))
                .forEach(hold -> text.append("\n    ").append(hold.show(zero)));
        silences.stream()
                .filter(silence -> silence.from() - zero < 5_000_000_000L && zero - silence.from() < 10_000_000_000L)
                .forEach(silence -> text.append("\n    ")
                        .append(silence.worker())
                        .append(silence.ended() ? " killed " : " unheard from ")
                        .append(RecordedHold.ms(silence.from(), zero))
                        .append(silence.ended() ? "" : " to " + RecordedHold.ms(silence.to(), zero)));
        return text.toString();
    }
}
