// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import org.jspecify.annotations.Nullable;

/**
 * The request was ended because its waiting was part of a deadlock. Nothing is held by this call; it may be tried
 * again.
 */
public final class DeadlockException extends LockException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes the exception; {@code name} is the lock that was waited for, null if there were several.
     *
     * @param message what was asked, what is wrong, what to do; secrets masked
     * @param name the lock that was waited for, null if there were several
     */
    public DeadlockException(String message, @Nullable LockName name) {
        super(message, null, name, null, true, false);
    }
}
