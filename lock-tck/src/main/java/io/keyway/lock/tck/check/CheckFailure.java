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
    private final String threads;

    private CheckFailure(String message, @Nullable Throwable cause, Kind kind, String threads) {
        super(message, cause);
        this.kind = kind;
        this.threads = threads;
    }

    static CheckFailure of(String message, @Nullable Throwable cause) {
        return new CheckFailure(message, cause, Kind.PLAIN, "");
    }

    /** What was waited for in vain; {@code threads} is what those of the clients did in the end. */
    static CheckFailure missed(String message, String threads) {
        return new CheckFailure(message, null, Kind.PLAIN, threads);
    }

    static CheckFailure certain(String message) {
        return new CheckFailure(message, null, Kind.CERTAIN, "");
    }

    static CheckFailure late(String message) {
        return new CheckFailure(message, null, Kind.LATE, "");
    }

    static CheckFailure unexpected(String message, Throwable cause) {
        return new CheckFailure(message, cause, Kind.UNEXPECTED, "");
    }

    /** What the threads of the clients did when the wait was over; empty if it was no wait. */
    String threads() {
        return threads;
    }

    Kind kind() {
        return kind;
    }

    /** Whether it is an exception of a call from which the check expected none. */
    boolean isUnexpected() {
        return kind == Kind.UNEXPECTED;
    }
}
