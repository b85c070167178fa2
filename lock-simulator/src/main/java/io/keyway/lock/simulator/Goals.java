// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.kernel.CoverageGoal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** How often each rare situation was reached. A campaign that never reached one has proved nothing about it. */
final class Goals {
    /** The goals of one enum. */
    private static final class Family {
        final Class<?> type;
        final CoverageGoal[] goals;
        final long[] counts;

        Family(Class<?> type) {
            this.type = type;
            this.goals = (CoverageGoal[]) type.getEnumConstants();
            this.counts = new long[goals.length];
        }
    }

    private final List<Family> families = new ArrayList<>(4);

    void reached(CoverageGoal goal) {
        family(goal).counts[index(goal)]++;
    }

    @SuppressWarnings("EnumOrdinal") // counts of one process, on a hot path
    private static int index(CoverageGoal goal) {
        return ((Enum<?>) goal).ordinal();
    }

    private Family family(CoverageGoal goal) {
        Class<?> type = ((Enum<?>) goal).getDeclaringClass();
        for (int i = 0; i < families.size(); i++) {
            if (families.get(i).type == type) {
                return families.get(i);
            }
        }
        Family fresh = new Family(type);
        families.add(fresh);
        return fresh;
    }

    void add(Goals other) {
        for (Family theirs : other.families) {
            Family ours = family(theirs.goals[0]);
            for (int i = 0; i < theirs.counts.length; i++) {
                ours.counts[i] += theirs.counts[i];
            }
        }
    }

    long count(CoverageGoal goal) {
        return family(goal).counts[index(goal)];
    }

    List<CoverageGoal> missing(Collection<? extends CoverageGoal> named) {
        return named.stream()
                .filter(goal -> count(goal) == 0)
                .map(goal -> (CoverageGoal) goal)
                .toList();
    }

    static List<CoverageGoal> all(CoverageGoal[]... enums) {
        return Arrays.stream(enums).flatMap(Arrays::stream).toList();
    }

    @Override
    public String toString() {
        Map<String, Long> sorted = new TreeMap<>();
        for (Family family : families) {
            for (CoverageGoal goal : family.goals) {
                if (count(goal) > 0) {
                    sorted.put(goal.name(), count(goal));
                }
            }
        }
        return sorted.toString();
    }
}
