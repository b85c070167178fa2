// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import org.jspecify.annotations.Nullable;

/** One thing that is going to happen at one node. */
final class Event {
    enum Kind {
        /** A frame reaches its end of a link. */
        ARRIVE(1),
        OPENED(2),
        CLOSED(3),
        TICK(4),
        FORCED(5),
        /** The operating system proves the death of the process behind a session. */
        DIED(6),
        /** A user operation of the plan. */
        ACT(7),
        /** What the model asked to be called for. */
        WAKE(8),
        FAULT(9),
        HEAL(10),
        CHECK(11);

        /** For digests. */
        final int code;

        Kind(int code) {
            this.code = code;
        }

        /** Of the world, not of the node that it names. */
        boolean isGlobal() {
            return this == FAULT || this == HEAL || this == CHECK;
        }
    }

    long time;
    long order;
    Kind kind = Kind.TICK;

    @Nullable
    SimNode node;

    /** The cell that it is for; null if it is for the whole process. */
    @Nullable
    SimCell cell;

    int incarnation;

    @Nullable
    SimLink link;

    @Nullable
    Object what;

    long number;

    boolean before(Event other) {
        return time != other.time ? time < other.time : order < other.order;
    }

    void forced(long ticket, Object record) {
        number = ticket;
        what = record;
    }

    void clear() {
        node = null;
        cell = null;
        link = null;
        what = null;
        number = 0;
    }
}
