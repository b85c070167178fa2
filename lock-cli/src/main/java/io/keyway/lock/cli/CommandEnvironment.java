// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import java.util.Map;

/** What the command finds in its environment: what keyway found, and what it needs to know about the lock. */
final class CommandEnvironment {
    /** What LC_ALL was before the launcher set it for the virtual machine; "unset" if it was not set. */
    private static final String LC_ALL_BEFORE = "KEYWAY_LC_ALL";

    private CommandEnvironment() {}

    static void prepare(Map<String, String> environment, HeldLocks held, String mark) {
        environment.put(mark, "1");
        held.describe(environment);
        String before = environment.remove(LC_ALL_BEFORE);
        if ("unset".equals(before)) {
            environment.remove("LC_ALL");
        } else if (before != null) {
            environment.put("LC_ALL", before);
        }
    }
}
