// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import org.jspecify.annotations.Nullable;

/** The provider broke the rule, in the check's eyes. */
public final class CheckFailure extends AssertionError {
    private static final long serialVersionUID = 1L;

    private enum Kind {
        PLAIN,
        CERTAIN,
        LATE,
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

    /** Whether no machine that is slow or stands still can have caused it. */
    boolean isCertain() {
        return kind == Kind.CERTAIN;
    }

    /** Whether it proves nothing, since it was seen when it may be so. */
    boolean isLate() {
        return kind == Kind.LATE;
    }

    /** Whether it is an exception of a call from which the check expected none. */
    boolean isUnexpected() {
        return kind == Kind.UNEXPECTED;
    }
}
