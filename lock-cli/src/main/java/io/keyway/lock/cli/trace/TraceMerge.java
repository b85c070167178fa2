// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli.trace;

import io.keyway.lock.cli.trace.Recorded.Entry;
import io.keyway.lock.cli.trace.Recorded.Held;
import io.keyway.lock.simulator.picture.Run;
import io.keyway.lock.simulator.picture.Run.Bar;
import io.keyway.lock.simulator.picture.Run.Event;
import io.keyway.lock.simulator.picture.Run.Hold;
import io.keyway.lock.simulator.picture.Run.Kind;
import io.keyway.lock.simulator.picture.Run.Lifeline;
import io.keyway.lock.simulator.picture.Run.Role;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One picture of what several processes wrote down. A message that both ends wrote down is one arrow; the order is
 * that of Lamport's logical clocks, in which nothing comes before what caused it, whatever the machines' clocks say: an
 * event comes after those before it in its process, and the arrival of a message after its departure. Among events of
 * which neither could have caused the other, the machines' clocks decide.
 */
public final class TraceMerge {
    /**
     * What is wanted of it.
     *
     * @param lock the name of the only lock to show; empty for all
     * @param last how long before the end to begin; empty for the whole
     * @param events how many events at most: the last ones
     * @param heartbeats whether to show frames that carry nothing, timers, and questions of who holds
     */
    public record Wish(Optional<String> lock, Optional<Duration> last, int events, boolean heartbeats) {}

    /** A message that left so shortly before the end may be on its way. */
    private static final long ON_ITS_WAY = 200_000_000;

    private static final int LONGEST_NAME = 24;
    private static final Pattern INCARNATION = Pattern.compile("\\b[0-9a-f]{32}\\b");

    /** Something that a process did. */
    private static final class Step {
        final int process;
        final Entry entry;
        /** That of the message that came, if its departure is known. */
        @Nullable
        Step cause;

        boolean arrives;
        long time;

        Step(int process, Entry entry) {
            this.process = process;
            this.entry = entry;
        }

        long start() {
            return cause == null ? time : cause.time;
        }
    }

    private final List<Recorded> recorded;
    private final Wish wish;
    private final List<Lifeline> lines = new ArrayList<>();
    private final Map<String, Integer> byIncarnation = new HashMap<>();
    private final Map<String, Integer> members = new HashMap<>();
    private final List<List<Step>> steps = new ArrayList<>();
    private long[] corrections = new long[0];

    private TraceMerge(List<Recorded> recorded, Wish wish) {
        this.recorded = recorded;
        this.wish = wish;
    }

    /** Makes the picture of all that was read. */
    public static Run of(TraceFiles read, Wish wish, String title, String command) {
        List<Recorded> processes = read.processes();
        processes.sort(Comparator.comparing((Recorded each) -> !each.member).thenComparing(each -> each.name));
        return new TraceMerge(processes, wish).run(title, command);
    }

    private Run run(String title, String command) {
        name();
        pair();
        List<Step> ordered = ordered();
        List<Step> wanted = wanted(ordered);
        long end = ordered.isEmpty() ? 0 : ordered.get(ordered.size() - 1).time;
        long begin = wish.last().map(each -> end - each.toNanos()).orElse(Long.MIN_VALUE);
        int first = Math.max(0, wanted.size() - wish.events());
        while (first < wanted.size() && wanted.get(first).time < begin) {
            first++;
        }
        List<Step> kept = wanted.subList(first, wanted.size());
        long origin = kept.stream().mapToLong(Step::start).min().orElse(0);
        String since = kept.isEmpty()
                ? ""
                : "; 0 is " + Instant.ofEpochSecond(0, origin).truncatedTo(ChronoUnit.MILLIS);
        return ShownLines.of(new Run(
                title + ": " + kept.size() + " events" + since,
                command,
                "",
                first,
                lines,
                kept.stream().map(each -> event(each, origin)).toList(),
                bars(origin)));
    }

    // Who is who

    private void name() {
        for (int i = 0; i < recorded.size(); i++) {
            Recorded each = recorded.get(i);
            int line = i;
            lines.add(new Lifeline(unused(each.name), each.member ? Role.MEMBER : Role.CLIENT));
            if (each.member) {
                members.putIfAbsent(each.name, line); // a later life of it has a line of its own
            } else {
                each.names.keySet().forEach(incarnation -> byIncarnation.put(incarnation, line));
            }
        }
        for (Recorded each : recorded) {
            if (each.member) {
                each.names.forEach((incarnation, called) -> byIncarnation.computeIfAbsent(
                        incarnation, unknown -> members.containsKey(called) ? members.get(called) : line(called)));
            }
        }
    }

    /** A client that wrote down nothing: what is known of it the members saw. */
    private int line(String called) {
        lines.add(new Lifeline(unused(called), Role.CLIENT));
        return lines.size() - 1;
    }

    private String unused(String name) {
        String wanted = name.isEmpty() ? "?" : name;
        String plain = wanted.length() <= LONGEST_NAME ? wanted : wanted.substring(0, LONGEST_NAME - 1) + "…";
        String called = plain;
        for (int number = 2; isUsed(called); number++) {
            called = plain + " #" + number;
        }
        return called;
    }

    private boolean isUsed(String name) {
        return lines.stream().anyMatch(each -> each.name().equals(name));
    }

    /** The line of whoever is at the other end; -1 if that is not known. */
    private int line(Entry frame) {
        Integer known = byIncarnation.get(frame.peer());
        return known != null ? known : members.getOrDefault(frame.peer(), -1);
    }

    // What came from what

    private void pair() {
        Map<String, ArrayDeque<Step>> sent = new HashMap<>();
        for (int i = 0; i < recorded.size(); i++) {
            List<Step> own = new ArrayList<>();
            for (Entry entry : recorded.get(i).entries()) {
                Step step = new Step(i, entry);
                own.add(step);
                if (entry.isSent()) {
                    sent.computeIfAbsent(entry.key(), fresh -> new ArrayDeque<>())
                            .add(step);
                }
            }
            steps.add(own);
        }
        Clocks clocks = new Clocks(recorded.size());
        for (List<Step> own : steps) {
            for (Step step : own) {
                ArrayDeque<Step> causes = step.entry.isFrame() && !step.entry.isSent()
                        ? sent.getOrDefault(step.entry.key(), new ArrayDeque<>())
                        : new ArrayDeque<>();
                Step cause = causes.poll();
                if (cause != null && cause.process != step.process) {
                    step.cause = cause;
                    cause.arrives = true;
                    clocks.message(cause.process, step.process, cause.entry.at(), step.entry.at());
                }
            }
        }
        corrections = clocks.corrections();
    }

    /** All steps in the order of logical clocks, each with a time that says so too. */
    private List<Step> ordered() {
        Comparator<Step> byClock = Comparator.comparingLong((Step each) -> each.time)
                .thenComparingInt(each -> each.process)
                .thenComparingLong(each -> each.entry.number());
        PriorityQueue<Step> ready = new PriorityQueue<>(byClock);
        Map<Step, List<Step>> waiting = new HashMap<>();
        int[] next = new int[steps.size()];
        List<Step> ordered = new ArrayList<>();
        Map<Step, Boolean> done = new HashMap<>();
        long[] latest = new long[steps.size()];
        for (int process = 0; process < next.length; process++) {
            offer(process, next, latest, ready, waiting, done);
        }
        while (!ready.isEmpty() || release(waiting, ready)) {
            Step step = ready.remove();
            done.put(step, true);
            ordered.add(step);
            latest[step.process] = step.time;
            next[step.process]++;
            offer(step.process, next, latest, ready, waiting, done);
            List<Step> freed = waiting.remove(step);
            if (freed != null) {
                for (Step each : freed) {
                    each.time = Math.max(each.time, step.time + 1);
                    ready.add(each);
                }
            }
        }
        return ordered;
    }

    /** The next step of that process can happen, or waits for the departure of what came. */
    private void offer(
            int process,
            int[] next,
            long[] latest,
            PriorityQueue<Step> ready,
            Map<Step, List<Step>> waiting,
            Map<Step, Boolean> done) {
        if (next[process] >= steps.get(process).size()) {
            return;
        }
        Step step = steps.get(process).get(next[process]);
        step.time = Math.max(step.entry.at() + corrections[process], latest[process]);
        Step cause = step.cause;
        if (cause != null && !done.containsKey(cause)) {
            waiting.computeIfAbsent(cause, fresh -> new ArrayList<>()).add(step);
            return;
        }
        if (cause != null) {
            step.time = Math.max(step.time, cause.time + 1);
        }
        ready.add(step);
    }

    /** Two equal messages that were taken for each other could wait in a circle; the clocks break it. */
    private static boolean release(Map<Step, List<Step>> waiting, PriorityQueue<Step> ready) {
        waiting.values()
                .forEach(each -> each.forEach(step -> {
                    step.cause = null;
                    ready.add(step);
                }));
        waiting.clear();
        return !ready.isEmpty();
    }

    // What is shown

    private List<Step> wanted(List<Step> ordered) {
        List<Step> wanted = new ArrayList<>();
        Set<Integer> asking = new HashSet<>(); // whose requests for the lock may wait for acknowledgements
        for (Step step : ordered) {
            Entry entry = step.entry;
            boolean about = wish.lock().map(entry::isAbout).orElse(true);
            if (isShown(step) && (about || (entry.isAck() && asking.contains(receiver(step))))) {
                wanted.add(step);
            }
            if (about && entry.says("Request")) {
                asking.add(sender(step));
            } else if (about && entry.says("Granted")) {
                asking.remove(sender(step));
            }
        }
        return wanted;
    }

    private int sender(Step step) {
        Step cause = step.cause;
        return step.entry.isSent() ? step.process : cause != null ? cause.process : line(step.entry);
    }

    private int receiver(Step step) {
        return step.entry.isSent() ? line(step.entry) : step.process;
    }

    private boolean isShown(Step step) {
        Entry entry = step.entry;
        boolean again = entry.isSent() && step.arrives; // the arrival stands for both
        boolean quiet = (entry.isHeartbeat() || entry.isIdle()) && !wish.heartbeats();
        return !again && !quiet && !isOfNobody(step);
    }

    /**
     * Sessions that carry nothing but their own beginning and end: those of whoever looks, and those by which members
     * confirm their list.
     */
    private boolean isOfNobody(Step step) {
        Entry entry = step.entry;
        if (step.cause != null) {
            return false;
        }
        if (!entry.isFrame()) {
            return INCARNATION.matcher(named(entry.text())).find();
        }
        int other = line(entry);
        boolean bare = entry.isHandshake() || entry.text().startsWith("Bye ");
        return bare
                && (other < 0
                        || (recorded.get(step.process).member
                                && lines.get(other).role() == Role.MEMBER));
    }

    /** Whoever is known by an incarnation, by name. */
    private String named(String text) {
        return INCARNATION.matcher(text).replaceAll(found -> {
            Integer line = byIncarnation.get(found.group());
            return line == null
                    ? found.group()
                    : Matcher.quoteReplacement(lines.get(line).name());
        });
    }

    private Event event(Step step, long origin) {
        Entry entry = step.entry;
        long at = step.time - origin;
        if (!entry.isFrame()) {
            return new Event(at, Kind.LOCAL, step.process, step.process, at, 0, named(entry.text()), Map.of());
        }
        int other = line(entry);
        Step cause = step.cause;
        if (cause != null) {
            return new Event(
                    at,
                    Kind.MESSAGE,
                    step.process,
                    cause.process,
                    cause.time - origin,
                    entry.clock(),
                    entry.text(),
                    Map.of());
        } else if (other < 0 || other == step.process) {
            String whose = entry.isSent() ? "to somebody: " : "from somebody: ";
            return new Event(
                    at, Kind.LOCAL, step.process, step.process, at, entry.clock(), whose + entry.text(), Map.of());
        } else if (!entry.isSent()) {
            return new Event(at, Kind.MESSAGE, step.process, other, at, entry.clock(), entry.text(), Map.of());
        }
        boolean lost = other < recorded.size() && isSeen(other, entry.at());
        return new Event(
                at,
                lost ? Kind.LOST : Kind.MESSAGE,
                other,
                step.process,
                at,
                entry.clock(),
                (lost ? "not seen to arrive: " : "") + entry.text(),
                Map.of());
    }

    /** Whether that process would have written down what came a moment after that time. */
    private boolean isSeen(int process, long at) {
        List<Step> own = steps.get(process);
        return !own.isEmpty()
                && own.get(0).entry.at() <= at
                && at < recorded.get(process).last() - ON_ITS_WAY;
    }

    private List<Bar> bars(long origin) {
        List<Bar> bars = new ArrayList<>();
        for (int i = 0; i < recorded.size(); i++) {
            Recorded of = recorded.get(i);
            for (Held held : of.bars()) {
                long from = held.from + corrections[i] - origin;
                long to = (held.to == 0 ? of.last() : held.to) + corrections[i] - origin;
                if (wish.lock().map(held.lock::equals).orElse(true) && to >= 0) {
                    Hold hold = held.belief ? Hold.BELIEF : Hold.AUTHORITY;
                    bars.add(new Bar(
                            i, hold, held.lock, held.token, named(held.text), Math.max(0, from), Math.max(from, to)));
                }
            }
        }
        bars.sort(Comparator.comparingLong(Bar::from)
                .thenComparingInt(Bar::process)
                .thenComparing(Bar::lock)
                .thenComparingLong(Bar::token)
                .thenComparing(Bar::hold));
        return bars;
    }
}
