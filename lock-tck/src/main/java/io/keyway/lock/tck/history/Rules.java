// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.history;

import java.util.List;

/** The rules that no history may break. */
public final class Rules {
    /** Every rule that holds on any clock, also on one that a test moves. */
    public static final List<Rule> ALL = of(false);

    private Rules() {}

    /** As {@link #ALL}, for a provider that does, or does not, declare CACHING. */
    public static List<Rule> of(boolean caching) {
        return List.of(
                new Exclusion("R1 authority exclusion", RecordedHold::possession),
                new Exclusion("R2 belief exclusion", RecordedHold::belief),
                new TokenOrder(caching),
                new Permits(),
                new LossIsTold(),
                new LossOfAll());
    }
}
