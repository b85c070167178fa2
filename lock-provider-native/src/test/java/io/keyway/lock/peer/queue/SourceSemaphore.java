// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.queue;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The bucket semaphore of the source, and what else looks like a semaphore, as processes whose steps interleave in
 * every order: each takes a permit once and gives it back. A state is an array: the counters first, then three numbers
 * for each process.
 */
final class SourceSemaphore {
    /** How permits are counted. */
    enum Kind {
        /** A set of permits at one place: asked and answered in one step. */
        ONE_AUTHORITY,
        /**
         * The source: a counter for each bucket, counted up from the lowest and down from the highest. A release finds
         * an empty bucket by bringing it below zero, and puts that right in its next step.
         */
        DIPS_BELOW_ZERO,
        /** The source, whose manager ends once and begins anew with counters of zero. */
        FORGETS_ONCE,
        /** The source, one of whose holders dies before the manager has heard that it holds. */
        DIES_UNHEARD,
        /** Three who have all permits each; who has two of their votes holds. */
        VOTES
    }

    /**
     * What was found.
     *
     * @param most holders at once, in any state
     * @param trace the steps to the first state with more holders than permits, or that leaves permits forever; empty
     *     if there is none
     */
    record Finding(int states, int most, List<String> trace) {}

    private static final int IDLE = 0;
    private static final int ASKING = 1;
    private static final int HOLDING = 2;
    private static final int RELEASING = 3;
    private static final int REPAIRING = 4;
    private static final int DRAINING = 5;
    private static final int DONE = 6;
    private static final int REFUSED = 7;
    private static final int FIELDS = 3;
    private static final int VOTERS = 3;

    /** A state and how it was reached. */
    private record Step(List<Integer> state, @Nullable Step before, String how) {}

    private final Kind kind;
    private final int limit;
    private final int buckets;
    private final int processes;
    private final int counters;

    /** So many permits for each of so many buckets. */
    SourceSemaphore(Kind kind, int limit, int buckets, int processes) {
        this.kind = kind;
        this.limit = limit;
        this.buckets = buckets;
        this.processes = processes;
        // The last one says whether the manager may still end, or the holder die.
        this.counters = 1 + (kind == Kind.VOTES ? VOTERS : kind == Kind.ONE_AUTHORITY ? 1 : buckets);
    }

    /** Visits every state that can be reached, in the order of their distances. */
    Finding explore() {
        int[] first = new int[counters + FIELDS * processes];
        first[counters - 1] = kind == Kind.FORGETS_ONCE || kind == Kind.DIES_UNHEARD ? 1 : 0;
        Set<List<Integer>> seen = new HashSet<>();
        ArrayDeque<Step> open = new ArrayDeque<>();
        open.add(new Step(boxed(first), null, ""));
        seen.add(boxed(first));
        int most = 0;
        while (!open.isEmpty()) {
            Step step = open.removeFirst();
            int[] state = step.state().stream().mapToInt(Integer::intValue).toArray();
            int holders = holders(state);
            most = Math.max(most, holders);
            Map<String, int[]> next = next(state);
            if (holders > limit * buckets || (next.isEmpty() && leaks(state))) {
                return new Finding(seen.size(), most, trace(step));
            }
            next.forEach((how, to) -> {
                if (seen.add(boxed(to))) {
                    open.addLast(new Step(boxed(to), step, how));
                }
            });
        }
        return new Finding(seen.size(), most, List.of());
    }

    private static List<Integer> boxed(int[] state) {
        return Arrays.stream(state).boxed().toList();
    }

    private static List<String> trace(Step last) {
        ArrayDeque<String> trace = new ArrayDeque<>();
        for (Step at = last; at != null && at.before() != null; at = at.before()) {
            trace.addFirst(at.how());
        }
        return List.copyOf(trace);
    }

    private int at(int process) {
        return counters + FIELDS * process;
    }

    private int holders(int[] state) {
        int holders = 0;
        for (int p = 0; p < processes; p++) {
            holders += state[at(p)] == HOLDING ? 1 : 0;
        }
        return holders;
    }

    /** All have ended, and some permit is counted as taken; a bucket's mark that it is full is no permit. */
    private boolean leaks(int[] state) {
        return Arrays.stream(state, 0, counters - 1).anyMatch(count -> count > 0) && allGone(state);
    }

    private boolean allGone(int[] state) {
        for (int p = 0; p < processes; p++) {
            if (state[at(p)] == REFUSED) {
                return false; // it has left a mark
            }
        }
        return true;
    }

    private Map<String, int[]> next(int[] state) {
        Map<String, int[]> next = new HashMap<>();
        for (int p = 0; p < processes; p++) {
            int[] to = state.clone();
            if (kind == Kind.ONE_AUTHORITY
                    ? asks(to, at(p))
                    : kind == Kind.VOTES ? votes(to, at(p)) : counts(to, at(p))) {
                next.put("p" + p + " " + Arrays.toString(to), to);
            }
            if (kind == Kind.DIES_UNHEARD && state[counters - 1] == 1 && state[at(p)] == HOLDING) {
                int[] dead = state.clone();
                dead[counters - 1] = 0;
                dead[at(p)] = DONE;
                next.put("p" + p + " dies", dead);
            }
        }
        if (kind == Kind.FORGETS_ONCE && state[counters - 1] == 1 && holders(state) > 0) {
            int[] anew = state.clone();
            Arrays.fill(anew, 0, counters, 0);
            next.put("the manager begins anew", anew);
        }
        return next;
    }

    /** One step of a process; false if it has none. */
    private boolean asks(int[] state, int p) {
        switch (state[p]) {
            case IDLE -> {
                boolean free = state[0] < limit * buckets;
                state[0] += free ? 1 : 0;
                state[p] = free ? HOLDING : REFUSED;
            }
            case HOLDING -> {
                state[0]--;
                state[p] = DONE;
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    /** Asks one voter after the other; the votes that it has are bits. */
    private boolean votes(int[] state, int p) {
        switch (state[p]) {
            case IDLE, ASKING -> {
                for (int voter = 0; voter < VOTERS; voter++) {
                    // Each process asks in another order.
                    int asked = (voter + (p - counters) / FIELDS) % VOTERS;
                    if ((state[p + 1] >> asked & 1) != 0) {
                        continue;
                    }
                    state[p + 1] |= 1 << asked;
                    if (state[asked] < limit * buckets) {
                        state[asked]++;
                        state[p + 2]++;
                    }
                    state[p] = state[p + 2] == 2 ? HOLDING : ASKING;
                    return true;
                }
                state[p] = REFUSED;
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    private boolean counts(int[] state, int p) {
        int bucket = state[p + 1];
        switch (state[p]) {
            case IDLE, ASKING -> {
                state[bucket] = Math.min(state[bucket] + 1, limit + 1);
                if (state[bucket] <= limit) {
                    state[p] = HOLDING;
                } else {
                    state[p] = bucket + 1 < buckets ? ASKING : REFUSED;
                    state[p + 1] = bucket + 1;
                }
            }
            case HOLDING, RELEASING -> {
                int from = state[p] == HOLDING ? buckets - 1 : bucket;
                state[from]--;
                state[p] = state[from] < 0 ? REPAIRING : state[from] == limit ? DRAINING : DONE;
                state[p + 1] = from;
            }
            case REPAIRING -> {
                state[bucket]++;
                state[p] = bucket > 0 ? RELEASING : DONE;
                state[p + 1] = Math.max(0, bucket - 1);
            }
            case DRAINING -> {
                state[bucket] = Math.max(0, state[bucket] - 1);
                state[p] = state[bucket] == limit ? DRAINING : DONE;
            }
            default -> {
                return false;
            }
        }
        return true;
    }
}
