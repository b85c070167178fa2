// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import io.keyway.lock.tck.CheckInfo;
import io.keyway.lock.tck.Level;
import java.lang.invoke.MethodHandle;
import java.util.List;
import java.util.Locale;

/**
 * A check as data.
 *
 * @param id the first rule and the check's name, as {@code LK-301/two-clients-never-hold-at-once}
 * @param check what its annotation says
 * @param hint what to look at first when it fails
 * @param body takes a {@link CheckContext}
 */
record CheckSpec(String id, Check check, String hint, MethodHandle body) {
    static String id(Check check, String method) {
        return rules(check).get(0) + "/" + method.replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
    }

    List<String> rules() {
        return rules(check);
    }

    private static List<String> rules(Check check) {
        return List.of(check.rules().split(" ", -1));
    }

    Level level() {
        if (!check.statistical().isEmpty()) {
            return Level.STATISTICAL;
        }
        return check.needs().length > 0 || check.lacks().length > 0 ? Level.FEATURE : Level.REQUIRED;
    }

    /** What anybody may know of it. */
    CheckInfo info() {
        return new CheckInfo(id, rules(), level(), check.from());
    }

    /** Whether an id of a rule or check, or the beginning of one, means this check. */
    boolean named(String wanted) {
        return info().named(wanted);
    }

    void run(CheckContext context) throws Throwable {
        body.invoke(context);
    }
}
