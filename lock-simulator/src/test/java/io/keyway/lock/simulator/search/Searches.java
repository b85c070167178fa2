// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator.search;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.kernel.CoverageGoal;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** Runs searches, and says what they have seen. */
final class Searches {
    private static final Path TRAILS = Path.of("target", "trails");

    private Searches() {}

    /** All states, or the first so many; nothing breaks, and all that the scope must reach is reached. */
    static Explorer.Seen clean(Scope scope, int most) {
        RpcWorld world = new RpcWorld(scope);
        Explorer.Seen seen = Explorer.search(world, most);
        say(scope, world, seen);
        if (seen.broken() != null) {
            Trail trail = Trail.of(scope, world, seen);
            throw new AssertionError(trail.chart(world) + "again: " + trail.write(TRAILS, world));
        }
        Set<String> reached = world.goals().stream().map(CoverageGoal::name).collect(Collectors.toSet());
        assertThat(reached).as("goals of: %s", scope.name).containsAll(scope.goals);
        return seen;
    }

    static void complete(Scope scope, int most) {
        assertThat(clean(scope, most).complete()).as(scope.name).isTrue();
    }

    /** The shortest way to what that scope breaks. */
    static Trail broken(Scope scope, int most) {
        RpcWorld world = new RpcWorld(scope);
        Explorer.Seen seen = Explorer.search(world, most);
        if (seen.broken() == null) {
            throw new AssertionError("nothing breaks in " + scope.name + ": " + seen.figures());
        }
        return Trail.of(scope, world, seen);
    }

    @SuppressWarnings("SystemOut") // a search that says nothing of what it saw proves nothing
    private static void say(Scope scope, RpcWorld world, Explorer.Seen seen) {
        List<String> goals =
                world.goals().stream().map(CoverageGoal::name).sorted().toList();
        System.out.println(scope.name + ": " + seen.figures() + "; " + world.cost() + "; reached " + goals);
    }
}
