// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.session.SessionFrame;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The last events of a run, one a line: a column for each node, an arrow where a frame arrived or got lost, and what
 * was in it. A star marks the node at which something happened.
 */
final class SequenceChart implements Tracer {
    private static final int COLUMN = 9;

    private final ArrayDeque<String> lines = new ArrayDeque<>();
    private final int limit;
    private int nodes;
    private @Nullable SimWorld world;
    private long dropped;

    SequenceChart(int limit) {
        this.limit = limit;
    }

    void of(SimWorld watched) {
        world = watched;
        nodes = watched.size();
    }

    @Override
    public void arrived(SimLink link, int direction, Object frame) {
        if (link.client.node().isMember()
                && frame instanceof SessionFrame.Data data
                && data.messages().isEmpty()) {
            return; // members that keep in touch
        }
        arrow(link, direction, frame.toString(), false);
    }

    @Override
    public void lost(SimLink link, int direction, Object frame, String why) {
        arrow(link, direction, why + ": " + frame, true);
    }

    @Override
    public void local(SimNode node, String what) {
        StringBuilder row = columns();
        row.setCharAt(middle(node.slot()), '*');
        add(row, node + ": " + what);
    }

    private void arrow(SimLink link, int direction, String text, boolean lost) {
        int from = middle(link.node(1 - direction).slot());
        int to = middle(link.node(direction).slot());
        StringBuilder row = columns();
        int step = from < to ? 1 : -1;
        for (int at = from; at != to; at += step) {
            row.setCharAt(at, '-');
        }
        row.setCharAt(to, lost ? 'x' : step > 0 ? '>' : '<');
        add(row, text);
    }

    private static int middle(int node) {
        return node * COLUMN + COLUMN / 2;
    }

    private StringBuilder columns() {
        StringBuilder row = new StringBuilder(" ".repeat(nodes * COLUMN));
        for (int i = 0; i < nodes; i++) {
            row.setCharAt(middle(i), '|');
        }
        return row;
    }

    private void add(StringBuilder row, String text) {
        double millis = world == null ? 0 : world.now() / 1e6;
        lines.addLast(String.format(Locale.ROOT, "%13.3f ms %s %s", millis, row, text));
        if (lines.size() > limit) {
            lines.removeFirst();
            dropped++;
        }
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(" ".repeat(17));
        for (int i = 0; i < nodes; i++) {
            String name = world == null ? "" : world.bySlot(i).toString();
            text.append(String.format(Locale.ROOT, "%-" + COLUMN + "s", "  " + name));
        }
        text.append('\n');
        if (dropped > 0) {
            text.append("    (").append(dropped).append(" earlier events)\n");
        }
        List.copyOf(lines).forEach(line -> text.append(line.stripTrailing()).append('\n'));
        return text.toString();
    }
}
