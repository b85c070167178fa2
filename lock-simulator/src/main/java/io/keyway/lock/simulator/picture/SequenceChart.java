// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator.picture;

import io.keyway.lock.simulator.picture.Run.Event;
import io.keyway.lock.simulator.picture.Run.Kind;
import java.util.List;
import java.util.Locale;

/**
 * The last events of a run as text, one a line: a column for each process, an arrow where a message came or got lost,
 * and what was in it. A star marks the process at which something happened.
 */
public final class SequenceChart {
    private static final int NARROWEST = 9;
    private static final int TIME = 17;

    private final Run run;
    private final int width;
    /** How wide a process's column is. */
    private final int column;

    private final StringBuilder text = new StringBuilder();

    private SequenceChart(Run run, int width) {
        this.run = run;
        this.width = width;
        this.column = run.processes().stream()
                .mapToInt(each -> each.name().length() + 2)
                .reduce(NARROWEST, Math::max);
    }

    /**
     * Draws it.
     *
     * @param run what happened
     * @param lines how many events at most: the last ones
     * @param width where lines are cut off; 0 for nowhere
     * @return lines that end with a line feed
     */
    public static String of(Run run, int lines, int width) {
        return new SequenceChart(run, width).draw(lines);
    }

    private String draw(int lines) {
        StringBuilder heads = new StringBuilder(" ".repeat(TIME));
        for (Run.Lifeline process : run.processes()) {
            heads.append(String.format(Locale.ROOT, "%-" + column + "s", "  " + process.name()));
        }
        add(heads);
        List<Event> events = run.events();
        int first = Math.max(0, events.size() - lines);
        long earlier = run.earlier() + first;
        if (earlier > 0) {
            text.append("    (").append(earlier).append(" earlier events)\n");
        }
        for (Event event : events.subList(first, events.size())) {
            StringBuilder row = event.kind() == Kind.LOCAL ? star(event) : arrow(event);
            add(new StringBuilder(String.format(Locale.ROOT, "%13.3f ms %s %s", event.at() / 1e6, row, event.text())));
        }
        return text.toString();
    }

    private void add(StringBuilder line) {
        String all = line.toString().stripTrailing();
        text.append(width > 0 && all.length() > width ? all.substring(0, width - 1) + "…" : all)
                .append('\n');
    }

    private StringBuilder star(Event event) {
        StringBuilder row = columns();
        row.setCharAt(middle(event.process()), '*');
        return row;
    }

    private StringBuilder arrow(Event event) {
        int from = middle(event.from());
        int to = middle(event.process());
        StringBuilder row = columns();
        int step = from < to ? 1 : -1;
        for (int at = from; at != to; at += step) {
            row.setCharAt(at, '-');
        }
        row.setCharAt(to, event.kind() == Kind.LOST ? 'x' : step > 0 ? '>' : '<');
        return row;
    }

    private int middle(int process) {
        return process * column + column / 2;
    }

    private StringBuilder columns() {
        int processes = run.processes().size();
        StringBuilder row = new StringBuilder(" ".repeat(processes * column));
        for (int i = 0; i < processes; i++) {
            row.setCharAt(middle(i), '|');
        }
        return row;
    }
}
