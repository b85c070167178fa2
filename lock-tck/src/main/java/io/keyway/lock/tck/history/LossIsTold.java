// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.history;

import io.keyway.lock.ReleaseOutcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * R9, with what R8 says of a loss: it is told, once and in time. A lease that is not held any more never is again, says
 * so once through {@code lost()}, and is not released as if nothing had happened.
 */
final class LossIsTold implements Rule {
    private static final String NAME = "R9 loss is told";

    /** What is wrong, and which rule of the book says so. */
    private record Wrong(String law, String text) {}

    @Override
    public List<Violation> check(History history) {
        List<Violation> violations = new ArrayList<>();
        for (RecordedHold hold : history.holds()) {
            if (hold.isGranted()) {
                breach(hold)
                        .ifPresent(
                                wrong -> violations.add(new Violation(NAME, wrong.law(), wrong.text(), List.of(hold))));
            }
        }
        return violations;
    }

    private static Optional<Wrong> breach(RecordedHold hold) {
        if (hold.losses().size() > 1) {
            return Optional.of(new Wrong("LK-802", "told " + hold.losses().size() + " times"));
        }
        if (hold.isUntold()) {
            return Optional.of(new Wrong("LK-802", "not held any more, and never told"));
        }
        boolean gone = false;
        for (HeldAnswer answer : hold.answers()) {
            if (gone && answer.held()) {
                return Optional.of(new Wrong("LK-504", "held again after it was not"));
            }
            if (answer.held() && hold.losses().stream().anyMatch(loss -> loss.at() < answer.before())) {
                return Optional.of(new Wrong("LK-504", "held after its loss was told"));
            }
            if (answer.held() && answer.remaining() > hold.ttl() / 4 * 3) {
                return Optional.of(new Wrong("LK-501", "believed for more than 3/4 ttl from now"));
            }
            // From the call of release on it is not held, and not lost.
            gone |= !answer.held() && !(hold.isReleasing() && answer.after() > hold.releaseCalledAt());
        }
        Optional<ReleaseOutcome> outcome = hold.outcome();
        if (outcome.filter(ReleaseOutcome.RELEASED::equals).isPresent()
                && (gone || !hold.losses().isEmpty())) {
            return Optional.of(new Wrong(
                    hold.losses().stream().anyMatch(loss -> loss.at() > hold.releaseCalledAt()) ? "LK-802" : "LK-707",
                    "lost, and released as if it had been held"));
        }
        return Optional.empty();
    }
}
