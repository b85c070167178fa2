// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * R1: at the authority the grants of one name that exclude each other follow each other without overlap. Where clocks
 * can be trusted, a grant that the authority forgot in a restart stands until its client can no longer make use of it.
 */
final class AuthorityExclusion implements LeaseOracle {
    /** Knows what clients could still do with a grant, whatever the authority thinks of it. */
    interface Believers {
        /**
         * A client that believes in a grant of the name that excludes that one, or keeps it cached and would, other
         * than its client by grants of its member; null if there is none.
         */
        @Nullable
        String otherThan(Grant grant);
    }

    /** Knows which member the word of another one ends. */
    interface Standing {
        /** Whether that grant still counts when the later one is made; if not, only what its client believes counts. */
        boolean stands(Grant earlier, Grant later);
    }

    private final @Nullable Believers believers;
    private final Standing standing;
    private final Map<String, List<Grant>> grants = new HashMap<>();

    /** What did not count any more when another member granted the name. */
    private final Set<Grant> overtaken = Collections.newSetFromMap(new IdentityHashMap<>());

    /** @param believers null where clocks break every bound: only what the authority itself decides is judged */
    AuthorityExclusion(@Nullable Believers believers, Standing standing) {
        this.believers = believers;
        this.standing = standing;
    }

    @Override
    public void granted(Grant grant) {
        List<Grant> others = grants.computeIfAbsent(grant.name(), fresh -> new ArrayList<>(1));
        others.removeIf(other -> !standing.stands(other, grant) && overtaken.add(other));
        for (int i = 0; i < others.size(); i++) {
            if (!Grant.together(others.get(i).mode(), grant.mode())) {
                throw new Violation("R1", grant + " is granted while " + others + " stands");
            }
        }
        others.add(grant);
        String believer = believers == null ? null : believers.otherThan(grant);
        if (believer != null) {
            throw new Violation("R1", grant + " is granted while " + believer + " can use an earlier grant");
        }
    }

    @Override
    public void ended(Grant grant, Grant.End how) {
        if (overtaken.remove(grant)) {
            return;
        }
        List<Grant> others = grants.get(grant.name());
        if (others == null || !others.remove(grant)) {
            throw new Violation("R1", grant + " ends and did not stand");
        }
    }
}
