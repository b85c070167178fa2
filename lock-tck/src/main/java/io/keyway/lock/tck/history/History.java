// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.history;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * What several clients did with locks, on one clock.
 *
 * @param holds all requests
 */
public record History(List<RecordedHold> holds) {
    /** The grants of each name, in the order in which their users had them. */
    public Map<String, List<RecordedHold>> grants() {
        return holds.stream()
                .filter(RecordedHold::isGranted)
                .sorted(Comparator.comparingLong(RecordedHold::got))
                .collect(Collectors.groupingBy(RecordedHold::name, TreeMap::new, Collectors.toList()));
    }

    /** All breaches of these rules. */
    public List<Violation> violations(List<Rule> rules) {
        return rules.stream().flatMap(rule -> rule.check(this).stream()).toList();
    }

    /** Every request, in the order of asking, with times in milliseconds from the first. */
    public String show() {
        StringBuilder text = new StringBuilder("all requests, in milliseconds:");
        long zero = holds.isEmpty() ? 0 : holds.get(0).asked();
        holds.stream().limit(200).forEach(hold -> text.append("\n    ").append(hold.show(zero)));
        if (holds.size() > 200) {
            text.append("\n    ... and ").append(holds.size() - 200).append(" more");
        }
        return text.toString();
    }

    /** One breach, and what happened to its name around it. */
    public String show(Violation violation) {
        RecordedHold first = violation.holds().get(0);
        long zero = first.asked();
        StringBuilder text = new StringBuilder("\n\n" + violation.rule() + ": " + violation.text());
        violation.holds().forEach(hold -> text.append("\n    ").append(hold.show(zero)));
        text.append("\n  the grants of ").append(first.name()).append(" around it, in milliseconds:");
        List<RecordedHold> all = grants().getOrDefault(first.name(), List.of());
        int at = all.indexOf(first);
        all.subList(Math.max(0, at - 10), Math.min(all.size(), at + 15))
                .forEach(hold -> text.append("\n    ").append(hold.show(zero)));
        return text.toString();
    }
}
