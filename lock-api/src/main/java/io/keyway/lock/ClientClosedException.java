// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import org.jspecify.annotations.Nullable;

/** The client is closed; open another. */
public final class ClientClosedException extends LockException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes the exception; {@code name} is the lock that was asked for, null if none.
     *
     * @param client the name of the client
     * @param name the lock that was asked for, null if none
     */
    public ClientClosedException(String client, @Nullable LockName name) {
        super(
                "The client " + client + " is closed" + (name == null ? "" : "; asked for " + name)
                        + ". Open another with Locks.open.",
                null,
                name,
                null,
                false,
                false);
    }
}
