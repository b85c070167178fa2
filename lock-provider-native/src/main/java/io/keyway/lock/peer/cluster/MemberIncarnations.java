// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * The lives of the other members, as they introduced themselves. Each start of a member is a life of its own, and none
 * comes back: where a former one answers again, two processes run under one id.
 *
 * @param <L> what tells one life from another
 */
public final class MemberIncarnations<L> {
    private final Map<String, L> current = new HashMap<>();
    private final Map<String, Set<L>> former = new HashMap<>();

    /** A member answered; true if this life of it was over already, which is a reason for an alarm. */
    public boolean returned(String node, L life) {
        L last = current.put(node, life);
        if (last != null && !last.equals(life)) {
            former.computeIfAbsent(node, each -> new HashSet<>()).add(last);
        }
        Set<L> over = former.get(node);
        return over != null && over.remove(life);
    }

    /** Whether this is another life of the member than the one that answered last. */
    public boolean startedAnew(String node, L life) {
        L last = current.get(node);
        return last != null && !last.equals(life);
    }
}
