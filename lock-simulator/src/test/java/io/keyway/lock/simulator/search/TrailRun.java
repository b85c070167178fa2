// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator.search;

import io.keyway.lock.simulator.picture.Run;
import io.keyway.lock.simulator.picture.Run.Bar;
import io.keyway.lock.simulator.picture.Run.Event;
import io.keyway.lock.simulator.picture.Run.Hold;
import io.keyway.lock.simulator.picture.Run.Kind;
import io.keyway.lock.simulator.picture.Run.Lifeline;
import io.keyway.lock.simulator.picture.Run.Role;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** A trail as a run that can be drawn. A unit of time is drawn as long as it is, and a step as a millisecond of it. */
final class TrailRun {
    private static final long STEP = 1_000_000;

    private final Trail trail;
    private final RpcWorld world;
    private final Scope scope;
    private final Links links;
    private final Steps steps;
    private final List<Event> events = new ArrayList<>();
    private final List<Bar> bars = new ArrayList<>();
    private final Map<Bar, Long> open = new LinkedHashMap<>();
    /** By where a link's frames are in a state, when each of them was sent. */
    private final Map<Integer, ArrayDeque<Long>> sent = new HashMap<>();

    private long units;
    private long now;

    private TrailRun(Trail trail, RpcWorld world) {
        this.trail = trail;
        this.world = world;
        this.scope = world.scope();
        this.links = new Links(scope);
        this.steps = new Steps(scope, links);
    }

    /** Goes that way in that world, and writes down what happens. */
    static Run of(Trail trail, RpcWorld world) {
        return new TrailRun(trail, world).run();
    }

    private Run run() {
        int[] before = world.start().clone();
        look(before);
        String broken = trail.follow(world, (state, step, next) -> happens(state, step, next));
        now += STEP;
        open.forEach((bar, from) -> bars.add(lasting(bar, from)));
        List<Lifeline> lines = new ArrayList<>();
        for (String name : world.processes()) {
            lines.add(new Lifeline(name, lines.size() < links.members ? Role.MEMBER : Role.CLIENT));
        }
        return new Run(
                scope.name, "go " + trail.scope() + " again", broken == null ? "" : broken, 0, lines, events, bars);
    }

    private void happens(int[] state, int step, int[] next) {
        if (steps.passesTime(step)) {
            units++;
        }
        now = Math.max(now + STEP, units * scope.unit());
        int to = steps.process(step);
        int queue = steps.queue(step);
        long left = queue < 0 ? now : times(queue).remove();
        Kind kind = queue < 0 ? Kind.LOCAL : Kind.MESSAGE;
        events.add(new Event(
                now, kind, to, steps.sender(step), left, 0, world.name(state, step), changes(state, next, to)));
        depart(next);
        look(next);
    }

    private ArrayDeque<Long> times(int queue) {
        return sent.computeIfAbsent(queue, fresh -> new ArrayDeque<>());
    }

    /** What was sent, and what was lost with its session. */
    private void depart(int[] state) {
        for (int queue : links.queues()) {
            ArrayDeque<Long> times = times(queue);
            while (times.size() > state[queue]) {
                times.removeLast();
            }
            while (times.size() < state[queue]) {
                times.add(now);
            }
        }
    }

    private Map<String, String> changes(int[] before, int[] after, int process) {
        String state = world.turns().local(after[process]).inWords();
        return before[process] == after[process] ? Map.of() : Map.of(scope.key().id(), state);
    }

    /** Who believes and what is granted, from now on or until now. */
    private void look(int[] state) {
        Map<Bar, Long> stand = new LinkedHashMap<>();
        for (int process = 0; process < links.firstLink(); process++) {
            for (Bar bar : world.turns()
                    .local(state[process])
                    .bars(process, scope.key().id())) {
                stand.put(bar, open.getOrDefault(bar, now));
            }
        }
        open.forEach((bar, from) -> {
            if (!stand.containsKey(bar)) {
                bars.add(lasting(bar, from));
            }
        });
        open.clear();
        open.putAll(stand);
    }

    private Bar lasting(Bar bar, long from) {
        return new Bar(bar.process(), bar.hold(), bar.lock(), bar.token(), bar.text(), from, now);
    }

    /** A bar of which only what it is about counts. */
    static Bar bar(int process, Hold hold, String lock, long token, Enum<?> mode, String whose) {
        return new Bar(process, hold, lock, token, mode.name().toLowerCase(Locale.ROOT) + whose, 0, 0);
    }
}
