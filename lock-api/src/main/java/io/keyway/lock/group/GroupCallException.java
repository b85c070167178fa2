// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.group;

import org.jspecify.annotations.Nullable;

/** A call of the leader of an {@link ElectionGroup} that was not answered. */
public final class GroupCallException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Why there is no answer. */
    public enum Reason {
        /** Nobody led, or could be reached, within the limit: it was not sent. */
        NO_LEADER,
        /** The leader died, was deposed or was cut off after it was sent. */
        LEADER_DIED,
        /** The leader has not answered within the limit. */
        NO_ANSWER,
        /** The leader's {@link GroupMember#called} threw an exception. */
        FAILED,
        /** This group was closed. */
        CLOSED
    }

    private final Reason reason;
    private final boolean mayBeDone;

    GroupCallException(Reason reason, boolean mayBeDone, String message) {
        this(reason, mayBeDone, message, null);
    }

    GroupCallException(Reason reason, boolean mayBeDone, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.reason = reason;
        this.mayBeDone = mayBeDone;
    }

    /** {@return why there is no answer} */
    public Reason reason() {
        return reason;
    }

    /** {@return whether a leader may have carried the call out, or may do so yet} */
    public boolean mayBeDone() {
        return mayBeDone;
    }
}
