// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.history;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * R9 for the locks of a transaction, which are believed together: when one of them is not held any more, or its loss
 * was told, none of the others is said to be held afterwards.
 */
final class LossOfAll implements Rule {
    private static final String NAME = "R9 loss of all";

    private record Transaction(String worker, long number) {}

    /** A lock that was gone, and when that had been said. */
    private record Gone(RecordedHold hold, long at) {}

    @Override
    public List<Violation> check(History history) {
        Map<Transaction, List<RecordedHold>> transactions = history.holds().stream()
                .filter(hold -> hold.isGranted() && hold.transaction() != 0)
                .collect(Collectors.groupingBy(hold -> new Transaction(hold.worker(), hold.transaction())));
        List<Violation> violations = new ArrayList<>();
        transactions.values().forEach(each -> check(each, violations));
        return violations;
    }

    private static void check(Collection<RecordedHold> together, List<Violation> violations) {
        List<Gone> gone = new ArrayList<>();
        for (RecordedHold hold : together) {
            hold.losses().forEach(loss -> gone.add(new Gone(hold, loss.at())));
            hold.answers().stream()
                    .filter(answer -> !answer.held())
                    .filter(answer -> !hold.isReleasing() || answer.after() <= hold.releaseCalledAt())
                    .forEach(answer -> gone.add(new Gone(hold, answer.after())));
        }
        for (Gone first : gone) {
            for (RecordedHold other : together) {
                if (other != first.hold()
                        && other.answers().stream().anyMatch(answer -> answer.held() && answer.before() > first.at())) {
                    violations.add(new Violation(
                            NAME,
                            "LK-1909",
                            first.hold().name() + " was gone, and " + other.name()
                                    + " of the same transaction was held after that",
                            List.of(other, first.hold())));
                    return;
                }
            }
        }
    }
}
