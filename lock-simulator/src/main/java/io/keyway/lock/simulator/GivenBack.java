// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * R17 and R18: when the authority has heard that a session gives a token back, no grant of that session has it any
 * more; and when it has heard that one withdraws a request, none has come of it.
 */
final class GivenBack implements LeaseOracle {
    private final Map<String, List<Grant>> standing = new HashMap<>();

    @Override
    public void granted(Grant grant) {
        standing.computeIfAbsent(grant.name(), fresh -> new ArrayList<>(1)).add(grant);
    }

    @Override
    public void ended(Grant grant, Grant.End how) {
        standing.getOrDefault(grant.name(), List.of()).remove(grant);
    }

    @Override
    public void released(String name, int member, long session, long token) {
        for (Grant grant : standing.getOrDefault(name, List.of())) {
            if (grant.is(member, session) && grant.covers(token)) {
                throw new Violation("R17", grant + " stands, and its client has given token " + token + " back");
            }
        }
    }

    @Override
    public void withdrawn(String name, int member, long session, long request) {
        for (Grant grant : standing.getOrDefault(name, List.of())) {
            if (grant.is(member, session) && grant.request() == request) {
                throw new Violation("R18", grant + " stands, and its client has withdrawn request " + request);
            }
        }
    }
}
