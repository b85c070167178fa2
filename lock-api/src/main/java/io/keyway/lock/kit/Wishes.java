// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import io.keyway.lock.spi.TreeModes;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The locks of trees that a transaction was asked for, and which of their levels are to be asked for next. Pure.
 *
 * <p>The levels of one lock are asked for from the root down, each when the one above is held: so locks of one name
 * each never wait for each other in a circle, since each waits for what is below all that it holds. Several locks go
 * their ways side by side, and have one grant for each level that they share, in a mode that serves all of them; it is
 * raised where a later one needs more.
 */
final class Wishes {
    /** One lock. */
    private static final class Wish {
        final List<LockName> levels;
        LockMode mode;
        /** In which mode its user may have been told that it is held; null if in none. */
        @Nullable
        LockMode told;
        /** Whether it waits for others; if not, one attempt. */
        boolean queue = true;

        Wish(LockName name, LockMode mode) {
            this.levels = TreeModes.levels(name);
            this.mode = mode;
        }

        LockMode at(int level) {
            return level == levels.size() - 1 ? TreeModes.own(mode) : TreeModes.above(mode);
        }

        @Nullable
        LockMode at(LockName level) {
            int index = levels.indexOf(level);
            return index < 0 ? null : at(index);
        }
    }

    /**
     * A level that is to be asked for.
     *
     * @param name which
     * @param mode in which mode; stronger than the one in which it is held, if it is
     * @param queue whether to wait behind others
     */
    record Level(LockName name, LockMode mode, boolean queue) {}

    private final Map<LockName, Wish> all = new LinkedHashMap<>();

    /** @throws IllegalArgumentException if names are of trees, and the options of locks have a holdAtLeast */
    static void refuseToKeep(@Nullable Wishes wishes, LockOptions options) {
        if (wishes != null
                && options.holdAtLeast().filter(time -> !time.isZero()).isPresent()) {
            throw new IllegalArgumentException("A lock of a tree takes no holdAtLeast: it is the grants of several"
                    + " names, which are given back when one of them cannot be had. Ask for it by a flat lock.");
        }
    }

    /** In which mode that lock is wished for, EXCLUSIVE or SHARED; null if it is not. */
    @Nullable
    LockMode mode(LockName name) {
        Wish wish = all.get(name);
        return wish == null ? null : wish.mode;
    }

    /** In which mode the user may have been told that this lock is held; null if in none. */
    @Nullable
    LockMode told(LockName name) {
        Wish wish = all.get(name);
        return wish == null ? null : wish.told;
    }

    /** Whether that lock was asked for, in a mode in which its user may not have been told that it is held. */
    boolean waits(LockName name) {
        Wish wish = all.get(name);
        return wish != null && wish.told != wish.mode;
    }

    /** A lock is asked for, one that is not wished for in that mode or EXCLUSIVE. */
    void add(LockName name, LockMode mode, boolean queue) {
        Wish wish = all.computeIfAbsent(name, fresh -> new Wish(name, mode));
        wish.mode = mode;
        wish.queue = queue;
    }

    /** It is not waited for any more; what its user was told of stays. True if it was. */
    boolean giveUp(LockName name) {
        Wish wish = all.get(name);
        if (wish == null || wish.told == wish.mode) {
            return false;
        }
        if (wish.told == null) {
            all.remove(name);
        } else {
            wish.mode = wish.told;
        }
        return true;
    }

    /** The user gives that lock back. */
    void remove(LockName name) {
        all.remove(name);
    }

    /** All is held: the user may be told. */
    void tell() {
        for (Wish wish : all.values()) {
            wish.told = wish.mode;
            wish.queue = true;
        }
    }

    /** The user gives that lock up and wants it again. */
    void untell(LockName name) {
        Wish wish = all.get(name);
        if (wish != null) {
            wish.told = null;
        }
    }

    /** In which mode that level is needed by all of them; null if it is by none. */
    @Nullable
    LockMode needed(LockName level) {
        LockMode needed = null;
        for (Wish wish : all.values()) {
            LockMode own = wish.at(level);
            needed = own == null ? needed : needed == null ? own : TreeModes.join(needed, own);
        }
        return needed;
    }

    /**
     * The level in whose queue that lock is, or its own.
     *
     * @throws IllegalStateException as {@link #ensureNoneBelow}
     */
    LockName queued(LockName lock, Predicate<LockName> pending) {
        ensureNoneBelow(lock);
        for (LockName level : TreeModes.levels(lock)) {
            if (pending.test(level)) {
                return level;
            }
        }
        return lock;
    }

    /** @throws IllegalStateException if a lock below that one is wanted, too */
    void ensureNoneBelow(LockName lock) {
        LockName below = below(lock);
        if (below != null) {
            throw new IllegalStateException(
                    lock + " is above " + below + ", which the transaction has too; unlock that first");
        }
    }

    /** Another one that is wished for at or below that name; null if there is none. */
    private @Nullable LockName below(LockName name) {
        for (LockName other : all.keySet()) {
            if (!other.equals(name) && TreeModes.isAtOrAbove(name, other)) {
                return other;
            }
        }
        return null;
    }

    /** Whether a level that one of them needs is not held, or not in a mode that serves it. */
    boolean lacks(Function<LockName, @Nullable LockMode> held) {
        return all.values().stream().anyMatch(wish -> lacking(wish, held) != null);
    }

    /** The first level that this lock, which is wished for, lacks; null if it has all. */
    @Nullable
    LockName lacking(LockName lock, Function<LockName, @Nullable LockMode> held) {
        return lacking(Objects.requireNonNull(all.get(lock)), held);
    }

    private static @Nullable LockName lacking(Wish wish, Function<LockName, @Nullable LockMode> held) {
        for (int i = 0; i < wish.levels.size(); i++) {
            LockMode has = held.apply(wish.levels.get(i));
            if (has == null || !TreeModes.covers(has, wish.at(i))) {
                return wish.levels.get(i);
            }
        }
        return null;
    }

    /** The locks that have that level. */
    List<LockName> over(LockName level) {
        List<LockName> over = new ArrayList<>();
        all.forEach((name, wish) -> {
            if (wish.at(level) != null) {
                over.add(name);
            }
        });
        return over;
    }

    /**
     * The levels that can be asked for now.
     *
     * @param held in which mode a level is held; null if it is not
     * @param pending whether a level is being asked for
     */
    List<Level> next(Function<LockName, @Nullable LockMode> held, Predicate<LockName> pending) {
        Map<LockName, Level> next = new LinkedHashMap<>();
        for (Wish wish : all.values()) {
            for (int i = 0; i < wish.levels.size(); i++) {
                LockName level = wish.levels.get(i);
                LockMode has = held.apply(level);
                if (has == null || !TreeModes.covers(has, wish.at(i))) {
                    if (pending.test(level)) {
                        break;
                    }
                    LockMode needed = Objects.requireNonNull(needed(level));
                    Level known = next.get(level);
                    boolean queue = wish.queue || (known != null && known.queue());
                    next.put(level, new Level(level, has == null ? needed : TreeModes.join(has, needed), queue));
                    break;
                }
            }
        }
        return new ArrayList<>(next.values());
    }

    /**
     * Gives up those that need that level, which is not to be had; it may be held in a weaker mode.
     *
     * @param waiting also those that wait for others; the rest asked once
     */
    void refused(LockName level, @Nullable LockMode held, boolean waiting) {
        for (LockName name : List.copyOf(all.keySet())) {
            Wish wish = Objects.requireNonNull(all.get(name));
            LockMode needs = wish.at(level);
            if ((waiting || !wish.queue) && needs != null && (held == null || !TreeModes.covers(held, needs))) {
                giveUp(name);
            }
        }
    }
}
