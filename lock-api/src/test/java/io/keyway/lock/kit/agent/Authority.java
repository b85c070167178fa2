// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit.agent;

import io.keyway.lock.LockMode;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** A model of who decides about one lock: first come, first served, readers together. */
final class Authority {
    record Grant(int user, long token, LockMode mode) {}

    record Wait(int user, long request, LockMode mode) {}

    final List<Grant> grants = new ArrayList<>();
    final List<Wait> queue = new ArrayList<>();

    /** Whom that request waits for; empty if it does not wait. */
    List<Object> inTheWayOf(int user, long request) {
        List<Object> blockers = new ArrayList<>();
        Wait wait = find(user, request);
        if (wait == null) {
            return blockers;
        }
        for (Grant grant : grants) {
            if (excludes(grant.mode(), wait.mode())) {
                blockers.add(grant);
            }
        }
        for (Wait ahead : queue) {
            if ((!blockers.isEmpty() && blockers.get(0) instanceof Grant) || ahead.equals(wait)) {
                break;
            }
            if (excludes(ahead.mode(), wait.mode())) {
                blockers.add(ahead);
            }
        }
        return blockers;
    }

    private Wait find(int user, long request) {
        for (Wait wait : queue) {
            if (wait.user() == user && wait.request() == request) {
                return wait;
            }
        }
        return null;
    }

    private static boolean excludes(LockMode one, LockMode other) {
        return one != LockMode.SHARED || other != LockMode.SHARED;
    }

    void withdraw(int user, long request) {
        queue.removeIf(wait -> wait.user() == user && wait.request() == request);
    }

    void release(int user, long token) {
        grants.removeIf(grant -> grant.user() == user && grant.token() == token);
    }

    /** The requests whose turn has come. */
    List<Wait> next() {
        List<Wait> granted = new ArrayList<>();
        boolean free = grants.isEmpty();
        boolean readers = !free && grants.stream().allMatch(grant -> grant.mode() == LockMode.SHARED);
        for (Iterator<Wait> all = queue.iterator(); all.hasNext(); ) {
            Wait wait = all.next();
            if (!free && !(readers && wait.mode() == LockMode.SHARED)) {
                break;
            }
            all.remove();
            granted.add(wait);
            free = false;
            readers = wait.mode() == LockMode.SHARED;
        }
        return granted;
    }
}
