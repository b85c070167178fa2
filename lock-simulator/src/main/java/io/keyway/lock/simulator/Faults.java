// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What is wrong with a world now: begins and ends the faults of its plan, which may overlap. */
final class Faults {
    private final SimWorld world;
    private final Options options;
    private final int[] downs;
    private final int[] pauses;
    private final int[] suspensions;
    private final List<Fault> drifts = new ArrayList<>();
    private long diskLatency;
    private long begun;

    Faults(SimWorld world) {
        this.world = world;
        this.options = world.options();
        this.downs = new int[world.size()];
        this.pauses = new int[world.size()];
        this.suspensions = new int[world.size()];
        this.diskLatency = options.diskLatency();
    }

    /** How many faults have begun. */
    long begun() {
        return begun;
    }

    long diskLatency() {
        return diskLatency;
    }

    boolean suspended(SimNode node) {
        return suspensions[node.slot()] > 0;
    }

    /** A fault begins or ends. */
    void strike(SimNode node, Fault fault, boolean begins) {
        if (begins) {
            begun++;
            Event end = world.heap().push(Math.min(fault.end(), options.faultPhase()), Event.Kind.FAULT, node);
            end.what = fault;
            end.number = 1;
        }
        if (world.tracer() != null) {
            world.trace(node, (begins ? "" : "end of ") + fault);
        }
        int more = begins ? 1 : -1;
        switch (fault.kind()) {
            case DELAY, LOSS, DUPLICATION, REORDERING -> {
                SimNet net = world.net();
                net.each(
                        node,
                        fault.peer(),
                        null,
                        (client, member, direction) -> disturb(net.condition(client, member, direction), fault, more));
            }
            case CUT -> cut(node, fault, null, more);
            case CUT_TO_MEMBER -> cut(node, fault, SimLink.TO_MEMBER, more);
            case CUT_TO_CLIENT -> cut(node, fault, SimLink.TO_CLIENT, more);
            case RESET -> {
                if (begins) {
                    world.net().reset(node, fault.peer());
                }
            }
            case PAUSE -> pause(node, fault, more);
            case CRASH -> crash(node, fault, more);
            case CLOSE -> close(node, more);
            case HAND_OVER -> handOver(node, more);
            case DRIFT -> drift(node, fault, begins);
            case SUSPEND -> {
                if (begins) {
                    node.sleeps();
                }
                suspensions[node.slot()] += more;
                node.simClock().stop(suspensions[node.slot()] > 0);
                pause(node, null, more);
            }
            case WALL_STEP -> {
                if (begins && suspensions[node.slot()] == 0) {
                    world.goals().reached(Fault.Kind.WALL_STEP);
                    node.stepWall(fault.amount());
                    if (node.alive() && !node.paused()) {
                        node.flushAll();
                    }
                }
            }
            case NEW_LIST -> newList(node, fault, more);
            case CHANGE_MEMBERS -> {
                if (begins) {
                    world.model().membersChange(node, fault);
                }
            }
            case LEAVE_SEAT -> {
                if (begins) {
                    world.model().leavesSeat(node);
                }
            }
            case SLOW_DISK -> diskLatency = Math.max(options.diskLatency(), diskLatency + more * fault.amount());
        }
    }

    private void cut(SimNode node, Fault fault, @Nullable Integer towards, int more) {
        SimNet net = world.net();
        net.each(node, fault.peer(), towards, (client, member, direction) -> net.cut(client, member, direction, more));
    }

    private static void disturb(SimNet.Condition condition, Fault fault, int more) {
        switch (fault.kind()) {
            case DELAY -> condition.delay += more * fault.amount();
            case LOSS -> condition.lossPerMille += more * (int) fault.amount();
            case DUPLICATION -> condition.duplicatePerMille += more * (int) fault.amount();
            default -> condition.reordering += more * fault.amount();
        }
    }

    /**
     * @param stall a process that is stopped wherever it is; null if its machine sleeps, which happens between two
     *     steps
     */
    private void pause(SimNode node, @Nullable Fault stall, int more) {
        pauses[node.slot()] += more;
        if (pauses[node.slot()] > 0) {
            long where = stall == null ? 0 : Long.remainderUnsigned(Draws.of(options.seed() + 17, stall.at()), 8);
            if (where == 0 || more < 0) {
                node.pause();
            } else {
                node.pauseWithin((int) where - 1);
            }
        } else {
            node.resume();
            world.finish(node);
        }
    }

    private void drift(SimNode node, Fault fault, boolean begins) {
        if (begins) {
            drifts.add(fault);
        } else {
            drifts.remove(fault);
        }
        long sum = 0;
        for (Fault each : drifts) {
            sum += each.node() == node.index() ? each.amount() : 0;
        }
        world.goals().reached(Fault.Kind.DRIFT);
        long bound = options.outOfSpec() ? 900_000 : Options.RATE_LIMIT;
        node.simClock().rate(Math.max(-bound, Math.min(bound, node.drift() + sum)));
        ratesMet();
        if (node.alive() && !node.paused()) {
            node.flushAll();
        }
    }

    /** Looks whether the clocks of a member and of a client are as far apart as they may be. */
    void ratesMet() {
        for (int m = 0; m < world.memberNodes(); m++) {
            long member = world.member(m).simClock().partsPerMillion();
            for (int i = 1; i <= world.clients() && Math.abs(member) == Options.RATE_LIMIT; i++) {
                if (world.node(i).simClock().partsPerMillion() == -member) {
                    world.goals().reached(WorldGoal.RATES_AT_THE_LIMIT);
                    return;
                }
            }
        }
    }

    private void crash(SimNode node, Fault fault, int more) {
        downs[node.slot()] += more;
        if (more > 0) {
            if (node.alive()) {
                world.goals().reached(Fault.Kind.CRASH);
                long session = node.isMember() ? 0 : world.model().session(node);
                world.model().ended(node, true);
                stop(node, fault.nanos() % 4 != 0);
                if (fault.amount() == 1 && session != 0) {
                    world.heap()
                            .push(
                                    world.now() + 200 * Nanos.MILLI,
                                    Event.Kind.DIED,
                                    world.node(0).main())
                            .number = session;
                }
            }
        } else if (downs[node.slot()] == 0) {
            if (node.isMember()) {
                world.model().restarts(node, fault);
            }
            restart(node);
        }
    }

    private void close(SimNode node, int more) {
        downs[node.slot()] += more;
        if (more > 0) {
            if (node.alive() && !node.paused()) {
                world.goals().reached(Fault.Kind.CLOSE);
                world.model().ended(node, false);
                node.close();
                stop(node, true);
            } else if (node.alive()) {
                world.model().ended(node, true);
                stop(node, true);
            }
        } else if (downs[node.slot()] == 0) {
            restart(node);
        }
    }

    private void handOver(SimNode node, int more) {
        downs[node.slot()] += more;
        if (more > 0) {
            if (node.alive() && !node.paused()) {
                world.goals().reached(Fault.Kind.HAND_OVER);
                world.model().handsOver(node);
            }
            end(node);
        } else if (downs[node.slot()] == 0) {
            restart(node);
        }
    }

    private void newList(SimNode node, Fault fault, int more) {
        downs[node.slot()] += more;
        if (more > 0) {
            world.goals().reached(Fault.Kind.NEW_LIST);
            end(node);
        } else {
            world.model().listChange(node, fault);
            if (downs[node.slot()] == 0) {
                restart(node);
            }
        }
    }

    /** The process ends, if it runs, and nobody starts it for now. */
    void end(SimNode node) {
        if (node.alive()) {
            world.model().ended(node, true);
            stop(node, true);
        }
    }

    private void stop(SimNode node, boolean told) {
        world.net().dropAll(node, told);
        node.stop();
    }

    private void restart(SimNode node) {
        if (node.alive() || !world.model().belongs(node)) {
            return;
        }
        world.goals().reached(node.isMember() ? WorldGoal.MEMBER_RESTARTED : WorldGoal.CLIENT_RESTARTED);
        node.start();
        if (pauses[node.slot()] > 0) {
            node.pause();
        }
        world.look(node);
    }

    /** Nothing is wrong from now on. */
    void heal() {
        diskLatency = options.diskLatency();
        world.net().heal();
        world.model().heal();
        for (int i = 0; i < world.size(); i++) {
            SimNode node = world.bySlot(i);
            suspensions[i] = 0;
            pauses[i] = 0;
            node.simClock().stop(false);
            node.simClock().rate(0);
            if (!node.alive()) {
                downs[i] = 0;
                restart(node);
            }
            if (node.alive()) {
                node.resume();
                node.flushAll();
                world.look(node);
            }
        }
    }
}
