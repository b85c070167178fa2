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

    private final @Nullable Believers believers;
    private final Map<String, List<Grant>> standing = new HashMap<>();

    /** What a member granted that leads no more: nobody is served by it, and only what clients believe counts. */
    private final Set<Grant> overtaken = Collections.newSetFromMap(new IdentityHashMap<>());

    private final boolean moves;

    /** @param believers null where clocks break every bound: only what the authority itself decides is judged */
    AuthorityExclusion(@Nullable Believers believers) {
        this(believers, false);
    }

    /** @param moves whether another member takes over from the one that decides */
    AuthorityExclusion(@Nullable Believers believers, boolean moves) {
        this.believers = believers;
        this.moves = moves;
    }

    @Override
    public void granted(Grant grant) {
        List<Grant> others = standing.computeIfAbsent(grant.name(), fresh -> new ArrayList<>(1));
        if (moves) {
            others.removeIf(other -> other.member() != grant.member() && overtaken.add(other));
        }
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
        List<Grant> others = standing.get(grant.name());
        if (others == null || !others.remove(grant)) {
            throw new Violation("R1", grant + " ends and did not stand");
        }
    }
}
