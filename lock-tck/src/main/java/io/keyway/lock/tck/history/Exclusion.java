// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.history;

import io.keyway.lock.LockMode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Of two grants of one name that exclude each other, one ends before the other begins. R1 asks when the authority had
 * the grants, as far as users can tell; R2 when users believed. Sorts, then scans: n log n.
 *
 * @param name of the rule
 * @param interval when a grant surely was there
 */
record Exclusion(String name, Function<RecordedHold, Optional<Interval>> interval) implements Rule {
    private record Span(RecordedHold hold, Interval interval) {}

    @Override
    public List<Violation> check(History history) {
        List<Violation> violations = new ArrayList<>();
        for (List<RecordedHold> grants : history.grants().values()) {
            List<Span> spans = new ArrayList<>();
            grants.forEach(hold -> interval.apply(hold).ifPresent(found -> spans.add(new Span(hold, found))));
            spans.sort(Comparator.comparingLong(span -> span.interval().from()));
            Span longest = null;
            Span longestExclusive = null;
            for (Span span : spans) {
                Span before = span.hold().mode() == LockMode.EXCLUSIVE ? longest : longestExclusive;
                if (before != null
                        && span.interval().from() <= before.interval().to()) {
                    violations.add(new Violation(
                            name, "two had " + span.hold().name() + " at once", List.of(before.hold(), span.hold())));
                }
                longest = later(longest, span);
                if (span.hold().mode() == LockMode.EXCLUSIVE) {
                    longestExclusive = later(longestExclusive, span);
                }
            }
        }
        return violations;
    }

    private static Span later(@Nullable Span one, Span other) {
        return one == null || other.interval().to() > one.interval().to() ? other : one;
    }
}
