// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.bakery;

import io.keyway.lock.peer.election.View;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.StateEncoder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The members as those that ask a leader of the bakery: those of the list of the latest view that this one knows, and
 * former ones, which are heard only about what they may still hold.
 */
final class LeaderHomes {
    /** A member as one that asks. */
    static final class Home {
        final String member;
        /** Its number by the latest view; 0 if it is in the list no more. */
        int process;
        /** It has said all that it asks for since the leader got its seat, and has had its number since then. */
        boolean met;

        long life;
        long meeting;

        @Nullable
        Peer peer;

        Home(String member) {
            this.member = member;
        }
    }

    private final Map<String, Home> homes = new LinkedHashMap<>();

    /** Null if it was never in the list. */
    @Nullable
    Home get(String member) {
        return homes.get(member);
    }

    /** All members of the list. */
    List<String> listed() {
        List<String> listed = new ArrayList<>(homes.size());
        for (Home home : homes.values()) {
            if (home.process > 0) {
                listed.add(home.member);
            }
        }
        return listed;
    }

    /** Those have the numbers of that view, and none of them has been met that had another one. */
    List<Home> renumbered(View view) {
        for (String member : view.members()) {
            homes.computeIfAbsent(member, Home::new);
        }
        List<Home> changed = new ArrayList<>();
        for (Home home : homes.values()) {
            int now = view.number(home.member);
            if (home.process != now) {
                home.process = now;
                home.met = false;
                changed.add(home);
            }
        }
        return changed;
    }

    /** Another leader's seat, or none: all have to begin anew. */
    void unmeet() {
        homes.values().forEach(home -> home.met = false);
    }

    LeaderHomes copy() {
        LeaderHomes copy = new LeaderHomes();
        homes.forEach((member, home) -> {
            Home twin = new Home(member);
            twin.process = home.process;
            twin.met = home.met;
            twin.life = home.life;
            twin.meeting = home.meeting;
            twin.peer = home.peer;
            copy.homes.put(member, twin);
        });
        return copy;
    }

    void encode(StateEncoder out) {
        out.put(homes.size());
        homes.forEach((member, home) -> {
            out.put(member)
                    .put(home.process)
                    .put(home.met)
                    .put(home.life)
                    .put(home.meeting)
                    .value(home.peer);
        });
    }
}
