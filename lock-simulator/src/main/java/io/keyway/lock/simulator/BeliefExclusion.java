// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * R2: at no time do two users believe that they hold the same lock, if their modes exclude each other. Belief begins or
 * grows only when its client has an event, so that is when to look.
 */
final class BeliefExclusion implements LeaseOracle {
    private final Map<String, List<Use>> uses = new HashMap<>();

    @Override
    public void began(Use use) {
        uses.computeIfAbsent(use.name, fresh -> new ArrayList<>(2)).add(use);
        judge(use);
    }

    @Override
    public void releasing(Use use) {
        forget(use);
    }

    @Override
    public void finished(Use use, Use.Finish how) {
        forget(use);
    }

    private void forget(Use use) {
        List<Use> same = uses.get(use.name);
        if (same != null) {
            same.remove(use);
        }
    }

    @Override
    public void looked(int client, List<Use> looking) {
        for (int i = 0; i < looking.size(); i++) {
            judge(looking.get(i));
        }
    }

    private void judge(Use use) {
        List<Use> same = uses.get(use.name);
        if (same == null || same.size() < 2 || !use.believes()) {
            return;
        }
        for (int i = 0; i < same.size(); i++) {
            Use other = same.get(i);
            if (other != use && !Grant.together(use.mode, other.mode) && other.believes()) {
                throw new Violation("R2", "two believe: " + use + ", and " + other);
            }
        }
    }
}
