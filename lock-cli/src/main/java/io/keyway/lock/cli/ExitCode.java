// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

/** The exit codes of the command, which `timeout`, `env` and the shells use in the same sense. */
final class ExitCode {
    static final int OK = 0;

    /** `break` found nothing to break. */
    static final int NOTHING_BROKEN = 1;

    static final int USAGE = 64;

    /** `load` and `simulate`: what was done breaks a rule. */
    static final int RULE_BROKEN = 122;

    static final int LOST = 123;
    static final int NOT_ACQUIRED = 124;
    static final int UNAVAILABLE = 125;
    static final int CANNOT_RUN = 126;
    static final int NOT_FOUND = 127;

    private ExitCode() {}

    /** What a shell reports for a program ended by this signal. */
    static int ofSignal(int number) {
        return 128 + number;
    }
}
