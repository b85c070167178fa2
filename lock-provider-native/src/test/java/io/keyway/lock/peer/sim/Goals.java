// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.sim;

import io.keyway.lock.peer.kernel.Goal;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** How often each rare situation was reached. A campaign that never reached one has proved nothing about it. */
final class Goals {
    private static final class Counter {
        long count;
    }

    private final Map<Goal, Counter> counters = new HashMap<>();

    void reached(Goal goal) {
        Counter counter = counters.get(goal);
        if (counter == null) {
            counter = new Counter();
            counters.put(goal, counter);
        }
        counter.count++;
    }

    void add(Goals other) {
        other.counters.forEach(
                (goal, counter) -> counters.computeIfAbsent(goal, key -> new Counter()).count += counter.count);
    }

    long count(Goal goal) {
        Counter counter = counters.get(goal);
        return counter == null ? 0 : counter.count;
    }

    List<Goal> missing(Collection<? extends Goal> named) {
        return named.stream()
                .filter(goal -> count(goal) == 0)
                .map(goal -> (Goal) goal)
                .toList();
    }

    static List<Goal> all(Goal[]... enums) {
        return Arrays.stream(enums).flatMap(Arrays::stream).toList();
    }

    @Override
    public String toString() {
        Map<String, Long> sorted = new TreeMap<>();
        counters.forEach((goal, counter) -> sorted.put(goal.name(), counter.count));
        return sorted.toString();
    }
}
