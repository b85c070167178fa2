// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.LockMode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * R12: no permits are granted beyond the capacity that their request states: neither beside those that stand at the
 * authority, nor beside those that clients still believe in; and no user begins to use a permit, cached or not, while
 * more are in use than it says there are. What is granted already is never too much.
 */
final class PermitBounds implements LeaseOracle {
    /** Knows what clients can still use, whatever the authority thinks of it. */
    interface Believed {
        /** How many permits of that semaphore are believed in, cached ones too, but for the grant of that token. */
        long believed(String name, long except);
    }

    private final @Nullable Believed clients;
    private final Map<String, List<Grant>> standing = new HashMap<>();
    private final Map<String, List<Use>> uses = new HashMap<>();

    /** @param clients null where clocks break every bound: only what the authority itself decides is judged */
    PermitBounds(@Nullable Believed clients) {
        this.clients = clients;
    }

    @Override
    public void granted(Grant grant) {
        if (grant.mode() != LockMode.PERMITS) {
            return;
        }
        List<Grant> others = standing.computeIfAbsent(grant.name(), fresh -> new ArrayList<>());
        others.add(grant);
        if (grant.capacity() == 0) {
            return; // re-asserted: there were enough when it was granted
        }
        long out = 0;
        for (int i = 0; i < others.size(); i++) {
            out += others.get(i).permits();
        }
        if (out > grant.capacity()) {
            throw new Violation("R12", grant + " is granted, and " + out + " permits are out: " + others);
        }
        long believed = clients == null ? 0 : clients.believed(grant.name(), grant.token()) + grant.permits();
        if (believed > grant.capacity()) {
            throw new Violation("R12", grant + " is granted, and with it " + believed + " permits can be used");
        }
    }

    @Override
    public void ended(Grant grant, Grant.End how) {
        if (grant.mode() == LockMode.PERMITS) {
            standing.computeIfAbsent(grant.name(), fresh -> new ArrayList<>()).remove(grant);
        }
    }

    @Override
    public void began(Use use) {
        if (use.mode != LockMode.PERMITS) {
            return;
        }
        List<Use> all = uses.computeIfAbsent(use.name, fresh -> new ArrayList<>());
        all.add(use);
        long believed = 0;
        for (int i = 0; clients != null && i < all.size(); i++) {
            Use each = all.get(i);
            // What was granted after it, in a larger view, may be told sooner; a cache serves what is there by then.
            boolean counts = use.cached() || each.token <= use.token;
            believed += counts && each.believes() ? each.permits : 0;
        }
        if (believed > use.capacity) {
            throw new Violation("R12", use + " begins, and " + believed + " permits are in use: " + all);
        }
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
        List<Use> all = uses.get(use.name);
        if (all != null) {
            all.remove(use);
        }
    }
}
