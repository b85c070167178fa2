// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator.search;

import io.keyway.lock.peer.kernel.CoverageGoal;
import io.keyway.lock.peer.kernel.StateEncoder;
import java.lang.management.ManagementFactory;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Goes through all states of a space, each once, those of the shortest ways first. Of a state it keeps a fingerprint of
 * 64 bits and which step led to it; those that are still to be looked at it keeps packed.
 */
final class Explorer {
    /** No state has more steps. */
    static final int MOST_STEPS = 64;

    /** What a step breaks, if not nothing. */
    record Outcome(String why) {
        /** The step has to wait: more would stand on a link than this search lets. */
        static final Outcome CUT = new Outcome("");

        boolean isCut() {
            return why.isEmpty();
        }
    }

    /** States as numbers: what they mean, and what can happen. */
    interface Space {
        int width();

        int[] start();

        /** Writes what can happen; returns how much that is. */
        int steps(int[] state, int[] into);

        /** Writes the state after a step; null if it breaks nothing. */
        @Nullable
        Outcome apply(int[] state, int step, int[] next);

        /** Equal for states that count as one. */
        long print(int[] state);

        String name(int[] state, int step);

        Set<CoverageGoal> goals();

        /** What the search keeps besides states. */
        String cost();
    }

    /**
     * What a search has seen.
     *
     * @param complete there are no other states
     * @param depth of the longest of the shortest ways
     * @param broken what a step broke; null if none did
     * @param way the steps that led there, as the numbers that {@link Space#steps} wrote; empty if nothing broke
     */
    record Seen(
            long states,
            long steps,
            boolean complete,
            int depth,
            double seconds,
            @Nullable String broken,
            List<Integer> way) {
        String figures() {
            return String.format(
                    Locale.ROOT,
                    "%,d states%s, %,d steps, depth %d, %.1f s, %.2f M states/s",
                    states,
                    complete ? ", complete" : "",
                    steps,
                    depth,
                    seconds,
                    states / seconds / 1e6);
        }
    }

    private static final int CHUNK = 1 << 20;

    private final Space space;
    private final LongSet known = new LongSet();
    private final List<int[]> parents = new ArrayList<>();
    private final List<byte[]> ways = new ArrayList<>();
    private int count;

    private Explorer(Space space) {
        this.space = space;
    }

    /** All states, or the first so many. */
    static Seen search(Space space, int most) {
        return new Explorer(space).run(most);
    }

    /** The fingerprint of a state. */
    static long print(int[] state) {
        long hash = 0x9E3779B97F4A7C15L;
        for (int word : state) {
            hash = (hash ^ word) * 0xD6E8FEB86659FD93L;
            hash ^= hash >>> 32;
        }
        return StateEncoder.mix(hash);
    }

    private Seen run(int most) {
        long began = processorTime();
        PackedQueue frontier = new PackedQueue();
        int[] state = space.start();
        int[] next = new int[space.width()];
        int[] steps = new int[MOST_STEPS];
        long taken = 0;
        int depth = 0;
        add(space.print(state), 0, 0);
        frontier.add(state);
        int endOfDepth = 1;
        int at = 0;
        for (; !frontier.isEmpty() && count < most; at++) {
            if (at == endOfDepth) {
                depth++;
                endOfDepth = count;
            }
            frontier.remove(state);
            int many = space.steps(state, steps);
            for (int i = 0; i < many; i++) {
                Outcome outcome = space.apply(state, steps[i], next);
                taken++;
                if (outcome != null && outcome.isCut()) {
                    continue;
                }
                if (outcome != null) {
                    List<Integer> way = way(at);
                    way.add(i);
                    return seen(taken, false, depth + 1, began, outcome.why(), way);
                }
                if (add(space.print(next), at, i)) {
                    frontier.add(next);
                }
            }
        }
        return seen(taken, frontier.isEmpty(), depth, began, null, List.of());
    }

    /** Of this thread, in nanoseconds: others may be at work on the same machine. */
    private static long processorTime() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    private Seen seen(long taken, boolean complete, int depth, long began, @Nullable String broken, List<Integer> way) {
        return new Seen(count, taken, complete, depth, (processorTime() - began) / 1e9, broken, way);
    }

    private boolean add(long print, int parent, int step) {
        if (!known.add(print)) {
            return false;
        }
        if (count % CHUNK == 0) {
            parents.add(new int[CHUNK]);
            ways.add(new byte[CHUNK]);
        }
        parents.get(count / CHUNK)[count % CHUNK] = parent;
        ways.get(count / CHUNK)[count % CHUNK] = (byte) step;
        count++;
        return true;
    }

    private List<Integer> way(int state) {
        List<Integer> way = new ArrayList<>();
        for (int at = state; at != 0; at = parents.get(at / CHUNK)[at % CHUNK]) {
            way.add(0, (int) ways.get(at / CHUNK)[at % CHUNK]);
        }
        return way;
    }

    /** States in the order in which they came, in as many bytes as their numbers need. */
    private static final class PackedQueue {
        private static final int SIZE = 1 << 22;

        private final ArrayDeque<byte[]> chunks = new ArrayDeque<>();
        private byte[] last = new byte[SIZE];
        private int end;
        private int begin;

        PackedQueue() {
            chunks.add(last);
        }

        boolean isEmpty() {
            return chunks.size() == 1 && begin == end;
        }

        void add(int[] state) {
            if (end + 5 * state.length > SIZE) {
                if (end < SIZE) {
                    last[end] = -1; // no number begins so
                }
                last = new byte[SIZE];
                chunks.add(last);
                end = 0;
            }
            int at = end;
            byte[] bytes = last;
            for (int word : state) {
                if (word >= 0 && word < 64) {
                    bytes[at++] = (byte) word;
                } else if (word >= 0 && word < 1 << 22) {
                    bytes[at++] = (byte) (64 | (word >>> 16));
                    bytes[at++] = (byte) (word >>> 8);
                    bytes[at++] = (byte) word;
                } else {
                    bytes[at++] = (byte) 128;
                    bytes[at++] = (byte) (word >>> 24);
                    bytes[at++] = (byte) (word >>> 16);
                    bytes[at++] = (byte) (word >>> 8);
                    bytes[at++] = (byte) word;
                }
            }
            end = at;
        }

        void remove(int[] into) {
            byte[] bytes = chunks.getFirst();
            if (bytes != last && (begin == SIZE || bytes[begin] == -1)) {
                chunks.removeFirst();
                begin = 0;
                bytes = chunks.getFirst();
            }
            int at = begin;
            for (int i = 0; i < into.length; i++) {
                int head = bytes[at++];
                if (head == -128) {
                    into[i] = (bytes[at] << 24)
                            | ((bytes[at + 1] & 255) << 16)
                            | ((bytes[at + 2] & 255) << 8)
                            | (bytes[at + 3] & 255);
                    at += 4;
                } else if (head >= 64) {
                    into[i] = ((head & 63) << 16) | ((bytes[at] & 255) << 8) | (bytes[at + 1] & 255);
                    at += 2;
                } else {
                    into[i] = head;
                }
            }
            begin = at;
        }
    }

    /** The steps of a way, as people read them. */
    static List<String> names(Space space, List<Integer> way) {
        List<String> names = new ArrayList<>();
        int[] state = space.start();
        int[] next = new int[space.width()];
        int[] steps = new int[MOST_STEPS];
        for (int step : way) {
            int many = space.steps(state, steps);
            if (step >= many) {
                throw new IllegalArgumentException("there is no step " + step + " of " + Arrays.toString(state));
            }
            names.add(space.name(state, steps[step]));
            space.apply(state, steps[step], next);
            System.arraycopy(next, 0, state, 0, next.length);
        }
        return names;
    }
}
