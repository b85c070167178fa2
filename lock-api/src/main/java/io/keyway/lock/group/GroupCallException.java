// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.group;

import io.keyway.lock.LockException;
import io.keyway.lock.LockName;

/** A call of the leader of an {@link ElectionGroup} that was not answered. It concerns no grant. */
public final class GroupCallException extends LockException {
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

    /** It is worth another try unless the leader has refused the call, or this group is closed. */
    GroupCallException(Reason reason, boolean mayBeDone, String message, LockName election) {
        super(message, null, election, null, reason != Reason.FAILED && reason != Reason.CLOSED, false);
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
