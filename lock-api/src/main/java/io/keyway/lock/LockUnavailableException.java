// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import org.jspecify.annotations.Nullable;

/**
 * The store or peer could not be asked, or gave no usable answer. Nothing is held by this call; it may be tried again,
 * unless {@link #retryable} says that nothing comes of that.
 */
public sealed class LockUnavailableException extends LockException permits IncompleteListingException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes the exception; null where a part is not known.
     *
     * @param message what was asked, what is wrong, what to do; secrets masked
     * @param name the lock, null if none
     * @param server the server or peer, null if none is known
     * @param cause what was thrown, null if nothing
     */
    public LockUnavailableException(
            String message, @Nullable LockName name, @Nullable String server, @Nullable Throwable cause) {
        super(message, cause, name, server, true, false);
    }

    private LockUnavailableException(String message, String server) {
        super(message, null, null, server, false, false);
    }

    /**
     * {@return the exception of a store that refuses this client until the client or the store is configured otherwise}
     *
     * @param message what was asked, what is wrong, what to do; secrets masked
     * @param server who refuses
     */
    public static LockUnavailableException lasting(String message, String server) {
        return new LockUnavailableException(message, server);
    }
}
