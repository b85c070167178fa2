// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Finds what was probably meant by a word that is not known. */
final class CommandSuggestion {
    /** What other tools call it. */
    private static final Map<String, String> ELSEWHERE = Map.ofEntries(
            Map.entry("lock", "run"),
            Map.entry("flock", "run"),
            Map.entry("acquire", "run"),
            Map.entry("exec", "run"),
            Map.entry("with", "run"),
            Map.entry("ls", "show"),
            Map.entry("ps", "show"),
            Map.entry("status", "show"),
            Map.entry("info", "show"),
            Map.entry("watch", "show"),
            Map.entry("unlock", "break"),
            Map.entry("release", "break"),
            Map.entry("kill", "break"),
            Map.entry("serve", "member"),
            Map.entry("server", "member"),
            Map.entry("start", "member"),
            Map.entry("test", "tck"));

    private CommandSuggestion() {}

    /** A command for the word that somebody typed. */
    static Optional<String> command(String word, Collection<String> commands) {
        String meant = ELSEWHERE.get(word);
        return meant != null ? Optional.of(meant) : of(word, commands);
    }

    /** The known word that differs least; empty if none comes near. */
    static Optional<String> of(String word, Collection<String> known) {
        @Nullable String best = null;
        int least = Integer.MAX_VALUE;
        for (String each : known) {
            int distance = distance(word, each);
            if (distance < least) {
                least = distance;
                best = each;
            }
        }
        // Of a short word nothing would be left otherwise.
        return least <= 2 && least * 2 < word.length() ? Optional.ofNullable(best) : Optional.empty();
    }

    /** Letters to add, drop, change or swap with their neighbour. */
    private static int distance(String from, String to) {
        int[][] edits = new int[from.length() + 1][to.length() + 1];
        for (int i = 0; i <= from.length(); i++) {
            for (int j = 0; j <= to.length(); j++) {
                edits[i][j] = i == 0 || j == 0 ? i + j : step(from, to, edits, i, j);
            }
        }
        return edits[from.length()][to.length()];
    }

    private static int step(String from, String to, int[][] edits, int i, int j) {
        boolean same = from.charAt(i - 1) == to.charAt(j - 1);
        int least = Math.min(edits[i - 1][j], edits[i][j - 1]) + 1;
        least = Math.min(least, edits[i - 1][j - 1] + (same ? 0 : 1));
        boolean swapped =
                i > 1 && j > 1 && from.charAt(i - 1) == to.charAt(j - 2) && from.charAt(i - 2) == to.charAt(j - 1);
        return swapped ? Math.min(least, edits[i - 2][j - 2] + 1) : least;
    }
}
