// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.spi;

/** The request was surely not executed. Whatever else a backend throws means that the outcome is unknown. */
public final class NotExecutedException extends Exception {
    private static final long serialVersionUID = 1L;

    /**
     * Makes the exception.
     *
     * @param message what was not executed, and why
     */
    public NotExecutedException(String message) {
        super(message);
    }

    /**
     * Makes the exception with its cause.
     *
     * @param message what was not executed, and why
     * @param cause what was thrown
     */
    public NotExecutedException(String message, Throwable cause) {
        super(message, cause);
    }
}
