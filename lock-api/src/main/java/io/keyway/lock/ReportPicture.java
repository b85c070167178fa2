// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * A {@code TransactionReport} as a drawing: at the left the transaction, beside it the locks that it has and those that
 * it waits for, at the right who holds and who waits for these. An arrow leads from who waits to a lock, and from a
 * lock to who holds it. Below, each circle that was resolved is a row of its own.
 */
final class ReportPicture {
    private static final int ROW = 56;
    private static final int BOX = 36;
    private static final int WIDE = 230;
    private static final int GAP = 230;
    private static final int EDGE = 12;
    /** Of the transaction's own box. */
    private static final int TOP = EDGE;
    /** What a box, and what the space between two, has room for at the size of the text. */
    private static final int LETTERS = 36;

    private static final String HOLDS = "#2a7";
    private static final String WAITS = "#c62";
    private static final String PLAIN = "#666";

    private final StringBuilder svg = new StringBuilder();
    private int width = x(2) + WIDE + EDGE;
    private int y = TOP;

    ReportPicture(String transaction, String status) {
        box(x(0), TOP, PLAIN, transaction, status);
    }

    String document() {
        return String.format(
                Locale.ROOT,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%1$d\" height=\"%2$d\" viewBox=\"0 0 %1$d %2$d\" "
                        + "font-family=\"sans-serif\" font-size=\"11\">%n<defs><marker id=\"head\" markerWidth=\"8\" "
                        + "markerHeight=\"8\" refX=\"7\" refY=\"4\" orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\" "
                        + "fill=\"%3$s\"/></marker></defs>%n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>%n"
                        + "%4$s</svg>%n",
                width,
                belowAll() + EDGE,
                PLAIN,
                svg);
    }

    void held(LockName lock, LockMode mode, long token) {
        box(x(1), y, HOLDS, lock.toString(), "token " + token);
        arrow(x(1), y, x(0) + WIDE, TOP, HOLDS, "has " + mode);
        y += ROW;
    }

    void wait(LockName name, LockMode mode, Duration waited, Optional<LockStatus> shown) {
        int lock = y;
        box(x(1), lock, WAITS, name.toString(), "");
        arrow(x(0) + WIDE, TOP, x(1), lock, WAITS, mode + since(waited));
        shown.ifPresent(status -> parties(status, lock));
        y = Math.max(y, lock + ROW);
    }

    private void parties(LockStatus shown, int lock) {
        for (LockStatus.Holder holder : shown.holders()) {
            box(x(2), y, HOLDS, holder.client(), "holds" + since(holder.since()));
            arrow(x(1) + WIDE, lock, x(2), y, HOLDS, holder.mode().name());
            y += ROW;
        }
        for (LockStatus.Waiter waiter : shown.waiters()) {
            box(x(2), y, WAITS, waiter.client(), "waits" + since(waiter.since()));
            arrow(x(2), y, x(1) + WIDE, lock, WAITS, waiter.mode().name());
            y += ROW;
        }
    }

    /** The first gave way: the arrow of the last one comes back to it from below. */
    void circle(Deadlock deadlock) {
        List<Deadlock.Waiter> cycle = deadlock.cycle();
        y = belowAll();
        text(x(0), y + EDGE, PLAIN, "deadlock: " + deadlock.way() + ", " + deadlock.gaveUp() + " was given up");
        y += ROW / 2;
        for (int i = 0; i < cycle.size(); i++) {
            Deadlock.Waiter each = cycle.get(i);
            box(x(i), y, i == 0 ? WAITS : PLAIN, each.transaction(), each.owner());
            if (i + 1 < cycle.size()) {
                arrow(x(i) + WIDE, y, x(i + 1), y, WAITS, each.waitsFor() + since(each.waited()));
            }
        }
        int last = x(cycle.size() - 1) + WIDE / 2;
        int first = x(0) + WIDE / 2;
        int below = y + BOX + ROW / 2;
        Deadlock.Waiter back = cycle.get(cycle.size() - 1);
        svg.append(String.format(
                Locale.ROOT,
                "<path d=\"M%d,%d V%d H%d V%d\" fill=\"none\" stroke=\"%s\" marker-end=\"url(#head)\"/>%n",
                last,
                y + BOX,
                below,
                cycle.size() > 1 ? first : x(0) + EDGE,
                y + BOX + 2,
                WAITS));
        text(first + EDGE, below - 4, WAITS, shortened(back.waitsFor() + since(back.waited())));
        width = Math.max(width, x(cycle.size() - 1) + WIDE + EDGE);
        y = below + ROW / 2;
    }

    /** Below all that is drawn. */
    private int belowAll() {
        return Math.max(y, TOP + ROW);
    }

    private static int x(int column) {
        return EDGE + column * (WIDE + GAP);
    }

    private static String since(Duration time) {
        return " since " + time.toMillis() + " ms";
    }

    private void box(int x, int y, String colour, String title, String below) {
        svg.append(String.format(
                Locale.ROOT,
                "<g><title>%s</title><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"6\" fill=\"white\" "
                        + "stroke=\"%s\" stroke-width=\"1.5\"/></g>%n",
                escaped(title),
                x,
                y,
                WIDE,
                BOX,
                colour));
        text(x + 8, y + (below.isEmpty() ? 22 : 15), "#000", shortened(title));
        text(x + 8, y + 29, PLAIN, shortened(below));
    }

    private void arrow(int fromX, int fromY, int toX, int toY, String colour, String label) {
        int from = fromY + BOX / 2;
        int to = toY + BOX / 2;
        svg.append(String.format(
                Locale.ROOT,
                "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"%s\" marker-end=\"url(#head)\"/>%n",
                fromX,
                from,
                toX,
                to,
                colour));
        // At the end of which each arrow has a row of its own, and on the side from which none comes.
        boolean right = toX > fromX;
        int high = right ? to : from;
        int low = right ? from : to;
        svg.append(String.format(
                Locale.ROOT,
                "<text x=\"%d\" y=\"%d\" fill=\"%s\" text-anchor=\"end\" "
                        + "paint-order=\"stroke\" stroke=\"white\" stroke-width=\"3\">%s</text>%n",
                Math.max(fromX, toX) - EDGE,
                high > low ? high + 13 : high - 5,
                colour,
                escaped(shortened(label))));
    }

    private void text(int x, int y, String colour, String text) {
        if (!text.isEmpty()) {
            svg.append(String.format(
                    Locale.ROOT, "<text x=\"%d\" y=\"%d\" fill=\"%s\">%s</text>%n", x, y, colour, escaped(text)));
        }
    }

    private static String shortened(String text) {
        return text.length() <= LETTERS ? text : text.substring(0, LETTERS - 1) + "…";
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
