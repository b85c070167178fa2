// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.simulator.Fault.Kind;
import io.keyway.lock.simulator.Options.Budget;
import io.keyway.lock.simulator.Options.Profile;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Random;

/** Draws the faults of a world within its budget. */
final class FaultPlanner {
    private static final Kind[] OF_LINKS = {
        Kind.DELAY,
        Kind.LOSS,
        Kind.DUPLICATION,
        Kind.REORDERING,
        Kind.CUT,
        Kind.CUT,
        Kind.CUT_TO_MEMBER,
        Kind.CUT_TO_CLIENT,
        Kind.RESET
    };

    /** Shorter sleeps are within what the rates of clocks may be off by, or what one client cannot see. */
    private static final long SHORTEST_SLEEP = 120 * Nanos.MILLI;

    private static final int MOST_TRIES = 10_000;

    private final Options options;
    private final Draws draws;
    private final List<Fault> faults = new ArrayList<>();

    private FaultPlanner(Options options) {
        this.options = options;
        this.draws = new Draws(options.seed(), 2);
    }

    static List<Fault> plan(Options options) {
        if (options.budget() == Budget.AIMED) {
            return new RestartPlanner(options).faults();
        }
        FaultPlanner planner = new FaultPlanner(options);
        if (options.members() > 1
                && options.profile() != Profile.COUNTER
                && !options.profile().attaches()) {
            planner.faults.addAll(ListPlanner.plan(options));
        }
        if (options.members() == 1 && isOfModes(options.profile())) {
            planner.handOvers();
        }
        if (options.profile().elects()) {
            planner.lostMembers();
        }
        while (planner.faults.size() < options.faults()) {
            planner.add();
        }
        if (options.profile() == Profile.FAILOVER) {
            planner.seatsLeft();
        }
        planner.faults.sort(Comparator.comparingLong(Fault::at));
        return planner.faults;
    }

    /**
     * Faults of those kinds, in their numbers, as the seed draws them.
     *
     * @throws IllegalArgumentException if a kind does not happen in such a world
     */
    static List<Fault> plan(Options options, List<Kind> kinds) {
        FaultPlanner planner = new FaultPlanner(options.with("budget", Budget.RESTARTS.toString()));
        List<Fault> planned = new ArrayList<>();
        List<Kind> missing = new ArrayList<>(kinds);
        for (int tries = 0; !missing.isEmpty() && tries < MOST_TRIES; tries++) {
            planner.faults.clear();
            planner.add();
            if (isOfModes(options.profile()) && options.members() == 1) {
                planner.faults.add(new Fault(Kind.HAND_OVER, planner.start(), Nanos.MILLI, 0, 0));
            }
            for (Fault fault : planner.faults) {
                if (missing.remove(fault.kind())) {
                    planned.add(fault);
                }
            }
        }
        if (!missing.isEmpty()) {
            throw new IllegalArgumentException(missing.get(0) + " does not happen in this world");
        }
        planned.sort(Comparator.comparingLong(Fault::at));
        return planned;
    }

    static boolean isOfModes(Profile profile) {
        return profile == Profile.SHARED || profile == Profile.PERMITS;
    }

    private void handOvers() {
        Draws own = new Draws(options.seed(), 15);
        for (int i = own.chance(300) ? 1 + own.below(3) : 0; i > 0; i--) {
            long at = own.below(options.faultPhase());
            long down = own.logarithmic(Nanos.MILLI, options.maxTtl() / 4);
            faults.add(new Fault(Kind.HAND_OVER, at, down, 0, 0));
        }
    }

    /** Away for so long that another leader is elected. */
    private void lostMembers() {
        Draws own = new Draws(options.seed(), 17);
        for (int i = own.below(3); i > 0; i--) {
            int member = -own.below(options.members());
            long length = own.between(3, 6) * options.maxTtl();
            long at = own.below(options.faultPhase());
            if (own.chance(300) && options.budget() != Budget.STEADY) {
                faults.add(new Fault(Kind.CRASH, at, length, member, 0));
            } else {
                // Not PAUSE: see pause().
                Kind kind = own.one(Kind.CUT, Kind.CUT, Kind.CUT_TO_MEMBER, Kind.CUT_TO_CLIENT);
                faults.add(new Fault(kind, at, length, member, Fault.ALL, 0));
            }
        }
    }

    /** In one world of three; also at once after something else, when not all is well again. */
    private void seatsLeft() {
        Draws own = new Draws(options.seed(), 26);
        for (int i = own.chance(330) ? 1 + own.below(6) : 0; i > 0; i--) {
            long at = own.chance(500)
                    ? own.below(options.faultPhase())
                    : faults.get(own.below(faults.size())).at();
            for (int member = 0; member < options.members(); member++) {
                long later = own.logarithmic(Nanos.MILLI, options.maxTtl() / 4);
                faults.add(new Fault(Kind.LEAVE_SEAT, at + later, Nanos.MILLI, -member, 0));
            }
        }
    }

    private void add() {
        int dice = draws.below(100);
        if (options.members() > 1 && draws.chance(350)) {
            ofCluster();
        } else if (dice < 45) {
            link(OF_LINKS[draws.below(OF_LINKS.length)], client(), start(), length());
        } else if (dice < 52) {
            swizzle();
        } else if (dice < 66) {
            faults.add(new Fault(Kind.PAUSE, start(), length(), client(), 0));
        } else if (dice < 76) {
            faults.add(new Fault(Kind.CRASH, start(), length(), client(), options.members() > 1 ? 0 : draws.below(2)));
        } else if (dice < 80) {
            faults.add(new Fault(Kind.CLOSE, start(), length(), client(), 0));
        } else if (dice < 85) {
            faults.add(
                    new Fault(Kind.SLOW_DISK, start(), length(), 0, draws.logarithmic(Nanos.MILLI, options.maxTtl())));
        } else if (dice < 91) {
            clock();
        } else if (dice < 95) {
            faults.add(new Fault(Kind.PAUSE, start(), pause(), 0, 0));
        } else if (options.budget() != Budget.STEADY) {
            faults.add(new Fault(Kind.CRASH, start(), length() / 4 + 1, 0, restored()));
        }
    }

    /** What only many machines can have. */
    private void ofCluster() {
        int dice = draws.below(100);
        if (dice < 30) {
            Kind kind = OF_LINKS[draws.below(OF_LINKS.length)];
            long at = start();
            int peer = draws.chance(500) ? Fault.ALL : draws.chance(700) ? client() : member();
            faults.add(new Fault(kind, at, length(), member(), peer, amount(kind)));
        } else if (dice < 45) {
            Kind kind = OF_LINKS[draws.below(OF_LINKS.length)];
            faults.add(new Fault(kind, start(), length(), client(), member(), amount(kind)));
        } else if (dice < 60) {
            long length = Math.max(SHORTEST_SLEEP, length());
            faults.add(new Fault(Kind.SUSPEND, start(), length, client(), 0));
        } else if (dice < 70) {
            long step = draws.logarithmic(Nanos.MILLI, 100 * options.maxTtl());
            faults.add(new Fault(Kind.WALL_STEP, start(), 1, client(), draws.one(step, -step)));
        } else if (dice < 80) {
            faults.add(new Fault(Kind.PAUSE, start(), pause(), member(), 0));
        } else if (options.budget() != Budget.STEADY) {
            faults.add(new Fault(Kind.CRASH, start(), length() / 4 + 1, member(), crash()));
        }
    }

    /**
     * What a crash does to the disk. That a cluster never ran is said wrongly of one member at most: if it is said of
     * all, nobody knows better.
     */
    private int crash() {
        if (options.profile() == Profile.COUNTER) {
            return 0; // what it forced is all that it promises by
        }
        if (options.profile().attaches()) {
            // With an older file its clock or its tickets would go back, and that is out of its promise.
            return new Draws(options.seed(), 14 + 100L * faults.size()).chance(300) ? 3 : 0;
        }
        int amount = draws.one(0, 0, 2, 3, 4);
        return amount == 4 && faults.stream().anyMatch(fault -> fault.kind() == Kind.CRASH && fault.amount() == 4)
                ? 3
                : amount;
    }

    private int member() {
        return -draws.below(options.members());
    }

    private long amount(Kind kind) {
        return switch (kind) {
            case DELAY, REORDERING -> draws.logarithmic(Nanos.MILLI, options.maxTtl());
            case LOSS, DUPLICATION -> draws.one(100, 300, 700);
            default -> 0;
        };
    }

    private void link(Kind kind, int node, long at, long nanos) {
        faults.add(new Fault(kind, at, nanos, node, amount(kind)));
    }

    /** Cuts several clients off one after the other and lets them come back in another order. */
    private void swizzle() {
        List<Integer> nodes = new ArrayList<>();
        for (int i = 1; i <= options.clients(); i++) {
            nodes.add(i);
        }
        Collections.shuffle(nodes, new Random(draws.next()));
        long step = draws.logarithmic(Nanos.MILLI, options.maxTtl() / 2);
        long at = start();
        long middle = at + nodes.size() * step;
        Kind kind = draws.one(Kind.CUT, Kind.PAUSE, Kind.CUT_TO_CLIENT);
        for (int node : nodes) {
            long back = middle + (1 + draws.below(nodes.size())) * step;
            faults.add(new Fault(kind, at, back - at, node, 0));
            at += step;
        }
    }

    private void clock() {
        int node = draws.below(options.clients() + 1);
        if (options.outOfSpec() && draws.chance(500)) {
            faults.add(new Fault(Kind.SUSPEND, start(), length(), node, 0));
        } else {
            long bound = options.outOfSpec() ? 700_000 : Options.RATE_LIMIT;
            long amount = draws.chance(500) ? draws.between(-bound, bound) : draws.one(-bound, bound);
            faults.add(new Fault(Kind.DRIFT, start(), length(), node, amount));
        }
    }

    /** 2: the disk is put back too. Tokens may go back then, and only sessions are asked to bear it. */
    private int restored() {
        return options.profile() == Profile.SESSION && draws.chance(200) ? 2 : 0;
    }

    private int client() {
        return (int) draws.between(1, options.clients());
    }

    private long start() {
        return draws.below(options.faultPhase());
    }

    /** Of a member; a home that stands still for longer keeps what leaders have stopped to count. */
    private long pause() {
        long length = length();
        return options.profile() == Profile.BAKERY ? Math.min(length, 3 * options.maxTtl() / 2) : length;
    }

    private long length() {
        return draws.logarithmic(Nanos.MILLI, 2 * options.maxTtl());
    }
}
