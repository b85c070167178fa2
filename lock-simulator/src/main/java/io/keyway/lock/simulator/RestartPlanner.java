// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.simulator.Fault.Kind;
import io.keyway.lock.simulator.Options.Budget;
import io.keyway.lock.simulator.Options.Profile;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Draws plans that aim at members that start again. Links between single members stay cut while others are elected; a
 * member, the pivot, is heard by one side and then by the other, and starts again in between, once or twice: with its
 * directory, with a copy of it, without one, after an end in order, or after it has served another algorithm. Or all
 * hear each other, and members start again one after the other. Nothing else goes wrong.
 */
final class RestartPlanner {
    /** The least seed of a world that has such a plan, if its members talk to each other. */
    static final long SEEDS = 1L << 50;

    /** By then the first leaders are elected. */
    private static final long ELECTED = 13 * Nanos.SECOND;

    /** Who hears whom in a stage of the plan. */
    private enum Shape {
        /** All hear all. */
        WHOLE,
        /** The former leader, so called, hears the pivot, and perhaps others. */
        WEAK,
        /** The former leader hears nobody. */
        ALONE,
        /** The former leader and the pivot hear each other, and nobody else. */
        BRIDGE
    }

    private record Stage(long begin, long end, Shape shape) {}

    private final Options options;
    private final Draws draws;
    private final int members;
    private final int former;
    private final int pivot;
    /** All hear each other, and start again one after the other. */
    private final boolean isRolling;
    /** The former leader is alone, then with the pivot, then alone: which starts again once or twice on the way. */
    private final boolean isTold;

    private final List<Stage> stages = new ArrayList<>();
    private final List<Fault> faults = new ArrayList<>();

    RestartPlanner(Options options) {
        this.options = options;
        this.draws = new Draws(options.seed(), 22);
        members = options.members();
        former = draws.below(members);
        pivot = (former + 1 + draws.below(members - 1)) % members;
        int story = draws.below(4);
        isRolling = story == 0;
        isTold = story > 1;
        long at = ELECTED + draws.below(8 * Nanos.SECOND);
        stages.add(new Stage(0, at, Shape.WHOLE));
        Shape last = Shape.WHOLE;
        List<Shape> shapes = new ArrayList<>();
        if (isTold) {
            shapes.addAll(List.of(draws.one(Shape.WHOLE, Shape.WEAK), Shape.ALONE, Shape.BRIDGE, Shape.ALONE));
        }
        for (int i = draws.below(3); i < 5 && !isTold; i++) {
            last = next(last);
            shapes.add(last);
        }
        for (Shape shape : shapes) {
            long end = at + length();
            stages.add(new Stage(at, end, shape));
            at = end;
        }
    }

    /** The options of a campaign's world: from {@link #SEEDS} on, for such a plan. */
    static Options aimed(Options options) {
        return options.profile().attaches() && options.seed() >= SEEDS ? quiet(options) : options;
    }

    private static Options quiet(Options options) {
        Draws draws = new Draws(options.seed(), 23);
        boolean elects = options.profile().elects();
        int members = elects ? draws.one(3, 3, 4, 4, 5) : 3;
        boolean serves = options.profile() == Profile.FAILOVER;
        Options aimed = options.with("budget", Budget.AIMED.toString())
                .with("members", String.valueOf(members))
                .with("spares", "0")
                .with("clients", String.valueOf(serves ? 2 : members))
                .with("users", "1")
                .with("names", "1")
                .with("latency", String.valueOf(draws.logarithmic(100 * Nanos.MICRO, 10 * Nanos.MILLI)))
                .with("jitter", "0")
                .with("tail", "0")
                .with("lossPerMille", "0")
                .with("duplicatePerMille", "0")
                .with("diskLatency", String.valueOf(draws.logarithmic(100 * Nanos.MICRO, 10 * Nanos.MILLI)))
                .with("maxTtl", String.valueOf(draws.one(8L, 16L, 16L) * Nanos.SECOND));
        RestartPlanner plan = new RestartPlanner(aimed);
        return aimed.with("faultPhase", String.valueOf(plan.end()))
                .with("faults", String.valueOf(plan.faults().size()))
                .with("acts", String.valueOf(plan.acts().size()));
    }

    private long end() {
        return stages.get(stages.size() - 1).end();
    }

    private Shape next(Shape last) {
        if (isRolling) {
            return Shape.WHOLE;
        }
        Shape next = draws.one(
                Shape.ALONE, Shape.ALONE, Shape.ALONE, Shape.BRIDGE, Shape.BRIDGE, Shape.WEAK, Shape.WEAK, Shape.WHOLE);
        return next == last ? Shape.ALONE : next;
    }

    /** From what an election takes to what the longest silence lasts. */
    private long length() {
        long lease = options.maxTtl();
        return switch (draws.below(4)) {
            case 0 -> draws.between(2, 6) * Nanos.SECOND;
            case 1 -> draws.between(6_000, 14_000) * Nanos.MILLI;
            case 2 -> lease / 10 * draws.between(3, 11);
            default -> lease / 10 * draws.between(11, 26);
        };
    }

    // What goes wrong

    List<Fault> faults() {
        faults.clear();
        Draws own = new Draws(options.seed(), 24);
        boolean[] hears = new boolean[members];
        for (int other = 0; other < members; other++) {
            hears[other] = own.chance(400);
        }
        for (int one = 0; one < members; one++) {
            for (int other = one + 1; other < members; other++) {
                cuts(one, other, hears);
            }
        }
        if (options.profile() == Profile.FAILOVER && !isRolling && own.chance(600)) {
            sides();
        }
        for (Stage stage : stages.subList(1, isTold ? 1 : stages.size())) {
            restarts(stage, own);
        }
        if (isTold) {
            tell(own);
        }
        faults.sort(Comparator.comparingLong(Fault::at));
        return List.copyOf(faults);
    }

    /** The links between two members, in all stages. */
    private void cuts(int one, int other, boolean[] hears) {
        long since = -1;
        for (Stage stage : stages) {
            boolean isCut = isCut(stage.shape(), one, other, hears);
            if (!isCut && since >= 0) {
                faults.add(new Fault(Kind.CUT, since, stage.begin() - since, -one, -other, 0));
            }
            since = isCut ? since < 0 ? stage.begin() : since : -1;
        }
        if (since >= 0) {
            faults.add(new Fault(Kind.CUT, since, end() - since, -one, -other, 0));
        }
    }

    private boolean isCut(Shape shape, int one, int other, boolean[] hears) {
        boolean ofFormer = one == former || other == former;
        boolean ofPivot = one == pivot || other == pivot;
        int third = one == former ? other : one;
        return switch (shape) {
            case WHOLE -> false;
            case WEAK -> ofFormer && !ofPivot && !hears[third];
            case ALONE -> ofFormer;
            case BRIDGE -> ofFormer != ofPivot;
        };
    }

    /** The first client hears the former leader alone, and the others do not hear that one. */
    private void sides() {
        Stage first = stages.get(1);
        for (int client = 1; client <= options.clients(); client++) {
            for (int member = 0; member < members; member++) {
                if ((client == 1) != (member == former)) {
                    faults.add(new Fault(Kind.CUT, first.begin(), end() - first.begin(), client, -member, 0));
                }
            }
        }
    }

    private void restarts(Stage stage, Draws own) {
        if (own.chance(isRolling ? 800 : 450)) { // on the way from the stage before
            long before = own.logarithmic(Nanos.MILLI, Nanos.SECOND);
            restart(own.chance(700) ? pivot : own.below(members), stage.begin() - before, before + shortly(own), own);
        }
        if (own.chance(isRolling ? 800 : 450)) {
            long after = switch (own.below(3)) {
                case 0 -> own.logarithmic(10 * Nanos.MILLI, 3 * Nanos.SECOND);
                case 1 -> own.between(5_000, 12_000) * Nanos.MILLI;
                default -> own.below(stage.end() - stage.begin());
            };
            restart(own.chance(400) ? pivot : own.below(members), stage.begin() + after, down(own), own);
        }
    }

    /** One member starts again before the pivot is with the former leader alone, or when it begins to be; or twice. */
    private void tell(Draws own) {
        Stage alone = stages.get(2);
        int member = own.chance(700) ? pivot : own.below(members);
        long at = own.chance(400)
                ? alone.begin() - Nanos.SECOND + own.below(3 * Nanos.SECOND)
                : alone.begin() + own.below(alone.end() - alone.begin());
        long down = down(own);
        stops(member, at, down, own.below(8));
        int second = own.below(4);
        if (second < 2) {
            long before = shortly(own);
            stops(member, Math.max(at + down, alone.end() - before), before + shortly(own), own.below(3));
        } else if (second == 2) {
            again(member, at + down, own);
        }
    }

    private static long shortly(Draws own) {
        return own.logarithmic(Nanos.MILLI, Nanos.SECOND);
    }

    private long down(Draws own) {
        return isRolling && own.chance(500)
                ? own.between(6_000, 14_000) * Nanos.MILLI + own.below(options.maxTtl())
                : own.chance(700) ? shortly(own) : own.between(3, 8) * Nanos.SECOND;
    }

    private void restart(int member, long at, long down, Draws own) {
        stops(member, at, down, isRolling && own.chance(300) ? 0 : own.below(8));
        if (own.chance(isRolling ? 800 : 500)) {
            return;
        }
        again(member, at + down, own);
    }

    /** Once more: at once, or when it would have waited for long enough. */
    private void again(int member, long started, Draws own) {
        long over = options.maxTtl() / 100 * 102 + shortly(own);
        if (own.chance(300)) {
            stops(member, started + shortly(own), shortly(own), own.below(3));
        } else if (own.chance(500)) {
            stops(member, started + over, shortly(own), own.below(3));
        } else {
            long soon = shortly(own);
            stops(member, started + soon, Math.max(Nanos.MILLI, over - soon), own.below(3));
        }
    }

    /** @param how below 3: with its directory */
    private void stops(int member, long at, long down, int how) {
        Kind kind = how == 0 || how == 3 ? Kind.HAND_OVER : Kind.CRASH;
        long amount = switch (how) {
            case 4 -> AttachedMembers.RESTORED;
            case 5 -> AttachedMembers.MOVED;
            case 6 -> AttachedMembers.LOST;
            case 7 -> AttachedMembers.SAID_FRESH;
            default -> 0;
        };
        faults.add(new Fault(kind, at, down, -member, amount));
    }

    // What users do

    /** Each client asks again and again, and holds for a moment or for longer than any stage. */
    List<Act> acts() {
        Draws own = new Draws(options.seed(), 25);
        List<Act> acts = new ArrayList<>();
        for (int client = 1; client <= options.clients(); client++) {
            long at = ELECTED - 2 * Nanos.SECOND + own.below(options.maxTtl());
            while (at < end()) {
                long hold = own.chance(500)
                        ? own.logarithmic(Nanos.MILLI, Nanos.SECOND)
                        : options.maxTtl() + own.below(2 * options.maxTtl());
                long patience = own.chance(500) ? 0 : own.logarithmic(Nanos.SECOND, options.maxTtl());
                acts.add(new Act(at, client, 0, own.chance(800) ? "lock" : "try", 0, patience, hold));
                at += own.logarithmic(100 * Nanos.MILLI, 2 * options.maxTtl());
            }
        }
        return acts;
    }
}
