// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.journal;

import io.keyway.lock.tck.history.HeldAnswer;
import io.keyway.lock.tck.history.History;
import io.keyway.lock.tck.history.RecordedHold;
import io.keyway.lock.tck.history.Rule;
import io.keyway.lock.tck.history.Violation;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * R7: a holder that cannot be heard loses its lock neither too early nor without noticing. Let it be unheard from
 * {@code s} on, and let its last answer before be that {@code remaining} of belief is left. No grant that excludes its
 * own is handed out within {@code remaining + ttl/4}, since the authority counts a full ttl from a message that was
 * sent 3/4 ttl before belief ends. And it does not believe after {@code s + 3/4 ttl}: what it had sent by then cannot
 * carry it further.
 *
 * @param silences when workers could not be heard
 * @param deathIsProven the authority may free the locks of a dead process at once
 */
record ExpiryBounds(List<Silence> silences, boolean deathIsProven) implements Rule {
    private static final String NAME = "R7 expiry bounds";

    @Override
    public List<Violation> check(History history) {
        List<Violation> violations = new ArrayList<>();
        Map<String, List<RecordedHold>> grants = history.grants();
        for (Silence silence : silences) {
            for (RecordedHold hold : history.holds()) {
                if (hold.worker().equals(silence.worker()) && hold.isGranted() && hold.got() <= silence.from()) {
                    beliefEnds(hold, silence, violations);
                    if (!silence.ended() || !deathIsProven) {
                        nobodyElseTooEarly(hold, silence, grants.getOrDefault(hold.name(), List.of()), violations);
                    }
                }
            }
        }
        return violations;
    }

    private static void beliefEnds(RecordedHold hold, Silence silence, List<Violation> violations) {
        long end = silence.from() + hold.ttl() / 4 * 3;
        if (silence.to() <= end) {
            return;
        }
        for (HeldAnswer answer : hold.answers()) {
            if (answer.held() && answer.before() > end) {
                violations.add(new Violation(
                        NAME, "believed more than 3/4 ttl after it was heard for the last time", List.of(hold)));
                return;
            }
        }
    }

    private static void nobodyElseTooEarly(
            RecordedHold hold, Silence silence, List<RecordedHold> sameName, List<Violation> violations) {
        boolean endedBefore = (hold.isReleasing() && hold.releaseCalledAt() <= silence.from())
                || hold.losses().stream().anyMatch(loss -> loss.at() <= silence.from());
        HeldAnswer last = null;
        for (HeldAnswer answer : hold.answers()) {
            if (answer.before() <= silence.from()) {
                last = answer;
            }
        }
        // A lease that had lapsed by then may have been given back unheard of.
        if (endedBefore || last == null || !last.held() || last.before() + last.remaining() <= silence.from()) {
            return;
        }
        long earliest = Math.min(silence.to(), last.before() + last.remaining() + hold.ttl() / 4);
        for (RecordedHold other : sameName) {
            if (!other.worker().equals(hold.worker())
                    && other.excludes(hold)
                    && other.token() > hold.token()
                    && other.got() < earliest) {
                violations.add(new Violation(
                        NAME,
                        "granted " + RecordedHold.ms(earliest, other.got())
                                + " ms before the ttl of the last holder was over",
                        List.of(hold, other)));
            }
        }
    }
}
