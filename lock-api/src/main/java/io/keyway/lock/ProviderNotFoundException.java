// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import org.jspecify.annotations.Nullable;

/**
 * No provider, or more than one, takes URLs of that scheme, or a library that its provider needs is missing or too old;
 * the message says what was found and what failed to load.
 */
public final class ProviderNotFoundException extends LockException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes the exception.
     *
     * @param message what was asked, what is wrong, what to do; secrets masked
     * @param cause what was thrown, null if nothing
     */
    public ProviderNotFoundException(String message, @Nullable Throwable cause) {
        super(message, cause, null, null, false, false);
    }
}
