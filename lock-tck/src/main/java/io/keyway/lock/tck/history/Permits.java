// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.history;

import io.keyway.lock.LockMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * R12: no grant of permits is made while so many are out that its caller's capacity would be passed. Counted are those
 * that surely were out from before the request until after the grant.
 */
final class Permits implements Rule {
    private static final String NAME = "R12 permits";

    @Override
    public List<Violation> check(History history) {
        List<Violation> violations = new ArrayList<>();
        for (List<RecordedHold> grants : history.grants().values()) {
            for (RecordedHold grant : grants) {
                if (grant.mode() == LockMode.PERMITS) {
                    check(grant, grants, violations);
                }
            }
        }
        return violations;
    }

    private static void check(RecordedHold grant, List<RecordedHold> all, List<Violation> violations) {
        List<RecordedHold> out = new ArrayList<>(List.of(grant));
        int permits = grant.permits();
        for (RecordedHold other : all) {
            if (other != grant && other.got() < grant.asked() && surelyOut(other, grant.got())) {
                out.add(other);
                permits += other.permits();
            }
        }
        if (permits > grant.capacity()) {
            violations.add(new Violation(
                    NAME,
                    "with the grant of " + grant.permits() + " there were " + permits
                            + " permits out, and its caller had stated " + grant.capacity(),
                    out));
        }
    }

    private static boolean surelyOut(RecordedHold hold, long at) {
        Optional<Interval> had = hold.possession();
        return had.isPresent() && had.get().to() > at;
    }
}
