// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import org.jspecify.annotations.Nullable;

/** The text is not a lock URL, or has an option that its provider does not take. Secrets in the message are masked. */
public final class InvalidLockUrlException extends LockException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes the exception; the caller has masked the message.
     *
     * @param message what is wrong; the caller has masked it
     */
    public InvalidLockUrlException(String message) {
        this(message, null);
    }

    /**
     * Makes the exception with its cause; the caller has masked both messages.
     *
     * @param message what is wrong; the caller has masked it
     * @param cause what was thrown, null if nothing; the caller has masked its message
     */
    public InvalidLockUrlException(String message, @Nullable Throwable cause) {
        super(message, cause, null, null, false, false);
    }
}
