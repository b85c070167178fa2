// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.sim;

import io.keyway.lock.peer.kernel.Canon;
import io.keyway.lock.peer.kernel.Frame;
import io.keyway.lock.peer.kernel.Input;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A whole world in one thread: virtual time, one heap of events, nodes with their own clocks, links with their own misfortunes. First the faults of the plan; then they stop, and everything must
 * finish (R15) and leave nothing behind (R16).
 */
final class SimWorld {
    private static final long CHECK_EVERY = 200 * Nanos.MILLI;

    private final Plan plan;
    private final Options options;
    private final EventHeap heap;
    private final SimNet net;
    private final SimNode[] nodes;
    private final Goals goals = new Goals();
    private final Model model;
    private final Oracle[] oracles;
    private final @Nullable Tracer tracer;
    private final Draws checks;
    private final PurityCheck purity;
    private final int[] downs;
    private final int[] pauses;
    private final int[] suspensions;
    private final List<Fault> drifts = new ArrayList<>();
    private final List<Act> acts = new ArrayList<>();
    private int nextAct;
    private long now;
    private long diskLatency;
    private long events;
    private long digest;
    private long faults;
    private boolean healed;
    private long finishedAt = -1;
    private boolean over;

    SimWorld(Plan plan, Function<SimWorld, Model> models, @Nullable Tracer tracer) {
        this.plan = plan;
        this.options = plan.options();
        this.tracer = tracer;
        this.heap = new EventHeap(Draws.of(options.seed(), 4));
        this.checks = new Draws(options.seed(), 5);
        this.diskLatency = options.diskLatency();
        this.nodes = new SimNode[options.clients() + 1];
        this.downs = new int[nodes.length];
        this.pauses = new int[nodes.length];
        this.suspensions = new int[nodes.length];
        for (int i = 0; i < nodes.length; i++) {
            nodes[i] = new SimNode(this, i);
        }
        this.net = new SimNet(this, plan);
        this.model = models.apply(this);
        this.purity = new PurityCheck(model);
        this.oracles = model.oracles().toArray(Oracle[]::new);
    }

    /** Runs to the end, or to the first violation. */
    RunResult run() {
        @Nullable Violation violation = null;
        try {
            begin();
            loop();
        } catch (Violation e) {
            violation = e;
        } catch (RuntimeException | AssertionError e) {
            violation = new Violation("exception", String.valueOf(e), e);
        }
        return new RunResult(
                plan, violation, events, faults, now, digest, goals, net.noise().met());
    }

    private void begin() {
        for (SimNode node : nodes) {
            node.start();
        }
        ratesMet();
        for (Act act : plan.acts()) {
            if (act.client() < nodes.length) {
                acts.add(act);
            }
        }
        acts.sort(Comparator.comparingLong(Act::at));
        nextAct();
        for (Fault fault : plan.faults()) {
            if (fault.node() < nodes.length && fault.at() < options.faultPhase()) {
                heap.push(fault.at(), Event.Kind.FAULT, nodes[fault.node()]).what = fault;
            }
        }
        heap.push(options.faultPhase() + 1, Event.Kind.HEAL, nodes[0]);
    }

    /** One operation of the plan is in the heap at a time: a small heap is a fast one. */
    private void nextAct() {
        if (nextAct < acts.size()) {
            Act act = acts.get(nextAct++);
            heap.push(act.at(), Event.Kind.ACT, nodes[act.client()]).what = act;
        }
    }

    private void loop() {
        for (Event event = heap.poll(); event != null && !over; event = heap.poll()) {
            now = event.time;
            SimNode node = event.node;
            if (node == null) {
                throw new IllegalStateException("an event of no node");
            }
            if (event.kind == Event.Kind.FAULT || event.kind == Event.Kind.HEAL || event.kind == Event.Kind.CHECK) {
                global(node, event);
                heap.recycle(event);
                continue;
            }
            if (event.kind == Event.Kind.ACT) {
                nextAct();
            }
            digest = Canon.mix(digest ^ event.time ^ ((long) node.index() << 56) ^ ((long) event.kind.code << 48));
            if (!accepts(node, event) || (node.paused() && event.kind == Event.Kind.TICK)) {
                heap.recycle(event);
            } else if (node.paused()) {
                goals.reached(suspensions[node.index()] > 0 ? Fault.Kind.SUSPEND : Fault.Kind.PAUSE);
                node.later(event);
            } else {
                handle(node, event);
                heap.recycle(event);
            }
            finish(node);
        }
    }

    private boolean accepts(SimNode node, Event event) {
        if (event.link != null) {
            return net.reaches(event);
        }
        return node.alive() && (event.kind == Event.Kind.ACT || event.incarnation == node.incarnation());
    }

    /** Flushes unless more input for the same cell comes at once, as a driver reads all it can before it writes. */
    private void finish(SimNode node) {
        if (!node.alive() || node.paused()) {
            return;
        }
        if (node.dirty()) {
            Event next = heap.peek();
            if (next == null || next.node != node || next.time - now > options.batchWindow() || isGlobal(next.kind)) {
                node.flush();
            }
        }
        look(node);
    }

    private static boolean isGlobal(Event.Kind kind) {
        return kind == Event.Kind.FAULT || kind == Event.Kind.HEAL || kind == Event.Kind.CHECK;
    }

    /** All oracles look. */
    void look(SimNode node) {
        for (Oracle oracle : oracles) {
            oracle.after(node);
        }
    }

    void handle(SimNode node, Event event) {
        switch (event.kind) {
            case ARRIVE -> {
                SimLink link = event.link;
                if (link != null && link.openAt((int) event.number) && event.what instanceof Frame frame) {
                    model.arrived(link, (int) event.number, frame);
                    if (tracer != null) {
                        tracer.arrived(link, (int) event.number, frame);
                    }
                    node.input(new Input.Arrived(link.number((int) event.number), frame));
                }
            }
            case OPENED -> {
                if (event.link != null) {
                    net.opened(event, event.link);
                }
            }
            case CLOSED -> {
                if (event.link != null) {
                    net.closed(event, event.link);
                }
            }
            case TICK -> node.tick(event.number);
            case FORCED -> {
                if (event.what != null) {
                    node.forced(event.number, event.what);
                }
            }
            case DIED -> {
                trace(node, "proof of death of session " + event.number);
                node.input(new Input.Died(event.number));
            }
            case ACT -> {
                if (event.what instanceof Act act) {
                    model.act(node, act);
                }
            }
            case WAKE -> {
                if (event.what != null) {
                    model.wake(node, event.number, event.what);
                }
            }
            default -> throw new IllegalStateException("not an event of a node: " + event.kind);
        }
    }

    private void global(SimNode node, Event event) {
        switch (event.kind) {
            case FAULT -> {
                if (event.what instanceof Fault fault && !healed) {
                    fault(node, fault, event.number == 0);
                }
            }
            case HEAL -> heal();
            default -> check();
        }
    }

    private void fault(SimNode node, Fault fault, boolean begins) {
        if (begins) {
            faults++;
            Event end = heap.push(Math.min(fault.end(), options.faultPhase()), Event.Kind.FAULT, node);
            end.what = fault;
            end.number = 1;
        }
        if (tracer != null) {
            trace(node, (begins ? "" : "end of ") + fault);
        }
        int more = begins ? 1 : -1;
        switch (fault.kind()) {
            case DELAY, LOSS, DUPLICATION, REORDERING -> {
                for (int direction = 0; direction < 2; direction++) {
                    disturb(net.condition(node, direction), fault, more);
                }
            }
            case CUT -> {
                net.cut(node, SimLink.TO_MEMBER, more);
                net.cut(node, SimLink.TO_CLIENT, more);
            }
            case CUT_TO_MEMBER -> net.cut(node, SimLink.TO_MEMBER, more);
            case CUT_TO_CLIENT -> net.cut(node, SimLink.TO_CLIENT, more);
            case RESET -> {
                if (begins) {
                    net.reset(node);
                }
            }
            case PAUSE -> pause(node, more);
            case CRASH -> crash(node, fault, more);
            case CLOSE -> close(node, more);
            case DRIFT -> drift(node, fault, begins);
            case SUSPEND -> {
                suspensions[node.index()] += more;
                node.simClock().stop(suspensions[node.index()] > 0);
                pause(node, more);
            }
            case SLOW_DISK -> diskLatency = Math.max(options.diskLatency(), diskLatency + more * fault.amount());
        }
    }

    private static void disturb(SimNet.Condition condition, Fault fault, int more) {
        switch (fault.kind()) {
            case DELAY -> condition.delay += more * fault.amount();
            case LOSS -> condition.lossPerMille += more * (int) fault.amount();
            case DUPLICATION -> condition.duplicatePerMille += more * (int) fault.amount();
            default -> condition.reordering += more * fault.amount();
        }
    }

    private void pause(SimNode node, int more) {
        pauses[node.index()] += more;
        if (pauses[node.index()] > 0) {
            node.pause();
        } else {
            node.resume();
            finish(node);
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
        goals.reached(Fault.Kind.DRIFT);
        long bound = options.outOfSpec() ? 900_000 : Options.RATE_LIMIT;
        node.simClock().rate(Math.max(-bound, Math.min(bound, node.drift() + sum)));
        ratesMet();
        if (node.alive() && !node.paused()) {
            node.flush();
        }
    }

    private void ratesMet() {
        long member = nodes[0].simClock().partsPerMillion();
        for (int i = 1; i < nodes.length && Math.abs(member) == Options.RATE_LIMIT; i++) {
            if (nodes[i].simClock().partsPerMillion() == -member) {
                goals.reached(WorldGoal.RATES_AT_THE_LIMIT);
                return;
            }
        }
    }

    private void crash(SimNode node, Fault fault, int more) {
        downs[node.index()] += more;
        if (more > 0) {
            if (node.alive()) {
                goals.reached(Fault.Kind.CRASH);
                long session = node.isMember() ? 0 : model.session(node);
                model.ended(node, true);
                stop(node, fault.nanos() % 4 != 0);
                if (fault.amount() == 1 && session != 0) {
                    heap.push(now + 200 * Nanos.MILLI, Event.Kind.DIED, nodes[0]).number = session;
                }
            }
        } else if (downs[node.index()] == 0) {
            if (node.isMember() && fault.amount() == 2) {
                node.restoreDisk();
            }
            restart(node);
        }
    }

    private void close(SimNode node, int more) {
        downs[node.index()] += more;
        if (more > 0) {
            if (node.alive() && !node.paused()) {
                goals.reached(Fault.Kind.CLOSE);
                model.ended(node, false);
                node.close();
                stop(node, true);
            } else if (node.alive()) {
                model.ended(node, true);
                stop(node, true);
            }
        } else if (downs[node.index()] == 0) {
            restart(node);
        }
    }

    private void stop(SimNode node, boolean told) {
        net.dropAll(node, told);
        node.stop();
    }

    private void restart(SimNode node) {
        goals.reached(node.isMember() ? WorldGoal.MEMBER_RESTARTED : WorldGoal.CLIENT_RESTARTED);
        node.start();
        for (Oracle oracle : oracles) {
            oracle.restarted(node);
        }
        if (pauses[node.index()] > 0) {
            node.pause();
        }
        look(node);
    }

    private void heal() {
        trace(nodes[0], "faults end");
        healed = true;
        diskLatency = options.diskLatency();
        net.heal();
        for (SimNode node : nodes) {
            int i = node.index();
            suspensions[i] = 0;
            pauses[i] = 0;
            node.simClock().stop(false);
            node.simClock().rate(0);
            if (!node.alive()) {
                downs[i] = 0;
                restart(node);
            }
            node.resume();
            node.flush();
            look(node);
        }
        check();
    }

    private void check() {
        if (finishedAt < 0) {
            String waiting = model.waiting();
            new Liveness(model.finishWithin()).check(now - options.faultPhase(), waiting);
            finishedAt = waiting.isEmpty() ? now : -1;
        }
        if (finishedAt >= 0) {
            String left = model.leftOver();
            new NoLeak(model.cleanWithin()).check(now - finishedAt, left);
            if (left.isEmpty()) {
                over = true;
                return;
            }
        }
        heap.push(now + CHECK_EVERY, Event.Kind.CHECK, nodes[0]);
    }

    /** Calls the model after so many real nanoseconds, if the process still lives then. */
    void wake(SimNode node, long nanos, long number, Object what) {
        Event event = heap.push(now + nanos, Event.Kind.WAKE, node);
        event.number = number;
        event.what = what;
    }

    void trace(SimNode node, String what) {
        if (tracer != null) {
            tracer.local(node, what);
        }
    }

    /** An input of a cell, or a step of a user: what the speed of a run is counted in. */
    void counted() {
        events++;
    }

    PurityCheck purity() {
        return purity;
    }

    boolean checksPurity() {
        return options.purityPerMille() > 0 && checks.below(1000) < options.purityPerMille();
    }

    /** Real time since the start of the world, in nanoseconds. */
    long now() {
        return now;
    }

    boolean healed() {
        return healed;
    }

    Options options() {
        return options;
    }

    EventHeap heap() {
        return heap;
    }

    SimNet net() {
        return net;
    }

    Goals goals() {
        return goals;
    }

    Model model() {
        return model;
    }

    @Nullable
    Tracer tracer() {
        return tracer;
    }

    long diskLatency() {
        return diskLatency;
    }

    /** 0 is the member. */
    SimNode node(int index) {
        return nodes[index];
    }

    int size() {
        return nodes.length;
    }
}
