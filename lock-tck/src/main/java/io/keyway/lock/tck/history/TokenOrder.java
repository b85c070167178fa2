// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.history;

import io.keyway.lock.LockMode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * R5: each grant of a name has a token of its own, and tokens rise in the order of grants. The order of two grants is
 * known if one was asked for after the other was in hand, or if they exclude each other and both were surely there
 * once.
 *
 * @param caching clients may keep what they gave back, with tokens for the next: then only those rise that exclude each
 *     other
 */
record TokenOrder(boolean caching) implements Rule {
    private static final String NAME = "R5 tokens";

    @Override
    public List<Violation> check(History history) {
        List<Violation> violations = new ArrayList<>();
        for (List<RecordedHold> grants : history.grants().values()) {
            unique(grants, violations);
            risingByRequest(grants, violations);
            risingByPossession(grants, violations);
        }
        return violations;
    }

    private static void unique(List<RecordedHold> grants, List<Violation> violations) {
        Map<Long, RecordedHold> byToken = new HashMap<>();
        for (RecordedHold hold : grants) {
            RecordedHold other = byToken.put(hold.token(), hold);
            if (other != null) {
                violations.add(
                        new Violation(NAME, "LK-601", "two grants have token " + hold.token(), List.of(other, hold)));
            }
        }
    }

    private void risingByRequest(List<RecordedHold> grants, List<Violation> violations) {
        List<RecordedHold> byRequest = new ArrayList<>(grants);
        byRequest.sort(Comparator.comparingLong(RecordedHold::asked));
        int next = 0;
        RecordedHold highest = null;
        RecordedHold highestExclusive = null;
        for (RecordedHold hold : byRequest) {
            for (; next < grants.size() && grants.get(next).got() < hold.asked(); next++) {
                RecordedHold before = grants.get(next);
                highest = higher(highest, before);
                if (before.mode() == LockMode.EXCLUSIVE) {
                    highestExclusive = higher(highestExclusive, before);
                }
            }
            boolean all = !caching || hold.mode() == LockMode.EXCLUSIVE;
            compare(all ? highest : highestExclusive, hold, violations);
        }
    }

    private static void risingByPossession(List<RecordedHold> grants, List<Violation> violations) {
        List<RecordedHold> sure = new ArrayList<>(
                grants.stream().filter(hold -> hold.possession().isPresent()).toList());
        sure.sort(
                Comparator.comparingLong(hold -> hold.possession().orElseThrow().from()));
        RecordedHold highest = null;
        RecordedHold highestExclusive = null;
        for (RecordedHold hold : sure) {
            compare(hold.mode() == LockMode.EXCLUSIVE ? highest : highestExclusive, hold, violations);
            highest = higher(highest, hold);
            if (hold.mode() == LockMode.EXCLUSIVE) {
                highestExclusive = higher(highestExclusive, hold);
            }
        }
    }

    private static RecordedHold higher(@Nullable RecordedHold one, RecordedHold other) {
        return one == null || other.token() > one.token() ? other : one;
    }

    private static void compare(@Nullable RecordedHold before, RecordedHold after, List<Violation> violations) {
        if (before != null && after.token() < before.token()) {
            violations.add(new Violation(
                    NAME, "token " + after.token() + " was granted after " + before.token(), List.of(before, after)));
        }
    }
}
