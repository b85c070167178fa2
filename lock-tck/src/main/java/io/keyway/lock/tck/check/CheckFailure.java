// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import org.jspecify.annotations.Nullable;

/** The provider broke the rule, in the check's eyes. */
public final class CheckFailure extends AssertionError {
    private static final long serialVersionUID = 1L;

    private CheckFailure(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    static CheckFailure of(String message, @Nullable Throwable cause) {
        return new CheckFailure(message, cause);
    }
}
