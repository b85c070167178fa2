// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.simulator.Options.Profile;
import java.util.ArrayList;
import java.util.List;

/** Draws what the users of a lease service do. */
final class LeaseActs {
    private LeaseActs() {}

    static List<Act> of(Options options) {
        if (options.budget() == Options.Budget.AIMED) {
            return new RestartPlanner(options).acts();
        }
        boolean plain = options.profile() != Profile.SHARED && options.profile() != Profile.PERMITS;
        boolean reads = options.profile() == Profile.BAKERY && new Draws(options.seed(), 18).chance(500);
        Draws draws = new Draws(options.seed(), 6);
        List<Act> acts = new ArrayList<>();
        boolean busy = draws.chance(300);
        for (int i = 0; i < options.acts(); i++) {
            long at = draws.below(options.faultPhase());
            int client = (int) draws.between(1, options.clients());
            int user = draws.below(options.users());
            int dice = draws.below(100);
            String verb = reads
                    ? reading(dice)
                    : plain
                            ? dice < 68 ? "lock" : dice < 88 ? "try" : dice < 94 ? "break" : dice < 98 ? "show" : "list"
                            : options.profile() == Profile.SHARED ? shared(dice) : permits(dice);
            int name = Math.min(draws.below(options.names()), draws.below(options.names()));
            long patience = draws.chance(350) ? draws.logarithmic(Nanos.MILLI, 2 * options.maxTtl()) : 0;
            long longest = draws.chance(busy ? 50 : 250) ? 2 * options.maxTtl() : options.maxTtl() / 16;
            acts.add(new Act(at, client, user, verb, name, patience, draws.logarithmic(10 * Nanos.MICRO, longest)));
        }
        return acts;
    }

    /** Of readers and writers that stay what they are. */
    private static String reading(int dice) {
        if (dice < 50) {
            return dice < 34 ? "read" : dice < 40 ? "drain" : "tryread";
        }
        return dice < 76 ? "lock" : dice < 90 ? "try" : asks(dice);
    }

    private static String shared(int dice) {
        if (dice < 40) {
            return dice < 28 ? "read" : dice < 32 ? "drain" : "tryread";
        }
        if (dice < 60) {
            return dice < 54 ? "lock" : "try";
        }
        return dice < 74 ? "upgrade" : dice < 80 ? "tryupgrade" : dice < 90 ? "downgrade" : asks(dice);
    }

    private static String permits(int dice) {
        return dice < 66 ? "take" : dice < 90 ? "trytake" : asks(dice);
    }

    private static String asks(int dice) {
        return dice < 95 ? "break" : dice < 98 ? "show" : "list";
    }
}
