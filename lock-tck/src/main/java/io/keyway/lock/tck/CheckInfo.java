// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck;

import java.util.List;
import java.util.Objects;

/**
 * A check of the TCK, before it is made.
 *
 * @param id as {@link CheckResult#id()}
 * @param rules the rules that it can refute, first the one that it is about
 * @param level how that rule binds
 * @param from the smallest profile that has it
 */
public record CheckInfo(String id, List<String> rules, Level level, Profile from) {
    /** Copies the list. */
    public CheckInfo {
        Objects.requireNonNull(id, "id");
        rules = List.copyOf(rules);
        Objects.requireNonNull(level, "level");
        Objects.requireNonNull(from, "from");
    }

    /**
     * Whether an id of a rule or check, or the beginning of one, means this check; one that ends with a slash is whole.
     */
    public boolean named(String wanted) {
        return (id + "/").startsWith(wanted) || rules.contains(wanted);
    }

    /** The check's name in words, without its rule, as {@code two clients never hold at once}. */
    public String words() {
        return words(id);
    }

    /** The words of a check's id. */
    public static String words(String id) {
        return id.substring(id.indexOf('/') + 1).replace('-', ' ');
    }
}
