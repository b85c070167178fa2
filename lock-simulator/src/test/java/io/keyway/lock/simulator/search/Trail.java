// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator.search;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The way to a state that breaks a promise: as a chart for people, and as a file from which the explorer goes the same
 * way again. The simulator cannot: its steps are frames of real sessions, and times of real clocks.
 */
record Trail(String scope, List<String> steps, String broken) {
    private static final int COLUMN = 10;

    /** What a search found. */
    static Trail of(Scope scope, Explorer.Space space, Explorer.Seen seen) {
        String broken = seen.broken();
        if (broken == null) {
            throw new IllegalArgumentException("nothing broke in " + scope.name);
        }
        return new Trail(scope.name, Explorer.names(space, seen.way()), broken);
    }

    /** The scope, what broke, and a step in each line. */
    Path write(Path directory) {
        List<String> lines = new ArrayList<>(List.of(scope, broken));
        lines.addAll(steps);
        try {
            Files.createDirectories(directory);
            return Files.write(directory.resolve(scope.replace(' ', '-') + ".trail"), lines);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static Trail read(Path file) {
        try {
            List<String> lines = Files.readAllLines(file);
            return new Trail(lines.get(0), lines.subList(2, lines.size()), lines.get(1));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Goes that way in that space: what breaks at its end, or null if nothing does.
     *
     * @throws IllegalArgumentException if a step of it cannot happen there
     */
    @Nullable
    String replay(Explorer.Space space) {
        int[] state = space.start();
        int[] next = new int[space.width()];
        int[] possible = new int[Explorer.MOST_STEPS];
        for (int i = 0; i < steps.size(); i++) {
            int many = space.steps(state, possible);
            int chosen = -1;
            for (int j = 0; j < many && chosen < 0; j++) {
                chosen = space.name(state, possible[j]).equals(steps.get(i)) ? possible[j] : -1;
            }
            if (chosen < 0) {
                throw new IllegalArgumentException("step " + i + " cannot happen: " + steps.get(i));
            }
            Explorer.Outcome outcome = space.apply(state, chosen, next);
            if (outcome != null) {
                return outcome.why();
            }
            System.arraycopy(next, 0, state, 0, next.length);
        }
        return null;
    }

    /** A column for each process; an arrow ends where a frame arrives, a star marks what happens inside of one. */
    String chart(List<String> processes) {
        StringBuilder text =
                new StringBuilder(scope).append(": ").append(broken).append('\n');
        text.append("      ");
        for (String process : processes) {
            text.append(String.format(Locale.ROOT, "%-" + COLUMN + "s", process));
        }
        text.append('\n');
        for (int i = 0; i < steps.size(); i++) {
            text.append(String.format(Locale.ROOT, "%4d  %s %s%n", i + 1, row(steps.get(i), processes), steps.get(i)));
        }
        return text.toString();
    }

    private static String row(String step, List<String> processes) {
        char[] row = new char[processes.size() * COLUMN];
        Arrays.fill(row, ' ');
        List<Integer> named = new ArrayList<>();
        String head = step.contains(": ") ? step.substring(0, step.indexOf(": ")) : step;
        for (int i = 0; i < processes.size(); i++) {
            row[middle(i)] = '|';
            if (head.contains(processes.get(i))) {
                named.add(i);
            }
        }
        boolean arrives = head.startsWith("to ");
        if (arrives && !named.isEmpty()) {
            int to = named.stream()
                    .filter(each -> head.startsWith("to " + processes.get(each)))
                    .findFirst()
                    .orElse(0);
            int from = named.stream().filter(each -> each != to).findFirst().orElse(0);
            int way = from <= to ? 1 : -1;
            for (int at = middle(from); at != middle(to); at += way) {
                row[at] = '-';
            }
            row[middle(to)] = way > 0 ? '>' : '<';
        } else {
            named.forEach(each -> row[middle(each)] = '*');
        }
        return new String(row);
    }

    private static int middle(int process) {
        return process * COLUMN + COLUMN / 2;
    }
}
