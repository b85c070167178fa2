// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.kernel.Frame;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.StateEncoder;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * A whole world in one thread: virtual time, one heap of events, nodes with their own clocks, links with their own
 * misfortunes. First the faults of the plan; then they stop, and everything must finish (R15) and leave nothing behind
 * (R16).
 */
final class SimWorld {
    private static final long MOST_EVENTS = 5_000_000;
    private static final long CHECK_EVERY = 200 * Nanos.MILLI;

    private final Plan plan;
    private final Options options;
    private final EventHeap heap;
    private final SimNet net;
    private final int members;
    private final SimNode[] nodes;
    private final Goals goals = new Goals();
    private final Model model;
    private final Oracle[] oracles;
    private final @Nullable Tracer tracer;
    private final Draws checks;
    private final PurityCheck purity;
    private final Faults faults;
    private final List<Act> acts = new ArrayList<>();
    private int nextAct;
    private long now;
    private long events;
    private long most;
    private long digest;
    private boolean healed;
    private long finishedAt = -1;
    private boolean over;

    /** @param tracers makes what is to see the run; null if nothing is */
    SimWorld(Plan plan, Function<SimWorld, Model> models, @Nullable Function<SimWorld, Tracer> tracers) {
        this.plan = plan;
        this.options = plan.options();
        this.heap = new EventHeap(Draws.of(options.seed(), 4));
        this.checks = new Draws(options.seed(), 5);
        this.members = options.members();
        this.nodes = new SimNode[members + options.clients()];
        this.faults = new Faults(this);
        for (int slot = 0; slot < nodes.length; slot++) {
            nodes[slot] = new SimNode(this, slot < members ? -slot : slot - members + 1);
        }
        this.tracer = tracers == null ? null : tracers.apply(this);
        this.net = new SimNet(this, plan);
        this.model = models.apply(this);
        this.purity = new PurityCheck(model);
        this.oracles = model.oracles().toArray(Oracle[]::new);
    }

    /** Runs to the end, or to the first violation. */
    RunResult run() {
        return run(Long.MAX_VALUE);
    }

    /** The same, and no further than to that number of events. */
    RunResult run(long most) {
        this.most = most;
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
                plan,
                violation,
                events,
                faults.begun(),
                now,
                digest,
                goals,
                net.noise().met());
    }

    private void begin() {
        for (SimNode node : nodes) {
            if (model.belongs(node)) {
                node.start();
            }
        }
        faults.ratesMet();
        for (Act act : plan.acts()) {
            if (act.client() > 0 && has(act.client())) {
                acts.add(act);
            }
        }
        acts.sort(Comparator.comparingLong(Act::at));
        nextAct();
        for (Fault fault : plan.faults()) {
            if (has(fault.node()) && fault.at() < options.faultPhase()) {
                heap.push(fault.at(), Event.Kind.FAULT, node(fault.node())).what = fault;
            }
        }
        heap.push(options.faultPhase() + 1, Event.Kind.HEAL, nodes[0]);
    }

    /** One operation of the plan is in the heap at a time: a small heap is a fast one. */
    private void nextAct() {
        if (nextAct < acts.size()) {
            Act act = acts.get(nextAct++);
            heap.push(act.at(), Event.Kind.ACT, node(act.client())).what = act;
        }
    }

    private void loop() {
        for (Event event = heap.poll(); event != null && !over && events < most; event = heap.poll()) {
            now = event.time;
            SimNode node = event.node;
            if (node == null) {
                throw new IllegalStateException("an event of no node");
            }
            if (event.kind.isGlobal()) {
                global(node, event);
                heap.recycle(event);
                continue;
            }
            if (event.kind == Event.Kind.ACT) {
                nextAct();
            }
            digest =
                    StateEncoder.mix(digest ^ event.time ^ ((long) node.slot() << 56) ^ ((long) event.kind.code << 48));
            if (!accepts(node, event) || (node.paused() && event.kind == Event.Kind.TICK)) {
                heap.recycle(event);
            } else if (node.paused()) {
                goals.reached(faults.suspended(node) ? Fault.Kind.SUSPEND : Fault.Kind.PAUSE);
                node.later(event);
            } else {
                handle(node, event);
                heap.recycle(event);
                if (node.stopsBeforeItSpeaks()) {
                    look(node);
                    continue;
                }
            }
            finish(node);
            node.stepDone();
        }
    }

    private boolean accepts(SimNode node, Event event) {
        if (event.link != null) {
            return net.reaches(event);
        }
        SimCell cell = event.cell;
        return cell != null
                ? cell.alive()
                : node.alive() && (event.kind == Event.Kind.ACT || event.incarnation == node.incarnation());
    }

    /** Flushes unless more input for the same cell comes at once, as a driver reads all it can before it writes. */
    void finish(SimNode node) {
        if (!node.alive() || node.paused()) {
            return;
        }
        if (node.dirty()) {
            Event next = heap.peek();
            if (next == null || next.node != node || next.time - now > options.batchWindow() || next.kind.isGlobal()) {
                node.flush();
            }
        }
        look(node);
    }

    /** All oracles look. */
    void look(SimNode node) {
        for (Oracle oracle : oracles) {
            oracle.after(node);
        }
        if (tracer != null) {
            tracer.after(node);
        }
    }

    void handle(SimNode node, Event event) {
        switch (event.kind) {
            case ARRIVE -> {
                SimLink link = event.link;
                SimCell cell = event.cell;
                if (link != null
                        && cell != null
                        && link.openAt((int) event.number)
                        && event.what instanceof Frame frame) {
                    model.arrived(link, (int) event.number, frame);
                    if (tracer != null) {
                        tracer.arrived(link, (int) event.number, frame);
                    }
                    cell.input(new Input.Arrived(link.number((int) event.number), frame));
                }
            }
            case OPENED -> {
                if (event.link != null) {
                    net.opened(event.link, (int) event.number);
                }
            }
            case CLOSED -> {
                if (event.link != null) {
                    net.closed(event.link, (int) event.number, String.valueOf(event.what));
                }
            }
            case TICK -> {
                if (event.cell != null) {
                    event.cell.tick(event.number);
                }
            }
            case FORCED -> {
                if (event.what != null && event.cell != null) {
                    node.disk().forced(event.what);
                    event.cell.forced(event.number);
                    event.cell.input(new Input.Forced(event.number));
                }
            }
            case DIED -> {
                trace(node, "proof of death of session " + event.number);
                if (event.cell != null) {
                    event.cell.input(new Input.Died(event.number));
                }
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
                    faults.strike(node, fault, event.number == 0);
                }
            }
            case HEAL -> heal();
            default -> check();
        }
    }

    private void heal() {
        trace(nodes[0], "faults end");
        healed = true;
        faults.heal();
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
        if (++events > MOST_EVENTS) {
            throw new Violation("R15", "the world never comes to rest");
        }
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

    Faults faults() {
        return faults;
    }

    /** The member lists that operators will give, as bits. */
    LongStream lists() {
        return plan.faults().stream()
                .filter(fault -> fault.kind() == Fault.Kind.NEW_LIST)
                .mapToLong(Fault::list);
    }

    long diskLatency() {
        return faults.diskLatency();
    }

    /** 0 and less are members, 1 and more are clients. */
    SimNode node(int index) {
        return nodes[slot(index)];
    }

    boolean has(int index) {
        return index > -members && index <= nodes.length - members;
    }

    /** The place of a node in arrays: members first. */
    int slot(int index) {
        return index <= 0 ? -index : members + index - 1;
    }

    SimNode bySlot(int slot) {
        return nodes[slot];
    }

    /** Counted from 0. */
    SimNode member(int number) {
        return nodes[number];
    }

    /** How many nodes are members, or may become ones. */
    int memberNodes() {
        return members;
    }

    int clients() {
        return nodes.length - members;
    }

    /** How many nodes there are. */
    int size() {
        return nodes.length;
    }
}
