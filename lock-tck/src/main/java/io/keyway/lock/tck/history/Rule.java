// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.history;

import java.util.List;
import java.util.stream.Stream;

/** What no history may break. */
interface Rule {
    /** Every rule. */
    List<Rule> ALL = List.of(
            new Exclusion("R1 authority exclusion", RecordedHold::possession),
            new Exclusion("R2 belief exclusion", RecordedHold::belief),
            new TokenOrder(),
            new Permits(),
            new ExpiryBounds(),
            new LossIsTold());

    /**
     * Every rule, and those that compare what two users read on one clock at the moment at which it happened: on a
     * clock that a test moves, time stands still for users while it is moved.
     */
    List<Rule> ON_THE_MACHINES_CLOCK =
            Stream.concat(ALL.stream(), Stream.of(new TimeToStop())).toList();

    /** Returns all breaches; none if the history is good. */
    List<Violation> check(History history);
}
