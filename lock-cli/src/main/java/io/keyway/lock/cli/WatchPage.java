// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockStatus;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;

/**
 * Locks, holders, waiters and members as one screen. Each line is drawn over the one before and then erased to its end,
 * so that nothing flickers. Knows no terminal and no clock.
 */
final class WatchPage {
    private static final long RATED_NANOS = 10_000_000_000L;
    private static final int SMALL = 10;
    private static final String HOME = "\033[H";
    private static final String TO_THE_END_OF_THE_LINE = "\033[K";
    private static final String TO_THE_END_OF_THE_SCREEN = "\033[J";
    private static final String BOLD = "\033[1m";
    private static final String DIM = "\033[2m";
    private static final String PLAIN = "\033[m";

    /** What was new at one look. */
    private record Seen(long at, int grants) {}

    private final String title;
    private final ArrayDeque<Seen> seen = new ArrayDeque<>();
    private Set<String> holders = new HashSet<>();
    private Statuses statuses = Statuses.NONE;
    private Map<String, String> members = new TreeMap<>();
    private boolean looked;
    private long since;

    /** @param title what is looked at */
    WatchPage(String title) {
        this.title = StatusText.printable(title);
    }

    /**
     * Takes what was found.
     *
     * @param found all of it
     * @param states by member, or by server, what it is at
     * @param now in nanoseconds
     */
    void looked(Statuses found, Map<String, String> states, long now) {
        Set<String> before = holders;
        holders = new HashSet<>();
        int fresh = 0;
        for (LockStatus status : found.found()) {
            for (LockStatus.Holder holder : status.holders()) {
                String grant = status.key() + " " + holder.client() + " " + holder.token();
                fresh += holders.add(grant) && !before.contains(grant) ? 1 : 0;
            }
        }
        if (looked) {
            seen.add(new Seen(now, fresh));
        } else {
            since = now;
        }
        while (!seen.isEmpty() && now - seen.peekFirst().at() > RATED_NANOS) {
            since = seen.removeFirst().at();
        }
        looked = true;
        statuses = found;
        members = new TreeMap<>(states);
    }

    /** The whole screen, of exactly so many rows at most, none of which is wider than it is. */
    String draw(int rows, int columns, String clock) {
        List<String> lines = new ArrayList<>();
        lines.add(BOLD + cut(title, columns - clock.length() - 3) + PLAIN + "  " + clock);
        for (Map.Entry<String, String> member : members.entrySet()) {
            lines.add("  " + StatusText.printable(member.getKey() + "  " + member.getValue()));
        }
        for (String missing : statuses.missing()) {
            if (members.keySet().stream().noneMatch(member -> Statuses.isAbout(missing, member))) {
                lines.add("  not shown: " + StatusText.printable(missing));
            }
        }
        lines.add(sums());
        if (rows > SMALL) {
            lines.add("");
        }
        List<String> locks = locks();
        int room = Math.max(0, rows - lines.size() - 1);
        if (locks.size() > room) {
            int left = locks.size() - Math.max(0, room - 1);
            locks = new ArrayList<>(locks.subList(0, Math.max(0, room - 1)));
            locks.add(DIM + "... " + left + " more lines: make the window taller, or name one lock" + PLAIN);
        }
        lines.addAll(locks);
        while (lines.size() < rows - 1) {
            lines.add("");
        }
        lines.add(DIM + "q quits" + PLAIN);
        return screen(lines.subList(0, Math.min(rows, lines.size())), columns);
    }

    private static String screen(List<String> lines, int columns) {
        StringBuilder screen = new StringBuilder(HOME);
        for (int i = 0; i < lines.size(); i++) {
            screen.append(cut(lines.get(i), columns))
                    .append(PLAIN)
                    .append(TO_THE_END_OF_THE_LINE)
                    .append(i + 1 < lines.size() ? "\r\n" : "");
        }
        return screen.append(TO_THE_END_OF_THE_SCREEN).toString();
    }

    private String sums() {
        int held = 0;
        int waiting = 0;
        Duration longest = Duration.ZERO;
        String where = "";
        for (LockStatus status : statuses.found()) {
            held += status.holders().size();
            waiting += status.waiters().size();
            for (LockStatus.Waiter waiter : status.waiters()) {
                if (waiter.since().compareTo(longest) > 0) {
                    longest = waiter.since();
                    where = StatusText.printable(status.key().name().toString());
                }
            }
        }
        String sums = held + " held, " + waiting + " waiting" + rate();
        return where.isEmpty() ? sums : sums + "; the longest for " + Durations.show(longest) + ", for " + where;
    }

    /** Holders that were there at no look before; who came and went in between was not seen. */
    private String rate() {
        if (seen.isEmpty()) {
            return "";
        }
        double seconds = (seen.peekLast().at() - since) / 1e9;
        int fresh = seen.stream().mapToInt(Seen::grants).sum();
        return seconds <= 0 ? "" : String.format(Locale.ROOT, ", %.1f new holders seen a second", fresh / seconds);
    }

    private List<String> locks() {
        List<String> lines = new ArrayList<>();
        List<LockStatus> sorted = new ArrayList<>(statuses.found());
        sorted.sort(Comparator.comparing((LockStatus each) -> each.waiters().isEmpty())
                .thenComparing(each -> each.key().name().toString()));
        for (LockStatus status : sorted) {
            boolean semaphore = status.key().kind() == LockKey.Kind.SEMAPHORE;
            lines.add(BOLD
                    + StatusText.printable(status.key().name().toString())
                    + PLAIN
                    + (semaphore ? " (semaphore)" : "")
                    + (status.buckets().isEmpty() ? "" : " permits out " + status.buckets())
                    + (status.holders().isEmpty() ? "  not held" : ""));
            for (LockStatus.Holder holder : status.holders()) {
                String left = holder.kept()
                        .map(kept -> "  kept, free in " + Durations.show(kept))
                        .orElse("");
                lines.add("  holds    " + party(holder.client(), holder.mode(), holder.permits(), holder.since())
                        + left
                        + rest(holder.token(), holder.metadata()));
            }
            int place = 0;
            for (LockStatus.Waiter waiter : status.waiters()) {
                lines.add(String.format(Locale.ROOT, "  waits %2d ", ++place)
                        + party(waiter.client(), waiter.mode(), waiter.permits(), waiter.since())
                        + rest(waiter.token(), waiter.metadata()));
            }
            for (LockStatus.Waiter writer : status.softWriters()) {
                lines.add("  yields   "
                        + party(writer.client(), writer.mode(), writer.permits(), writer.since())
                        + rest(writer.token(), writer.metadata()));
            }
        }
        if (lines.isEmpty() && statuses.missing().isEmpty()) {
            lines.add(looked ? "No lock is held or waited for." : "...");
        }
        return lines;
    }

    private static String party(String client, LockMode mode, int permits, Duration since) {
        String mark = StatusText.how(mode, permits);
        String how = mark.isEmpty() ? "" : "  " + mark;
        return String.format(Locale.ROOT, "%7s  %s%s", Durations.show(since), StatusText.printable(client), how);
    }

    private static String rest(OptionalLong token, Map<String, String> metadata) {
        StringBuilder rest = new StringBuilder();
        for (Map.Entry<String, String> each : new TreeMap<>(metadata).entrySet()) {
            rest.append("  ").append(StatusText.printable(each.getKey() + "=" + each.getValue()));
        }
        if (token.isPresent()) {
            rest.append("  ").append(DIM).append("token ").append(token.getAsLong());
        }
        return rest.toString();
    }

    /** At most so many characters, beside the escape sequences, which take no room. */
    static String cut(String line, int columns) {
        StringBuilder cut = new StringBuilder();
        int room = Math.max(0, columns);
        for (int i = 0; i < line.length(); ) {
            if (line.charAt(i) == '\033') {
                int end = line.indexOf('m', i) + 1;
                cut.append(line, i, end);
                i = end;
                continue;
            }
            int point = line.codePointAt(i);
            int width = isWide(point) ? 2 : 1;
            if (width > room) {
                break;
            }
            room -= width;
            cut.appendCodePoint(point);
            i += Character.charCount(point);
        }
        return cut.toString();
    }

    /** Terminals give these two columns. */
    private static boolean isWide(int point) {
        return Character.isIdeographic(point)
                || (point >= 0x1100 && point <= 0x115f)
                || (point >= 0x3000 && point <= 0x30ff)
                || (point >= 0xac00 && point <= 0xd7a3)
                || (point >= 0xff00 && point <= 0xff60)
                || (point >= 0x1f300 && point <= 0x1faff);
    }
}
