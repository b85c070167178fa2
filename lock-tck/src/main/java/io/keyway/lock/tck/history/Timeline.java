// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.history;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * A history as a picture: a line for each client and lock, a bar while it believed to hold, marks for what it was told.
 */
final class Timeline {
    private static final int WIDTH = 900;
    private static final int LEFT = 220;
    private static final int ROW = 26;

    private final StringBuilder svg = new StringBuilder();
    private final List<RecordedHold> guilty;
    private final long from;
    private final long to;

    private Timeline(List<RecordedHold> holds, List<RecordedHold> guilty) {
        this.guilty = guilty;
        this.from = holds.stream().mapToLong(RecordedHold::asked).min().orElse(0);
        this.to =
                Math.max(from + 1, holds.stream().mapToLong(Timeline::end).max().orElse(1));
    }

    /** All of a history. */
    static String of(History history) {
        return draw(history.holds(), List.of());
    }

    /** A breach: what happened to its name, the guilty ones in red. */
    static String of(History history, Violation violation) {
        String name = violation.holds().get(0).name();
        List<RecordedHold> around = history.holds().stream()
                .filter(hold -> hold.name().equals(name))
                .toList();
        int at = around.indexOf(violation.holds().get(0));
        return draw(around.subList(Math.max(0, at - 20), Math.min(around.size(), at + 30)), violation.holds());
    }

    private static String draw(List<RecordedHold> holds, List<RecordedHold> guilty) {
        Map<String, List<RecordedHold>> rows = new LinkedHashMap<>();
        for (RecordedHold hold : holds.subList(0, Math.min(holds.size(), 100))) {
            rows.computeIfAbsent(hold.worker() + " " + shortened(hold.name()), row -> new ArrayList<>())
                    .add(hold);
        }
        Timeline line = new Timeline(holds, guilty);
        line.open(rows.size());
        int y = 30;
        for (Map.Entry<String, List<RecordedHold>> row : rows.entrySet()) {
            line.text(4, y + 12, row.getKey());
            for (RecordedHold hold : row.getValue()) {
                line.hold(hold, y);
            }
            y += ROW;
        }
        return line.svg.append("</svg>").toString();
    }

    private static String shortened(String name) {
        return name.substring(name.lastIndexOf('/') + 1);
    }

    private static long end(RecordedHold hold) {
        long end = hold.isGranted() ? hold.got() : hold.asked();
        end = Math.max(end, hold.belief().map(Interval::to).orElse(end));
        end = Math.max(end, hold.isReleasing() ? hold.releaseCalledAt() : end);
        return Math.max(
                end,
                hold.losses().stream().mapToLong(RecordedHold.Loss::at).max().orElse(end));
    }

    private void open(int rows) {
        svg.append(String.format(
                Locale.ROOT,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" "
                        + "font-size=\"11\">",
                WIDTH + LEFT + 40,
                rows * ROW + 40));
        for (int i = 0; i <= 5; i++) {
            long at = from + (to - from) * i / 5;
            int x = x(at);
            svg.append(String.format(
                    Locale.ROOT,
                    "<line x1=\"%d\" y1=\"20\" x2=\"%d\" y2=\"%d\" stroke=\"#ddd\"/><text x=\"%d\" y=\"14\" "
                            + "fill=\"#666\">%s ms</text>",
                    x,
                    x,
                    rows * ROW + 30,
                    x,
                    RecordedHold.ms(at, from)));
        }
    }

    private void hold(RecordedHold hold, int y) {
        boolean red = guilty.contains(hold);
        long got = hold.isGranted() ? hold.got() : to;
        bar(hold.asked(), got, y + 6, 4, "#bbb", "waited");
        Optional<Interval> belief = hold.belief();
        if (belief.isPresent()) {
            bar(
                    belief.get().from(),
                    belief.get().to(),
                    y,
                    16,
                    red ? "#d33" : "#4a8",
                    "believed, token " + hold.token());
        }
        for (RecordedHold.Loss loss : hold.losses()) {
            text(x(loss.at()) - 4, y + 13, "✕");
        }
        if (hold.isReleasing()) {
            bar(hold.releaseCalledAt(), hold.releaseCalledAt(), y - 2, 20, "#333", "release called");
        }
    }

    private void bar(long begin, long end, int y, int height, String colour, String title) {
        svg.append(String.format(
                Locale.ROOT,
                "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"><title>%s</title></rect>",
                x(begin),
                y,
                Math.max(2, x(end) - x(begin)),
                height,
                colour,
                title));
    }

    private void text(int x, int y, String text) {
        svg.append(String.format(Locale.ROOT, "<text x=\"%d\" y=\"%d\">%s</text>", x, y, escaped(text)));
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }

    private int x(long at) {
        return LEFT + (int) ((at - from) * (double) WIDTH / (to - from));
    }
}
