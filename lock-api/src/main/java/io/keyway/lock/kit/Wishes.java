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
 * The locks that a transaction was asked for, and which grants it needs for them. Pure; guarded by the transaction's
 * lock.
 *
 * <p>A flat lock is one grant. A lock of trees is the grants of all its levels, which are asked for from the root down,
 * each when the one above is held: so locks of one name each never wait for each other in a circle, since each waits
 * for what is below all that it holds. Several locks go their ways side by side, and have one grant for each level that
 * they share, in a mode that serves all of them; it is raised where a later one needs more.
 *
 * <p>A lock is wished for in the strongest mode of those in which it was asked for, is waited for, or was reported as
 * held. Who only tries leaves nothing behind when it stops to wait.
 *
 * <p>A <i>spare</i> wish is one that the transaction can do without. It is not lacked, it raises no grant, and a grant
 * that another wish needs is asked for in the mode that this other one needs.
 */
final class Wishes {
    /** One lock. */
    private static final class Wish {
        final List<LockName> levels;
        final boolean tree;
        LockMode mode;
        /** Whether it was asked for SHARED, and EXCLUSIVE, by somebody who does not only try. */
        boolean shared;

        boolean exclusive;
        /** In which mode its user may have been told that it is held; null if in none. */
        @Nullable
        LockMode told;
        /** Whether it waits for others; if not, one attempt. */
        boolean queue = true;
        /** Whether the transaction can do without: it counts as long as it is held, and is not reported. */
        boolean spare;
        /** When it was asked for in its present mode, among all that happens to the transaction. */
        long asked;

        Wish(LockName name, LockMode mode, boolean tree) {
            this.levels = tree ? TreeModes.levels(name) : List.of(name);
            this.mode = mode;
            this.tree = tree;
        }

        LockMode at(int level) {
            return at(level, mode);
        }

        LockMode at(int level, LockMode asked) {
            if (!tree) {
                return asked;
            }
            return level == levels.size() - 1 ? TreeModes.own(asked) : TreeModes.above(asked);
        }

        @Nullable
        LockMode at(LockName level) {
            int index = levels.indexOf(level);
            return index < 0 ? null : at(index);
        }
    }

    /**
     * A grant that is to be asked for.
     *
     * @param name of which lock, or level
     * @param mode in which mode; stronger than the one in which it is held, if it is
     * @param queue whether to wait behind others
     */
    record Level(LockName name, LockMode mode, boolean queue) {}

    /**
     * A lock that was given up, since it cannot be had.
     *
     * @param asked when it was asked for
     */
    record GivenUp(LockName name, LockMode mode, long asked) {}

    private final boolean trees;
    private final Map<LockName, Wish> all = new LinkedHashMap<>();

    /** Of levels of trees, or of flat names. */
    Wishes(boolean trees) {
        this.trees = trees;
    }

    /** @throws IllegalArgumentException if the options of its locks have a holdAtLeast */
    static void refuseToKeep(LockOptions options) {
        if (options.holdAtLeast().isPresent()) {
            throw new IllegalArgumentException("Locks that are taken together take no holdAtLeast: one that is given"
                    + " back because another one cannot be had would be kept for nobody. Take it by a lock of its own,"
                    + " client.lock(name), and open a client without that default for the others.");
        }
    }

    /** Whether who has the one mode needs nothing more for the other; false if it has none. */
    static boolean covers(@Nullable LockMode has, LockMode needs) {
        return has == needs
                || has == LockMode.EXCLUSIVE
                || (has != null && has.isTree() && needs.isTree() && TreeModes.covers(has, needs));
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

    /**
     * A lock is asked for.
     *
     * @param queue whether it waits for others
     * @param tries whether who asks gives it up again if it does not get it in time
     * @return whether it was not wished for in that mode or EXCLUSIVE before
     */
    boolean add(LockName name, LockMode mode, boolean queue, boolean tries, long now) {
        Wish wish = all.get(name);
        boolean fresh = wish == null || !covers(wish.mode, mode);
        if (wish == null) {
            wish = new Wish(name, mode, trees);
            all.put(name, wish);
        }
        wish.queue = queue || (!fresh && wish.queue);
        wish.shared |= !tries && mode == LockMode.SHARED;
        wish.exclusive |= !tries && mode == LockMode.EXCLUSIVE;
        if (fresh) {
            wish.mode = mode;
            wish.asked = now;
        }
        return fresh;
    }

    /** That one is wished for, beside what is held: it waits for others, and the transaction can do without. */
    void addSpare(LockName name, LockMode mode) {
        add(name, mode, true, true, 0);
        Objects.requireNonNull(all.get(name)).spare = true;
    }

    /** Whether one of those that need that level, which is held in that mode or not, and lack it waits for others. */
    boolean queues(LockName level, @Nullable LockMode held) {
        return over(level).stream()
                .map(all::get)
                .filter(Objects::nonNull)
                .anyMatch(wish -> wish.queue && !covers(held, Objects.requireNonNull(wish.at(level))));
    }

    /** Whether each is one of a tree. */
    boolean ofTrees() {
        return trees;
    }

    /** Whether all that need that level, if any do, can do without. */
    boolean isSpare(LockName level) {
        return over(level).stream().allMatch(name -> Objects.requireNonNull(all.get(name)).spare);
    }

    /** The levels of that lock, from the root down; none if it is not wished for. */
    List<LockName> levels(LockName name) {
        Wish wish = all.get(name);
        return wish == null ? List.of() : wish.levels;
    }

    /** It is not waited for any more; what its user was told of stays. True if it was. */
    boolean giveUp(LockName name) {
        Wish wish = all.get(name);
        if (wish == null || wish.told == wish.mode) {
            return false;
        }
        wish.shared = false;
        wish.exclusive = false;
        return leave(name, wish, null);
    }

    /** Who tried to get it does not wait any more; others do, in that mode or for null not at all. */
    boolean leave(LockName name, @Nullable LockMode others) {
        Wish wish = all.get(name);
        return wish != null && leave(name, wish, others);
    }

    /** Keeps what was reported, what was asked for, and what others wait for. True if that is less than before. */
    private boolean leave(LockName name, Wish wish, @Nullable LockMode others) {
        boolean writes = wish.exclusive || wish.told == LockMode.EXCLUSIVE || others == LockMode.EXCLUSIVE;
        boolean reads = wish.shared || wish.told != null || others != null;
        LockMode left = writes ? LockMode.EXCLUSIVE : reads ? LockMode.SHARED : null;
        if (left == wish.mode) {
            return false;
        }
        wish.queue = true;
        if (left == null) {
            all.remove(name);
        } else {
            wish.mode = left;
        }
        return true;
    }

    /** The user gives that lock back. */
    void remove(LockName name) {
        all.remove(name);
    }

    /** All is held: the user may be told. */
    void tell() {
        all.values().forEach(Wishes::tell);
    }

    /** That lock, which is wished for, is held in that mode, and the user may know. Returns its levels. */
    List<LockName> tell(LockName name, LockMode mode) {
        Wish wish = Objects.requireNonNull(all.get(name));
        if (mode == wish.mode) {
            tell(wish);
        } else if (!covers(wish.told, mode)) {
            wish.told = mode;
        }
        return wish.levels;
    }

    private static void tell(Wish wish) {
        if (!wish.spare) {
            wish.told = wish.mode;
            wish.queue = true;
        }
    }

    /** The user gives that lock up and wants it again, also if it had only tried to get it. */
    void untell(LockName name) {
        Wish wish = all.get(name);
        if (wish != null) {
            wish.told = null;
            wish.shared |= wish.mode == LockMode.SHARED;
            wish.exclusive |= wish.mode == LockMode.EXCLUSIVE;
        }
    }

    /** In which mode that level is needed by all of them; null if it is by none. */
    @Nullable
    LockMode needed(LockName level) {
        return needed(level, true);
    }

    /** As {@link #needed(LockName)}; {@code spares}: also by those that the transaction can do without. */
    private @Nullable LockMode needed(LockName level, boolean spares) {
        if (!trees) {
            return mode(level);
        }
        LockMode needed = null;
        for (Wish wish : all.values()) {
            LockMode own = wish.spare && !spares ? null : wish.at(level);
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
        Wish wish = all.get(lock);
        for (LockName level : wish == null ? List.<LockName>of() : wish.levels) {
            if (pending.test(level)) {
                return level;
            }
        }
        return lock;
    }

    /** @throws IllegalStateException if names are of trees and a lock below that one is wanted, too */
    void ensureNoneBelow(LockName lock) {
        LockName below = trees ? below(lock) : null;
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

    /** Whether that lock is wished for, and each of its levels is held in a mode that serves it in that mode. */
    boolean isHeld(LockName name, LockMode mode, Function<LockName, @Nullable LockMode> held) {
        Wish wish = all.get(name);
        for (int i = 0; wish != null && i < wish.levels.size(); i++) {
            if (!covers(held.apply(wish.levels.get(i)), wish.at(i, mode))) {
                return false;
            }
        }
        return wish != null;
    }

    /** The transaction has ended. */
    void clear() {
        all.clear();
    }

    /** The transaction waits for nothing any more: of locks that were reported as held no more is wanted. */
    void end() {
        for (Wish wish : all.values()) {
            if (wish.told != null) {
                wish.mode = wish.told;
            }
        }
    }

    /**
     * Whether a level that one of them needs, and cannot do without, is not held in a mode that serves it.
     *
     * @param without also what the transaction can do without, though it is no spare wish
     */
    boolean lacks(Function<LockName, @Nullable LockMode> held, Predicate<LockName> without) {
        return all.entrySet().stream()
                .anyMatch(each -> !each.getValue().spare
                        && lacking(each.getValue(), held) != null
                        && !without.test(each.getKey()));
    }

    /** The first level that this lock, which is wished for, lacks; null if it has all. */
    @Nullable
    LockName lacking(LockName lock, Function<LockName, @Nullable LockMode> held) {
        return lacking(Objects.requireNonNull(all.get(lock)), held);
    }

    private static @Nullable LockName lacking(Wish wish, Function<LockName, @Nullable LockMode> held) {
        for (int i = 0; i < wish.levels.size(); i++) {
            LockMode has = held.apply(wish.levels.get(i));
            if (!covers(has, wish.at(i))) {
                return wish.levels.get(i);
            }
        }
        return null;
    }

    /** The locks that have that level. */
    List<LockName> over(LockName level) {
        if (!trees) {
            return all.containsKey(level) ? List.of(level) : List.of();
        }
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
        Map<LockName, Level> next = null;
        for (Wish wish : all.values()) {
            if (wish.spare) {
                continue;
            }
            for (int i = 0; i < wish.levels.size(); i++) {
                LockName level = wish.levels.get(i);
                LockMode has = held.apply(level);
                if (!covers(has, wish.at(i))) {
                    if (pending.test(level)) {
                        break;
                    }
                    LockMode needed = Objects.requireNonNull(needed(level, false));
                    next = next == null ? new LinkedHashMap<>() : next;
                    Level known = next.get(level);
                    boolean queue = wish.queue || (known != null && known.queue());
                    next.put(
                            level,
                            new Level(level, has == null || !trees ? needed : TreeModes.join(has, needed), queue));
                    break;
                }
            }
        }
        return next == null ? List.of() : new ArrayList<>(next.values());
    }

    /**
     * Of what the transaction can do without, the levels that can be asked for now: those of which it has nothing and
     * asks for nothing.
     */
    List<Level> nextSpare(Function<LockName, @Nullable LockMode> held, Predicate<LockName> pending) {
        List<Level> next = new ArrayList<>();
        for (Wish wish : all.values()) {
            LockName level = wish.spare ? lacking(wish, held) : null;
            if (level != null
                    && held.apply(level) == null
                    && !pending.test(level)
                    && next.stream().noneMatch(each -> each.name().equals(level))) {
                next.add(new Level(level, Objects.requireNonNull(needed(level)), true));
            }
        }
        return next;
    }

    /**
     * Gives up those that need that level, which is not to be had; it may be held in a weaker mode.
     *
     * @param waiting also those that wait for others; the rest asked once
     */
    List<GivenUp> refused(LockName level, @Nullable LockMode held, boolean waiting) {
        List<GivenUp> given = new ArrayList<>();
        for (LockName name : over(level)) {
            Wish wish = Objects.requireNonNull(all.get(name));
            LockMode mode = wish.mode;
            if ((!waiting && wish.queue) || covers(held, Objects.requireNonNull(wish.at(level)))) {
                continue;
            }
            wish.shared &= mode == LockMode.EXCLUSIVE;
            wish.exclusive = false;
            if (leave(name, wish, null)) {
                given.add(new GivenUp(name, mode, wish.asked));
            }
        }
        return given;
    }
}
