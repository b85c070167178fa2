// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * R20: a lock that is to be held at least for some time, and that somebody used, is nobody else's before that time has
 * passed since its grant, unless somebody broke it or may hold together with it.
 */
final class HeldAtLeast implements LeaseOracle {
    /** A grant that asked for such a time; {@code until} in real time. */
    private static final class Place {
        final Grant grant;
        final long until;
        boolean used;

        Place(Grant grant, long until) {
            this.grant = grant;
            this.until = until;
        }
    }

    private final LongSupplier now;
    private final Map<String, List<Place>> places = new HashMap<>();

    /** @param now real time; clocks of members differ from it by at most 1 % */
    HeldAtLeast(LongSupplier now) {
        this.now = now;
    }

    @Override
    public void granted(Grant grant) {
        List<Place> kept = places.get(grant.name());
        if (kept != null) {
            if (isAgain(kept, grant)) {
                return;
            }
            for (int i = 0; i < kept.size(); i++) {
                judge(kept.get(i), grant);
            }
            kept.removeIf(place -> now.getAsLong() >= place.until
                    || (!place.used && !Grant.together(place.grant.mode(), grant.mode())));
        }
        if (grant.atLeast() > 0) {
            long until = now.getAsLong() + grant.atLeast() / 100 * 98;
            places.computeIfAbsent(grant.name(), fresh -> new ArrayList<>(1)).add(new Place(grant, until));
        }
    }

    private static boolean isAgain(List<Place> kept, Grant grant) {
        return kept.stream().anyMatch(place -> place.grant.token() == grant.token());
    }

    private void judge(Place place, Grant grant) {
        boolean together = Grant.together(place.grant.mode(), grant.mode());
        if (place.used && !together && now.getAsLong() < place.until) {
            throw new Violation(
                    "R20",
                    grant + " is granted " + Nanos.text(place.until - now.getAsLong()) + " before the end of "
                            + place.grant);
        }
    }

    @Override
    public void began(Use use) {
        for (Place place : places.getOrDefault(use.name, List.of())) {
            place.used |= place.grant.token() == use.token;
        }
    }

    @Override
    public void breaking(String name, long token) {
        List<Place> kept = places.get(name);
        if (kept != null) {
            kept.removeIf(place -> place.grant.token() == token);
        }
    }
}
