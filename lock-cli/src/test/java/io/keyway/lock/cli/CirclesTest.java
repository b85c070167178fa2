// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/**
 * Who reads a file must not have to read a whole package with it: arrows between packages make no circle, and those
 * between the files of a package none of more than two.
 */
class CirclesTest {
    private static final JavaClasses HOUSE = HouseTest.HOUSE;

    /**
     * These know each other by design: an application opens by {@code Locks}, which asks a provider, which is handed
     * the kit. Who may know the kit is a rule of lock-api's own test.
     */
    private static final Set<String> ONE_ROOM = Set.of(
            "io.keyway.lock",
            "io.keyway.lock.spi",
            "io.keyway.lock.kit",
            "io.keyway.lock.kit.table",
            "io.keyway.lock.kit.agent");

    /**
     * Entries: what stands in the package that users see, beside the words that all below speak, but above all of them.
     */
    private static final Set<String> ENTRIES =
            Set.of("io.keyway.lock.peer.NativeLockProvider", "io.keyway.lock.tck.TckRunner");

    /** A world in which everything acts on everything: its nodes, links, faults and users are read together. */
    private static final String ONE_WORLD = "io.keyway.lock.simulator";

    @Test
    void packagesMakeNoCircle() {
        assertThat(circles(arrows(CirclesTest::room), 1)).isEmpty();
    }

    @Test
    void filesOfAPackageMakeNoCircleOfMoreThanTwo() {
        Map<String, Set<String>> arrows = arrows(CirclesTest::file);
        arrows.forEach((from, to) -> to.removeIf(file -> !parent(file).equals(parent(from))));
        arrows.keySet().removeIf(file -> parent(file).equals(ONE_WORLD));
        assertThat(circles(arrows, 2)).isEmpty();
    }

    @Test
    void aCircleIsSeen() {
        Map<String, Set<String>> arrows = new TreeMap<>();
        arrows.put("a", Set.of("b", "d"));
        arrows.put("b", Set.of("c"));
        arrows.put("c", Set.of("a"));
        arrows.put("d", Set.of());
        assertThat(circles(arrows, 2)).containsExactly(new TreeSet<>(Set.of("a", "b", "c")));
        assertThat(circles(arrows, 3)).isEmpty();
    }

    private static String room(JavaClass type) {
        if (ENTRIES.contains(file(type))) {
            return file(type);
        }
        return ONE_ROOM.contains(type.getPackageName()) ? "io.keyway.lock" : type.getPackageName();
    }

    private static String file(JavaClass type) {
        return type.getName().replaceFirst("\\$.*", "");
    }

    private static String parent(String file) {
        return file.substring(0, file.lastIndexOf('.'));
    }

    /** What each room, of this grain, needs of others. */
    private static Map<String, Set<String>> arrows(Function<JavaClass, String> room) {
        Map<String, Set<String>> arrows = new TreeMap<>();
        for (JavaClass type : HOUSE) {
            Set<String> to = arrows.computeIfAbsent(room.apply(type), n -> new TreeSet<>());
            for (Dependency dependency : type.getDirectDependenciesFromSelf()) {
                JavaClass target = dependency.getTargetClass().getBaseComponentType();
                if (target.getPackageName().startsWith("io.keyway")
                        && !room.apply(target).equals(room.apply(type))) {
                    to.add(room.apply(target));
                }
            }
        }
        return arrows;
    }

    /** The circles, each as large as it can be, that have more than so many members: Tarjan's components. */
    private static List<Set<String>> circles(Map<String, Set<String>> arrows, int most) {
        Components components = new Components(arrows);
        arrows.keySet().forEach(components::visit);
        return components.found.stream().filter(found -> found.size() > most).toList();
    }

    private static final class Components {
        private final Map<String, Set<String>> arrows;
        private final Map<String, Integer> numbers = new HashMap<>();
        private final Map<String, Integer> lowest = new HashMap<>();
        private final Deque<String> open = new ArrayDeque<>();
        private final Set<String> isOpen = new HashSet<>();
        private final List<Set<String>> found = new ArrayList<>();

        Components(Map<String, Set<String>> arrows) {
            this.arrows = arrows;
        }

        int visit(String room) {
            if (numbers.containsKey(room)) {
                return isOpen.contains(room) ? numbers.get(room) : Integer.MAX_VALUE;
            }
            int number = numbers.size();
            numbers.put(room, number);
            open.push(room);
            isOpen.add(room);
            int low = number;
            for (String next : arrows.getOrDefault(room, Set.of())) {
                boolean known = numbers.containsKey(next);
                int reached = visit(next);
                low = Math.min(low, known ? reached : lowest.get(next));
            }
            lowest.put(room, low);
            if (low == number) {
                found.add(closed(room));
            }
            return low;
        }

        private Set<String> closed(String room) {
            Collection<String> members = new ArrayList<>();
            String last;
            do {
                last = open.pop();
                isOpen.remove(last);
                members.add(last);
            } while (!last.equals(room));
            return new TreeSet<>(members);
        }
    }
}
