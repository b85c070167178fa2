// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.history;

import java.util.List;

/** What no history may break. */
interface Rule {
    /** Every rule. */
    List<Rule> ALL = List.of(
            new Exclusion("R1 authority exclusion", Hold::possession),
            new Exclusion("R2 belief exclusion", Hold::belief),
            new TokenOrder(),
            new Permits(),
            new ExpiryBounds(),
            new LossIsTold());

    /** Returns all breaches; none if the history is good. */
    List<Violation> check(History history);
}
