// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.bakery;

import io.keyway.lock.peer.kernel.CoverageGoal;

/** The rare situations of the bakery. */
enum BakeryGoal implements CoverageGoal {
    /** Two homes drew one number for one lock. */
    EQUAL_TICKETS,
    /** A ticket waited for one that was entering before it. */
    WAITED_FOR_AN_ENTERING,
    /** A home gave an activation back for a smaller ticket. */
    RELINQUISHED,
    /** A home did not, since it holds. */
    KEPT_BY_ITS_HOLDER,
    /** A leader refused a ticket since a greater one had held. */
    REFUSED,
    /** A request drew another ticket. */
    DREW_AGAIN,
    /** What a home does not say again was dropped. */
    NOT_SAID_AGAIN,
    /** The session with a home ended while its request was let in. */
    ORPHANED,
    /** A home said again what was let in. */
    TAKEN_UP_AGAIN,
    /** A home was not heard for so long that nobody can hold by it. */
    LAPSED,
    /** A holder lost its majority. */
    MAJORITY_LOST,
    /** A leader that has started anew was silent although others asked it. */
    ASKED_WHILE_SILENT,
    /** It heard of a holder who drew its ticket in a former life. */
    HOLDER_TOLD_ANEW,
    /** A client asked before its home might ask the leaders. */
    ASKED_BEFORE_OPEN,
    /** A leader asked whether a holder still stands. */
    QUESTIONED,
    /** An administrator broke what the client of another member held. */
    BROKEN_ELSEWHERE,
    /** The tickets went on into the next block. */
    TICKETS_RESERVED,
    /** A ticket waited for a majority to record how far tickets go. */
    WAITED_FOR_A_RECORD,
    /** A leader that had just got its seat was silent until nobody counted the former one. */
    SEATED,
    /** A leader lost its seat. */
    UNSEATED,
    /** What waited of a member was over at a leader, since that member was removed. */
    RENUMBERED,
    /** A home heard that its member was removed from the list. */
    NUMBER_LOST,
    /** A holder told a leader that had let another one in. */
    HOLDER_TOLD_A_LEADER,
    /** A reader was let in beside another one. */
    LET_IN_BESIDE,
    /** A reader waited behind a writer while readers were let in. */
    WAITED_BEHIND_A_WRITER,
    /** A soft writer was let in after it had waited. */
    DRAINED,
    /** One that was let in gave way to another request before it held. */
    SOFT_GAVE_WAY,
    /** One drew another ticket when nobody was before it any more. */
    SOFT_DREW_AGAIN
}
