// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.CoverageGoal;

/** Rare situations of a cluster in which one member leads. */
public enum LeaderGoal implements CoverageGoal {
    /** A member that served clients was not certain any more that it leads. */
    LEASE_LAPSED,
    /** It became certain again, and nobody had led in between. */
    LEASE_RENEWED,
    /** A member took over from another one. */
    TOOK_OVER,
    /** A leader learnt that another member leads. */
    DEPOSED,
    /** A leader needs no lease as long as those of before any more. */
    LONGEST_LOWERED,
    /** A client was told of its lease when a majority had recorded how long it is. */
    LEASE_HELD_BACK,
    /** A leader ended before its silence was over, and started anew. */
    SILENT_AGAIN,
    /** A new leader granted before its silence was over: all that could hold something had said what they hold. */
    ALL_SPOKEN,
    /** A member got its seat from its former leader, for whose lease it did not wait. */
    HANDED_OVER,
    /** Too many members had lost their notes about clients. */
    NOTES_LOST
}
