// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator.search;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.client.UnsafeCaches;
import io.keyway.lock.peer.lamport.UnsafeLamport;
import io.keyway.lock.peer.queue.UnsafeModes;
import io.keyway.lock.peer.queue.UnsafeQueue;
import io.keyway.lock.peer.service.Unsafe;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.provider.EnumSource;

/** The table of docs/explorer.md of what was broken on purpose is that of the tests which find it. */
class MutantsTableTest {
    private static final String PACKAGE = "io.keyway.lock.simulator.";

    /** The switches, and by which classes of tests, beside the explorer, each of them is found. */
    private static Map<Class<?>, List<String>> simulated() throws ClassNotFoundException {
        Map<Class<?>, List<String>> all = new LinkedHashMap<>();
        all.put(Unsafe.class, List.of("UnsafeVariantsTest"));
        all.put(UnsafeQueue.class, List.of("RestartSimulationTest"));
        all.put(UnsafeModes.class, List.of("UnsafeModesTest"));
        all.put(UnsafeCaches.class, List.of());
        all.put(UnsafeLamport.class, List.of("LamportSimulationTest"));
        all.put(Class.forName(PACKAGE + "Shortcut"), List.of("UnsafeClusterTest", "RestartSimulationTest"));
        all.put(Class.forName(PACKAGE + "UnsafeSessionsTest$Flaw"), List.of("UnsafeSessionsTest"));
        return all;
    }

    /** By switch, the tests that find it. */
    private static Map<String, String> ofTheCode() throws ClassNotFoundException {
        List<Enum<?>> explored = new ArrayList<>();
        MutantsTest.mutants().forEach(mutant -> explored.add(mutant.undone()));
        Map<String, String> all = new TreeMap<>();
        for (Map.Entry<Class<?>, List<String>> each : simulated().entrySet()) {
            for (Object undone : each.getKey().getEnumConstants()) {
                List<String> found = new ArrayList<>();
                for (String test : each.getValue()) {
                    if (isGiven(Class.forName(PACKAGE + test), (Enum<?>) undone)) {
                        found.add(test);
                    }
                }
                if (explored.contains(undone)) {
                    found.add("MutantsTest");
                }
                if (undone != UnsafeLamport.NONE) {
                    all.put(each.getKey().getSimpleName() + "." + undone, String.join(", ", found));
                }
            }
        }
        return all;
    }

    /** Whether a parameterized test of that class is given it. */
    private static boolean isGiven(Class<?> test, Enum<?> undone) {
        for (Method method : test.getDeclaredMethods()) {
            EnumSource source = method.getAnnotation(EnumSource.class);
            if (source != null && method.getParameterTypes()[0] == undone.getDeclaringClass()) {
                return source.names().length == 0
                        || (source.mode() == EnumSource.Mode.EXCLUDE)
                                != List.of(source.names()).contains(undone.name());
            }
        }
        return false;
    }

    @Test
    void thePageNamesEachMutantAndWhatFindsIt() throws IOException, ClassNotFoundException {
        Map<String, String> page = new TreeMap<>();
        try (Stream<String> lines = Files.lines(Path.of("..", "docs", "explorer.md"))) {
            lines.filter(line -> line.matches("\\| `\\w+\\.[A-Z_]+` .*")).forEach(line -> {
                String[] cells = Arrays.stream(line.split("\\|"))
                        .map(cell -> cell.replace("`", "").strip())
                        .toArray(String[]::new);
                assertThat(cells).as(line).hasSize(5);
                assertThat(cells[2]).as(line).isNotEmpty();
                assertThat(cells[4].split(", "))
                        .as("a length for each test that finds it: %s", line)
                        .hasSize(cells[3].replace(", profile full", "").split(", ").length)
                        .allSatisfy(length -> assertThat(Integer.parseInt(length.replace("at most ", "")))
                                .isBetween(1, 30));
                page.put(cells[1], cells[3]);
            });
        }
        Map<String, String> code = ofTheCode();
        // rare: a test of a profile has the time
        assertThat(code.put("Shortcut.FORGETS_LONGER_LEASES", "UnsafeClusterTest, profile full"))
                .isEmpty();
        assertThat(page).isEqualTo(code).hasSizeGreaterThanOrEqualTo(30).doesNotContainValue("");
    }
}
