// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.LockException;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockUnavailableException;
import org.jspecify.annotations.Nullable;

/** Brings what a future failed with back to the thread that asked. */
final class Failures {

    private Failures() {}

    /** What to throw for {@code cause}: itself, unless it is checked, which an engine should not fail with. */
    static RuntimeException rethrow(@Nullable Throwable cause) {
        if (cause instanceof Error error) {
            throw error;
        }
        if (cause instanceof RuntimeException unchecked) {
            return unchecked;
        }
        return new IllegalStateException("The provider failed with an exception that it should have translated", cause);
    }

    /** The lock exception in a chain of causes, as futures wrap it. */
    static @Nullable LockException lockException(@Nullable Throwable failure) {
        for (Throwable at = failure; at != null; at = at.getCause()) {
            if (at instanceof LockException found) {
                return found;
            }
        }
        return null;
    }

    /** What an attempt fails with that was surely not sent, and is not repeated. */
    static LockException notAsked(LockKey key, String server, String why) {
        return new LockUnavailableException(
                "The " + key + " could not be asked for at " + server + ": " + why + ". Nothing was sent; try again.",
                key.name(),
                server,
                null);
    }
}
