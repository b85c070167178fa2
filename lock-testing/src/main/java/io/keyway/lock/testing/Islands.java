// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.testing;

import java.util.ArrayList;
import java.util.List;

/** The ways in which a net can split. */
public final class Islands {
    private Islands() {}

    /**
     * All ways to divide so many into islands, each once: the number of each one's island. The first is on island 0,
     * each next one on an earlier one's island or on the next. There are 52 ways for five and 203 for six.
     */
    public static List<int[]> shapes(int count) {
        List<int[]> shapes = new ArrayList<>();
        divide(new int[count], 0, 0, shapes);
        return shapes;
    }

    private static void divide(int[] islands, int next, int used, List<int[]> shapes) {
        if (next == islands.length) {
            shapes.add(islands.clone());
            return;
        }
        for (int island = 0; island <= used; island++) {
            islands[next] = island;
            divide(islands, next + 1, Math.max(used, island + 1), shapes);
        }
    }
}
