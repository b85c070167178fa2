// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import org.jspecify.annotations.Nullable;

/**
 * The request was sent and not answered: it may have taken effect. What it may have left is cleaned up in the
 * background.
 */
public final class OutcomeUnknownException extends LockException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes the exception; null where a part is not known.
     *
     * @param message what was asked, what is wrong, what to do; secrets masked
     * @param name the lock, null if none
     * @param server the server or peer, null if none is known
     * @param cause what was thrown, null if nothing
     */
    public OutcomeUnknownException(
            String message, @Nullable LockName name, @Nullable String server, @Nullable Throwable cause) {
        super(message, cause, name, server, true, true);
    }
}
