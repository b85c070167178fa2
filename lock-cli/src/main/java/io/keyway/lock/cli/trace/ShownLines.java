// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli.trace;

import io.keyway.lock.simulator.picture.Run;
import io.keyway.lock.simulator.picture.Run.Bar;
import io.keyway.lock.simulator.picture.Run.Event;
import io.keyway.lock.simulator.picture.Run.Lifeline;
import java.util.ArrayList;
import java.util.List;

/** Leaves out the lines of processes of whom a picture shows nothing. */
final class ShownLines {
    private ShownLines() {}

    /** That run with the lines of those alone who do, get or hold something in it. */
    static Run of(Run run) {
        int count = run.processes().size();
        int[] places = new int[count];
        boolean[] used = new boolean[count];
        run.events().forEach(each -> {
            used[each.process()] = true;
            used[each.from()] = true;
        });
        run.bars().forEach(each -> used[each.process()] = true);
        List<Lifeline> left = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            places[i] = left.size();
            if (used[i]) {
                left.add(run.processes().get(i));
            }
        }
        return new Run(
                run.title(),
                run.command(),
                run.violation(),
                run.earlier(),
                left,
                run.events().stream()
                        .map(each -> new Event(
                                each.at(),
                                each.kind(),
                                places[each.process()],
                                places[each.from()],
                                each.sent(),
                                each.clock(),
                                each.text(),
                                each.states()))
                        .toList(),
                run.bars().stream()
                        .map(each -> new Bar(
                                places[each.process()],
                                each.hold(),
                                each.lock(),
                                each.token(),
                                each.text(),
                                each.from(),
                                each.to()))
                        .toList());
    }
}
