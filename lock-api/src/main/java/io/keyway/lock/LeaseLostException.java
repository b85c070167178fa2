// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The lease ended before its release: work under it may have overlapped with another holder's. */
public final class LeaseLostException extends LockException {
    private static final long serialVersionUID = 1L;

    private final long token;
    private final LeaseLoss.Cause cause;
    private final transient @Nullable LeaseLoss loss;

    /**
     * Makes the exception of one grant's loss.
     *
     * @param name the lock or semaphore
     * @param token the token of the lost grant
     * @param loss how it was lost
     */
    public LeaseLostException(LockName name, long token, LeaseLoss loss) {
        super(
                "The lease of " + name + " with token " + token + " was lost (" + loss.cause() + " after "
                        + loss.heldFor().toMillis() + " ms): " + loss.detail()
                        + ". Stop the work that it protected; acquire again for a new token.",
                null,
                Objects.requireNonNull(name, "name"),
                loss.server().orElse(null),
                true,
                false);
        this.token = token;
        this.cause = loss.cause();
        this.loss = loss;
    }

    /** {@return the token of the lost grant} */
    public long token() {
        return token;
    }

    /** {@return how it was lost; only the cause and the server after serialisation} */
    public LeaseLoss loss() {
        return loss == null ? new LeaseLoss(cause, Duration.ZERO, server(), "") : loss;
    }
}
