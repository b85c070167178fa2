// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.spi;

/** The request was surely not executed. Whatever else a backend throws means that the outcome is unknown. */
public final class NotExecutedException extends Exception {
    private static final long serialVersionUID = 1L;

    /** Makes the exception. */
    public NotExecutedException(String message) {
        super(message);
    }

    /** Makes the exception with its cause. */
    public NotExecutedException(String message, Throwable cause) {
        super(message, cause);
    }
}
