// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.util.Collection;
import java.util.Locale;

/** Finds what was probably meant. */
final class Suggestion {
    private Suggestion() {}

    /** Returns the known word with the least edit distance, without regard to case; the first of several. */
    static String of(String word, Collection<String> known) {
        String best = "";
        int least = Integer.MAX_VALUE;
        String lower = word.toLowerCase(Locale.ROOT);
        for (String candidate : known) {
            int distance = distance(lower, candidate.toLowerCase(Locale.ROOT));
            if (distance < least) {
                least = distance;
                best = candidate;
            }
        }
        return best;
    }

    /** Edits of one letter, or swaps of two neighbours, that lead from one to the other; long words are cut. */
    static int distance(String left, String right) {
        String a = left.substring(0, Math.min(left.length(), 64));
        int[][] edits = new int[a.length() + 1][right.length() + 1];
        for (int i = 0; i <= a.length(); i++) {
            for (int j = 0; j <= right.length(); j++) {
                if (i == 0 || j == 0) {
                    edits[i][j] = i + j;
                    continue;
                }
                boolean same = a.charAt(i - 1) == right.charAt(j - 1);
                int least = Math.min(edits[i - 1][j], edits[i][j - 1]) + 1;
                least = Math.min(least, edits[i - 1][j - 1] + (same ? 0 : 1));
                if (i > 1
                        && j > 1
                        && a.charAt(i - 1) == right.charAt(j - 2)
                        && a.charAt(i - 2) == right.charAt(j - 1)) {
                    least = Math.min(least, edits[i - 2][j - 2] + 1);
                }
                edits[i][j] = least;
            }
        }
        return edits[a.length()][right.length()];
    }
}
