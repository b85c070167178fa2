// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.journal;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.tck.history.HeldAnswer;
import io.keyway.lock.tck.history.History;
import io.keyway.lock.tck.history.RecordedHold;
import io.keyway.lock.tck.history.Rule;
import io.keyway.lock.tck.history.Violation;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * R3: whoever loses a lease because its time is over has a quarter of the ttl to stop before another is granted, unless
 * it says earlier that it has stopped. Its deadline was no earlier than its last answer says that was "held"; a loss
 * that was told before that came from the store, which no longer knew the lease. Nothing is known of the deadline of a
 * transaction, which does not say how much is left.
 */
final class TimeToStop implements Rule {
    private static final String NAME = "R3 time to stop";

    /** Clocks of machines may differ by so much. */
    private static final int TOLERANCE = 50;

    @Override
    public List<Violation> check(History history) {
        List<Violation> violations = new ArrayList<>();
        Map<String, List<RecordedHold>> grants = history.grants();
        for (RecordedHold hold : history.holds()) {
            if (hold.isGranted()) {
                check(hold, grants.getOrDefault(hold.name(), List.of()), violations);
            }
        }
        return violations;
    }

    private static void check(RecordedHold hold, List<RecordedHold> sameName, List<Violation> violations) {
        HeldAnswer last = null;
        for (HeldAnswer answer : hold.answers()) {
            if (answer.held()) {
                last = answer;
            }
        }
        if (last == null || last.remaining() == 0) {
            return;
        }
        long deadline = last.before() + last.remaining();
        if (hold.losses().stream()
                .noneMatch(loss -> loss.cause() == LeaseLoss.Cause.EXPIRED && loss.at() >= deadline)) {
            return;
        }
        long earliest = deadline + hold.ttl() / 4 - hold.ttl() / TOLERANCE;
        if (hold.isReleasing()) {
            earliest = Math.min(earliest, hold.releaseCalledAt());
        }
        for (RecordedHold other : sameName) {
            if (other != hold && other.excludes(hold) && other.token() > hold.token() && other.got() < earliest) {
                violations.add(new Violation(
                        NAME,
                        "granted " + RecordedHold.ms(other.got(), deadline)
                                + " ms after the deadline of one that had lost it, which had not said that it has "
                                + "stopped",
                        List.of(hold, other)));
                return;
            }
        }
    }
}
