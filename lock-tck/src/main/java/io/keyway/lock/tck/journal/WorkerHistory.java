// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.journal;

import io.keyway.lock.tck.history.History;
import io.keyway.lock.tck.history.RecordedHold;
import io.keyway.lock.tck.history.Rule;
import io.keyway.lock.tck.history.Rules;
import io.keyway.lock.tck.history.Violation;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What several processes did with locks, on the machine's clock.
 *
 * @param history all requests
 * @param silences when workers could not be heard
 * @param deathIsProven the authority may free the locks of a dead process at once, as on one machine
 * @param caching clients may keep what they gave back
 */
public record WorkerHistory(History history, List<Silence> silences, boolean deathIsProven, boolean caching) {
    private static final long SHOWN_AFTER = 5_000_000_000L;
    private static final long SHOWN_BEFORE = 10_000_000_000L;

    /**
     * All breaches: of the rules of every history, and of those that compare what two users read on one clock at the
     * moment at which it happened, which no clock that a test moves allows.
     */
    public List<Violation> violations() {
        Stream<Rule> own = Stream.of(new ExpiryBounds(silences, deathIsProven), new TimeToStop());
        return history.violations(Stream.concat(Rules.of(caching).stream(), own).toList());
    }

    /**
     * Checks all rules.
     *
     * @param what the seed and what else repeats it
     * @throws AssertionError that shows the first breach of each broken rule, and what happened to its name around it
     */
    public void check(String what) {
        Map<String, List<Violation>> byRule = violations().stream()
                .collect(Collectors.groupingBy(Violation::rule, TreeMap::new, Collectors.toList()));
        if (!byRule.isEmpty()) {
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

    /** One breach, what happened to its name around it, and who was not heard then. */
    public String show(Violation violation) {
        long zero = violation.holds().get(0).asked();
        return history.show(violation)
                + silences.stream()
                        .filter(silence -> silence.from() - zero < SHOWN_AFTER && zero - silence.from() < SHOWN_BEFORE)
                        .map(silence -> "\n    " + shown(silence, zero))
                        .collect(Collectors.joining());
    }

    private static String shown(Silence silence, long zero) {
        String from = RecordedHold.ms(silence.from(), zero);
        return silence.worker()
                + (silence.ended()
                        ? " killed " + from
                        : " unheard from " + from + " to " + RecordedHold.ms(silence.to(), zero));
    }
}
