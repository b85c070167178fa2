// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator.search;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Goes through the states of a world, each once, shortest ways first, or at random to the end. A step that breaks a
 * promise throws; the search says which steps led there.
 */
public final class Search {
    private Search() {}

    /** A world that does not change: a step makes another one. */
    public interface World<W extends World<W>> {
        /** What can happen next. */
        List<Step<W>> steps();

        /** Equal for worlds from which the same can happen. */
        long fingerprint();
    }

    /** Something that can happen; {@code next} makes the world after it, and throws if that breaks a promise. */
    public record Step<W>(String name, Supplier<W> next) {}

    private record Node<W>(
            @Nullable Node<W> before, String step, @Nullable W world) {}

    /**
     * What a search has seen.
     *
     * @param states how many there are
     * @param complete there are no others
     */
    public record Seen(long states, boolean complete) {}

    /** All states of a world, or the first so many of them. */
    public static <W extends World<W>> Seen all(W start, int most) {
        Set<Long> known = new HashSet<>();
        ArrayDeque<Node<W>> frontier = new ArrayDeque<>();
        known.add(start.fingerprint());
        frontier.add(new Node<>(null, "start", start));
        for (Node<W> node = frontier.pollFirst(); node != null && known.size() < most; node = frontier.pollFirst()) {
            W world = node.world();
            Node<W> way = new Node<>(node.before(), node.step(), null); // the worlds on the way are not kept
            for (Step<W> step : world == null ? List.<Step<W>>of() : world.steps()) {
                W next = after(step, way);
                if (known.add(next.fingerprint())) {
                    frontier.addLast(new Node<>(way, step.name(), next));
                }
            }
        }
        return new Seen(known.size(), frontier.isEmpty());
    }

    /** So many ways through a world, each to its end; returns how many steps they were. */
    public static <W extends World<W>> long walks(W start, long seed, int count) {
        Random random = new Random(seed);
        long steps = 0;
        for (int i = 0; i < count; i++) {
            Node<W> way = new Node<>(null, "start", null);
            W world = start;
            for (List<Step<W>> next = world.steps(); !next.isEmpty(); next = world.steps()) {
                Step<W> step = next.get(random.nextInt(next.size()));
                world = after(step, way);
                way = new Node<>(way, step.name(), null);
                steps++;
            }
        }
        return steps;
    }

    private static <W> W after(Step<W> step, Node<W> way) {
        try {
            return step.next().get();
        } catch (AssertionError | RuntimeException e) {
            List<String> steps = new ArrayList<>(List.of(step.name()));
            for (Node<W> at = way; at != null; at = at.before()) {
                steps.add(0, at.step());
            }
            throw new AssertionError(e + "\n  " + String.join("\n  ", steps), e);
        }
    }
}
