// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.spi;

import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import java.util.ArrayList;
import java.util.List;

/**
 * Which modes of one lock stand beside each other, and which modes a lock of a tree has at its levels: granularity of
 * locks and intention modes, after J. Gray, R. Lorie, G. Putzolu and I. Traiger, "Granularity of Locks and Degrees of
 * Consistency in a Shared Data Base" (1976). Pure.
 *
 * <p>A lock of a tree is granted at its own name in mode S or X, and at each name above it with the intention of that,
 * IS or IX. Two such locks exclude each other exactly if one's name is the other's or above it, and one of them writes.
 */
public final class TreeModes {
    private static final int READS_BELOW = 1;
    private static final int READS_ALL = 2;
    private static final int WRITES_BELOW = 4;
    private static final int WRITES_ALL = 8;

    private TreeModes() {}

    /**
     * {@return whether grants in these modes can stand beside each other} A mode of a tree never stands beside a flat
     * one; permits are counted elsewhere, and are not beside each other here.
     *
     * @param one a mode
     * @param other a mode
     */
    public static boolean together(LockMode one, LockMode other) {
        if (!one.isTree() || !other.isTree()) {
            return one == LockMode.SHARED && other == LockMode.SHARED;
        }
        return !hinders(does(one), does(other)) && !hinders(does(other), does(one));
    }

    /** Whether one who does that keeps out who does the other. */
    private static boolean hinders(int one, int other) {
        boolean writesAll = (one & WRITES_ALL) != 0;
        boolean readsAll = (one & READS_ALL) != 0;
        return writesAll || (readsAll && (other & (WRITES_BELOW | WRITES_ALL)) != 0);
    }

    private static int does(LockMode mode) {
        return switch (mode) {
            case INTENT_SHARED -> READS_BELOW;
            case INTENT_EXCLUSIVE -> READS_BELOW | WRITES_BELOW;
            case TREE_SHARED -> READS_BELOW | READS_ALL;
            case TREE_SHARED_INTENT_EXCLUSIVE -> READS_BELOW | READS_ALL | WRITES_BELOW;
            case TREE_EXCLUSIVE -> READS_BELOW | READS_ALL | WRITES_BELOW | WRITES_ALL;
            case EXCLUSIVE, SHARED, PERMITS ->
                throw new IllegalArgumentException(mode + " is no mode of a tree's levels");
        };
    }

    /**
     * {@return the weakest mode that allows what both allow}
     *
     * @param one a mode of a tree
     * @param other a mode of a tree
     */
    public static LockMode join(LockMode one, LockMode other) {
        int both = does(one) | does(other);
        if ((both & WRITES_ALL) != 0) {
            return LockMode.TREE_EXCLUSIVE;
        } else if ((both & WRITES_BELOW) != 0) {
            return (both & READS_ALL) != 0 ? LockMode.TREE_SHARED_INTENT_EXCLUSIVE : LockMode.INTENT_EXCLUSIVE;
        }
        return (both & READS_ALL) != 0 ? LockMode.TREE_SHARED : LockMode.INTENT_SHARED;
    }

    /**
     * {@return whether who has the first mode needs nothing more to do what the second one allows}
     *
     * @param has a mode of a tree
     * @param needs a mode of a tree
     */
    public static boolean covers(LockMode has, LockMode needs) {
        return join(has, needs) == has;
    }

    /**
     * {@return the mode at its own name of a lock that is asked for EXCLUSIVE or SHARED}
     *
     * @param asked EXCLUSIVE or SHARED
     */
    public static LockMode own(LockMode asked) {
        return asked == LockMode.EXCLUSIVE ? LockMode.TREE_EXCLUSIVE : LockMode.TREE_SHARED;
    }

    /**
     * {@return the mode at each name above of a lock that is asked for EXCLUSIVE or SHARED}
     *
     * @param asked EXCLUSIVE or SHARED
     */
    public static LockMode above(LockMode asked) {
        return asked == LockMode.EXCLUSIVE ? LockMode.INTENT_EXCLUSIVE : LockMode.INTENT_SHARED;
    }

    /**
     * {@return the names above that one, from the root down, and itself as the last: its levels, 1 to 16}
     *
     * @param name a name
     */
    public static List<LockName> levels(LockName name) {
        List<LockName> levels = new ArrayList<>();
        String text = name.value();
        for (int end = text.indexOf('/'); end >= 0; end = text.indexOf('/', end + 1)) {
            levels.add(LockName.of(text.substring(0, end)));
        }
        levels.add(name);
        return levels;
    }

    /**
     * {@return whether the second name is the first one or below it}
     *
     * @param name a name
     * @param other a name
     */
    public static boolean isAtOrAbove(LockName name, LockName other) {
        return other.equals(name) || other.value().startsWith(name.value() + "/");
    }
}
