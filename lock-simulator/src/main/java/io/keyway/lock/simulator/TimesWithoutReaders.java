// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.service.LockMessage;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * R11: a soft writer that waits for a time without readers is not granted before that time has passed since its request
 * came and since the last reader began, whether its member granted that or a cache did.
 */
final class TimesWithoutReaders implements LeaseOracle {
    private record Asked(LockMessage.Acquire request, long came) {}

    private final LongSupplier now;
    private final Map<Long, Asked> asked = new HashMap<>();
    private final Map<String, Long> lastReaders = new HashMap<>();

    /** @param now real time; clocks of members differ from it by at most 1 % */
    TimesWithoutReaders(LongSupplier now) {
        this.now = now;
    }

    @Override
    public void came(String name, LockMessage.Acquire request) {
        if (request.isSoft()) {
            asked.putIfAbsent(request.request(), new Asked(request, now.getAsLong()));
        }
    }

    @Override
    public void granted(Grant grant) {
        Asked soft = asked.get(grant.request());
        if (soft != null && grant.mode() == LockMode.EXCLUSIVE && grant.from() == 0) {
            judge(grant, soft);
        } else if (grant.mode() == LockMode.SHARED && !grant.isBack() && grant.capacity() > 0) {
            lastReaders.put(grant.name(), now.getAsLong());
        }
    }

    private void judge(Grant grant, Asked soft) {
        long since = Math.max(soft.came(), lastReaders.getOrDefault(grant.name(), soft.came()));
        long passed = now.getAsLong() - since;
        if (passed < soft.request().quiet() / 100 * 98) {
            throw new Violation(
                    "R11",
                    grant + " is a soft writer's that waits for "
                            + Nanos.text(soft.request().quiet()) + " without readers, of which " + Nanos.text(passed)
                            + " have passed");
        }
    }

    @Override
    public void began(Use use) {
        if (use.mode == LockMode.SHARED && use.cached()) {
            lastReaders.put(use.name, now.getAsLong());
        }
    }
}
