// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator.search;

import io.keyway.lock.simulator.picture.Run;
import io.keyway.lock.simulator.picture.RunJson;
import io.keyway.lock.simulator.picture.SequenceChart;
import io.keyway.lock.simulator.picture.SpaceTimePage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The way to a state that breaks a promise: as a chart and as a page for people, and as a file from which the explorer
 * goes the same way again. The simulator cannot: its steps are frames of real sessions, and times of real clocks.
 */
record Trail(String scope, List<String> steps, String broken) {
    /** What a search found. */
    static Trail of(Scope scope, Explorer.Space space, Explorer.Seen seen) {
        String broken = seen.broken();
        if (broken == null) {
            throw new IllegalArgumentException("nothing broke in " + scope.name);
        }
        return new Trail(scope.name, Explorer.names(space, seen.way()), broken);
    }

    /** The scope, what broke, and a step in each line; beside it, what happens as JSON and as a page. */
    Path write(Path directory, RpcWorld world) {
        List<String> lines = new ArrayList<>(List.of(scope, broken));
        lines.addAll(steps);
        Run run = TrailRun.of(this, world);
        String name = scope.replaceAll("\\W+", "-");
        try {
            Files.createDirectories(directory);
            Files.writeString(directory.resolve(name + ".json"), RunJson.of(run));
            Files.writeString(directory.resolve(name + ".html"), SpaceTimePage.of(run));
            return Files.write(directory.resolve(name + ".trail"), lines);
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
        return follow(space, (state, step, next) -> {});
    }

    /** Is told of each step, and of the states before and after it; it changes neither. */
    interface Watcher {
        void took(int[] state, int step, int[] next);
    }

    /** As {@link #replay}, with somebody who looks on. */
    @Nullable
    String follow(Explorer.Space space, Watcher watcher) {
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
            watcher.took(state, chosen, next);
            if (outcome != null) {
                return outcome.why();
            }
            System.arraycopy(next, 0, state, 0, next.length);
        }
        return null;
    }

    /** What happens, with a column for each process. */
    String chart(RpcWorld world) {
        return scope + ": " + broken + '\n' + SequenceChart.of(TrailRun.of(this, world), Integer.MAX_VALUE, 0);
    }
}
