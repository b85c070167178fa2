// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import org.jspecify.annotations.Nullable;

/** The provider broke the rule, in the check's eyes. */
public final class CheckFailure extends AssertionError {
    private static final long serialVersionUID = 1L;

    /** What it proves. */
    enum Kind {
        /** That the provider is wrong, or the machine slow. */
        PLAIN,
        /** That the provider is wrong: no machine that is slow or stands still can have caused it. */
        CERTAIN,
        /** Nothing, since it was seen when it may be so. */
        LATE,
        /** As PLAIN: an exception of a call from which the check expected none. */
        UNEXPECTED
    }

    private final Kind kind;

    private CheckFailure(String message, @Nullable Throwable cause, Kind kind) {
        super(message, cause);
        this.kind = kind;
    }

    static CheckFailure of(String message, @Nullable Throwable cause) {
        return new CheckFailure(message, cause, Kind.PLAIN);
    }

    static CheckFailure certain(String message) {
        return new CheckFailure(message, null, Kind.CERTAIN);
    }

    static CheckFailure late(String message) {
        return new CheckFailure(message, null, Kind.LATE);
    }

    static CheckFailure unexpected(String message, Throwable cause) {
        return new CheckFailure(message, cause, Kind.UNEXPECTED);
    }

    Kind kind() {
        return kind;
    }

    /** Whether it is an exception of a call from which the check expected none. */
    boolean isUnexpected() {
        return kind == Kind.UNEXPECTED;
    }
}
