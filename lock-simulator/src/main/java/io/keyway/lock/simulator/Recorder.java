// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.lamport.LamportView;
import io.keyway.lock.peer.session.SessionFrame;
import io.keyway.lock.peer.trace.FrameText;
import io.keyway.lock.simulator.picture.Run;
import io.keyway.lock.simulator.picture.Run.Bar;
import io.keyway.lock.simulator.picture.Run.Hold;
import io.keyway.lock.simulator.picture.Run.Kind;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Writes down what happens in a world, for pictures: the last events, and all bars that last until then. */
final class Recorder implements Tracer {
    private static final class Entry {
        final long at;
        final Kind kind;
        final int actor;
        final int process;
        final int from;
        final long sent;
        final long clock;
        final String text;
        final Map<String, String> states = new TreeMap<>();

        Entry(long at, Kind kind, int actor, int process, int from, long sent, long clock, String text) {
            this.at = at;
            this.kind = kind;
            this.actor = actor;
            this.process = process;
            this.from = from;
            this.sent = sent;
            this.clock = clock;
            this.text = text;
        }
    }

    /** A bar whose end is still to come. */
    private record Open(int process, Hold hold, String lock, long token, String text, long from) {
        Bar until(long to) {
            return new Bar(process, hold, lock, token, text, from, Math.max(from, to));
        }
    }

    private record Granting(int member, int life, String name, long token) {}

    private static final int MOST_ON_THEIR_WAY = 100_000;

    private final SimWorld world;
    private final int limit;
    private final ArrayDeque<Entry> entries = new ArrayDeque<>();
    private final List<Bar> bars = new ArrayList<>();
    private final IdentityHashMap<Use, Open> beliefs = new IdentityHashMap<>();
    private final Map<Granting, Open> grants = new HashMap<>();
    /** When each frame that is on its way left. */
    private final IdentityHashMap<Object, Long> departures = new IdentityHashMap<>();
    /** By the slot of its node, what each machine's state was when its node was looked at last. */
    private final List<Map<String, String>> states = new ArrayList<>();

    private long dropped;

    /** @param limit how many events are kept */
    Recorder(SimWorld world, int limit) {
        this.world = world;
        this.limit = limit;
        for (int slot = 0; slot < world.size(); slot++) {
            states.add(Map.of());
        }
    }

    @Override
    public void sent(SimLink link, int direction, Object frame) {
        if (departures.size() > MOST_ON_THEIR_WAY) {
            departures.clear(); // what comes of them seems to have left when it comes
        }
        departures.put(frame, world.now());
    }

    @Override
    public void arrived(SimLink link, int direction, Object frame) {
        Long left = departures.get(frame);
        if (!isIdle(link, frame)) {
            message(Kind.MESSAGE, link, direction, frame, left == null ? world.now() : left, text(frame));
        }
    }

    @Override
    public void lost(SimLink link, int direction, Object frame, String why) {
        if (!isIdle(link, frame)) {
            message(Kind.LOST, link, direction, frame, world.now(), why + ": " + text(frame));
        }
    }

    /** Members that keep in touch. */
    private static boolean isIdle(SimLink link, Object frame) {
        return link.client.node().isMember()
                && frame instanceof SessionFrame.Data data
                && data.messages().isEmpty();
    }

    private void message(Kind kind, SimLink link, int direction, Object frame, long sent, String text) {
        int to = link.node(direction).slot();
        int from = link.node(1 - direction).slot();
        long clock = frame instanceof SessionFrame.Data data ? clock(data) : 0;
        add(new Entry(world.now(), kind, kind == Kind.LOST ? from : to, to, from, sent, clock, text));
    }

    private static long clock(SessionFrame.Data data) {
        long clock = data.clock();
        for (Message message : data.messages()) {
            clock = Math.max(clock, LamportView.stamp(message));
        }
        return clock;
    }

    private static String text(Object frame) {
        return frame instanceof SessionFrame said ? FrameText.of(said) : Wording.of(frame);
    }

    @Override
    public void local(SimNode node, String what) {
        add(new Entry(
                world.now(), Kind.LOCAL, node.slot(), node.slot(), node.slot(), world.now(), 0, Wording.of(what)));
    }

    private void add(Entry entry) {
        entries.addLast(entry);
        if (entries.size() > limit) {
            entries.removeFirst();
            dropped++;
        }
    }

    @Override
    public void after(SimNode node) {
        Map<String, String> now = node.alive() ? world.model().states(node) : Map.of();
        Map<String, String> before = states.set(node.slot(), now);
        if (!now.equals(before)) {
            Map<String, String> changes = changes(before, now);
            cause(node).states.putAll(changes);
        }
    }

    private static Map<String, String> changes(Map<String, String> before, Map<String, String> now) {
        Map<String, String> changes = new TreeMap<>();
        Set<String> all = new TreeSet<>(before.keySet());
        all.addAll(now.keySet());
        for (String machine : all) {
            String state = now.getOrDefault(machine, "");
            if (!state.equals(before.getOrDefault(machine, ""))) {
                changes.put(machine, state);
            }
        }
        return changes;
    }

    /** The event of this step that was that node's; a timer's if nothing else was told of. */
    private Entry cause(SimNode node) {
        var latest = entries.descendingIterator();
        while (latest.hasNext()) {
            Entry entry = latest.next();
            if (entry.at != world.now()) {
                break;
            }
            if (entry.actor == node.slot()) {
                return entry;
            }
        }
        local(node, node.alive() ? "its timer" : "the process ends");
        return entries.getLast();
    }

    @Override
    public void began(Use use) {
        int process = world.node(use.client).slot();
        beliefs.put(use, new Open(process, Hold.BELIEF, use.name, use.token, text(use), world.now()));
    }

    private static String text(Use use) {
        return use.mode == LockMode.PERMITS
                ? use.permits + " of " + use.capacity + " permits"
                : use.mode.name().toLowerCase(Locale.ROOT);
    }

    /** The library says so at the deadline, whether or not anything happens there. */
    @Override
    public void looked(int client, List<Use> uses) {
        for (int i = 0; i < uses.size(); i++) {
            Use use = uses.get(i);
            if (beliefs.containsKey(use) && !use.believes()) {
                long deadline = world.node(client).realTime(use.deadline());
                stopped(use, Math.min(world.now(), deadline));
            }
        }
    }

    @Override
    public void releasing(Use use) {
        stopped(use, world.now());
    }

    @Override
    public void finished(Use use, Use.Finish how) {
        stopped(use, world.now());
    }

    private void stopped(Use use, long at) {
        Open open = beliefs.remove(use);
        if (open != null) {
            bars.add(open.until(at));
        }
    }

    @Override
    public void granted(Grant grant) {
        String whose = grant.mode() == LockMode.PERMITS
                ? grant.permits() + " permits"
                : grant.mode().name().toLowerCase(Locale.ROOT);
        Open open = new Open(
                world.node(grant.member()).slot(),
                Hold.AUTHORITY,
                grant.name(),
                grant.token(),
                whose + " to client" + grant.client(),
                world.now());
        grants.put(granting(grant), open);
    }

    @Override
    public void ended(Grant grant, Grant.End how) {
        Open open = grants.remove(granting(grant));
        if (open != null) {
            bars.add(open.until(world.now()));
        }
    }

    private static Granting granting(Grant grant) {
        return new Granting(grant.member(), grant.memberLife(), grant.name(), grant.token());
    }

    /**
     * What was written down.
     *
     * @param title what it is
     * @param command what makes it again, or empty
     * @param violation what ended the run, or null
     */
    Run run(String title, String command, @Nullable Violation violation) {
        if (violation != null && !entries.isEmpty()) {
            int where = entries.getLast().actor;
            local(world.bySlot(where), "violates " + violation.getMessage());
        }
        List<Run.Lifeline> processes = new ArrayList<>();
        for (int slot = 0; slot < world.size(); slot++) {
            SimNode node = world.bySlot(slot);
            processes.add(new Run.Lifeline(node.toString(), node.isMember() ? Run.Role.MEMBER : Run.Role.CLIENT));
        }
        List<Run.Event> events = new ArrayList<>();
        for (Entry each : entries) {
            events.add(new Run.Event(
                    each.at, each.kind, each.process, each.from, each.sent, each.clock, each.text, each.states));
        }
        List<Bar> all = new ArrayList<>(bars);
        beliefs.values().forEach(open -> all.add(open.until(world.now())));
        grants.values().forEach(open -> all.add(open.until(world.now())));
        long first = entries.isEmpty() ? 0 : Objects.requireNonNull(entries.peekFirst()).at;
        all.removeIf(bar -> bar.to() < first);
        all.sort(Comparator.comparingLong(Bar::from)
                .thenComparingInt(Bar::process)
                .thenComparing(Bar::lock)
                .thenComparingLong(Bar::token)
                .thenComparing(Bar::hold));
        String wrong = violation == null ? "" : Wording.of(violation.getMessage());
        return new Run(title, command, wrong, dropped, processes, events, all);
    }
}
