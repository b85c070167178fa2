// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import java.util.IdentityHashMap;

/** R9: each hold ends once for its user: released, or lost with a cause. Nothing is told of it afterwards. */
final class OneEnd implements LeaseOracle {
    private final IdentityHashMap<Use, Use.Finish> ends = new IdentityHashMap<>();

    @Override
    public void began(Use use) {
        if (ends.put(use, Use.Finish.UNKNOWN) != null) {
            throw new Violation("R9", use + " begins twice");
        }
    }

    @Override
    public void finished(Use use, Use.Finish how) {
        if (ends.remove(use) == null) {
            throw new Violation("R9", use + " ends again: " + how);
        }
    }
}
