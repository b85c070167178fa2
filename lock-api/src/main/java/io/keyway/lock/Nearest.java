// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.util.Collection;
import java.util.Locale;

/** Finds what was probably meant. */
final class Nearest {
    private Nearest() {}

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

    /** Levenshtein's distance, in one row; long words are cut, since no known word is that long. */
    static int distance(String left, String right) {
        String a = left.length() > 64 ? left.substring(0, 64) : left;
        int[] row = new int[right.length() + 1];
        for (int j = 0; j <= right.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= right.length(); j++) {
                int above = row[j];
                int replace = diagonal + (a.charAt(i - 1) == right.charAt(j - 1) ? 0 : 1);
                row[j] = Math.min(replace, Math.min(above, row[j - 1]) + 1);
                diagonal = above;
            }
        }
        return row[right.length()];
    }
}
