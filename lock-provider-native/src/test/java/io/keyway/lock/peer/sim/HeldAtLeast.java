// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.sim;

import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * R20: a lock that is to be held at least for some time, and that somebody used, is nobody else's before that time has
 * passed since its grant, unless somebody broke it.
 */
final class HeldAtLeast implements LeaseOracle {
    /** The last grant of a name that asked for such a time; {@code until} in real time. */
    private record Place(Grant grant, long until, boolean used) {}

    private final LongSupplier now;
    private final Map<String, Place> places = new HashMap<>();

    /** @param now real time; clocks of members differ from it by at most 1 % */
    HeldAtLeast(LongSupplier now) {
        this.now = now;
    }

    @Override
    public void granted(Grant grant) {
        Place before = places.get(grant.name());
        if (before != null && before.grant().token() == grant.token()) {
            return; // re-asserted
        }
        if (before != null && before.used() && now.getAsLong() < before.until()) {
            throw new Violation(
                    "R20",
                    grant + " is granted " + Nanos.text(before.until() - now.getAsLong()) + " before the end of "
                            + before.grant());
        }
        if (grant.atLeast() > 0) {
            long until = now.getAsLong() + grant.atLeast() / 100 * 98;
            places.put(grant.name(), new Place(grant, until, false));
        } else {
            places.remove(grant.name());
        }
    }

    @Override
    public void began(Use use) {
        places.computeIfPresent(
                use.name,
                (name, place) ->
                        place.grant().token() == use.token ? new Place(place.grant(), place.until(), true) : place);
    }

    @Override
    public void breaking(String name, long token) {
        places.computeIfPresent(name, (same, place) -> place.grant().token() == token ? null : place);
    }
}
