// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import org.jspecify.annotations.Nullable;

/** The provider broke the rule, in the check's eyes. */
public final class CheckFailure extends AssertionError {
    private static final long serialVersionUID = 1L;

    private final boolean certain;

    private CheckFailure(String message, @Nullable Throwable cause, boolean certain) {
        super(message, cause);
        this.certain = certain;
    }

    static CheckFailure of(String message, @Nullable Throwable cause) {
        return new CheckFailure(message, cause, false);
    }

    static CheckFailure certain(String message) {
        return new CheckFailure(message, null, true);
    }

    /** Whether no machine that is slow or stands still can have caused it. */
    boolean isCertain() {
        return certain;
    }
}
