// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import static org.assertj.core.api.Assertions.assertThat;

/** What is left of a run that found something broken on purpose. */
final class Shrunk {
    /** Nobody reads more. */
    private static final int MOST = 30;

    private Shrunk() {}

    /** That it is small; how small, is printed for the table of docs/explorer.md. */
    @SuppressWarnings("SystemOut")
    static void isSmall(Enum<?> undone, RunResult small) {
        Violation violation = small.violation();
        assertThat(violation).isNotNull();
        System.out.println(undone.getDeclaringClass().getSimpleName() + "." + undone.name() + ": "
                + violation.property() + " after " + small.plan().size() + " faults and operations");
        assertThat(small.plan().size()).as(small.plan().toString()).isLessThanOrEqualTo(MOST);
    }
}
