// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.history;

import java.util.List;

/** What no history may break. */
@FunctionalInterface
public interface Rule {
    /** Every rule that holds on any clock, also on one that a test moves. */
    List<Rule> ALL = List.of(
            new Exclusion("R1 authority exclusion", RecordedHold::possession),
            new Exclusion("R2 belief exclusion", RecordedHold::belief),
            new TokenOrder(),
            new Permits(),
            new LossIsTold());

    /** Returns all breaches; none if the history is good. */
    List<Violation> check(History history);
}
