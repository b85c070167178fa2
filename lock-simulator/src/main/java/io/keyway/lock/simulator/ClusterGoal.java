// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.kernel.CoverageGoal;

/** What a campaign over several members must have seen. */
enum ClusterGoal implements CoverageGoal {
    /** All members of a first use had confirmed each other, and opened at once. */
    OPENED_FRESH,
    /** A changed list was opened, a quarantine after the last confirmation. */
    LIST_OPENED,
    /** A member went back to a list before the next one was opened everywhere. */
    LIST_ROLLED_BACK,
    /** A member ended for good by the operator's word. */
    MEMBER_REMOVED,
    MEMBER_JOINED,
    /** A client learned a list that differs from the one it had. */
    LIST_LEARNED_ANEW,
    /** A client looked for somebody who knows the members, since one of them did not answer. */
    LOOKED_FOR_THE_LIST,
    /** A request left a member that was not to decide on its name any more. */
    REQUEST_MOVED,
    /** A member was started to grant shorter leases than before. */
    SHORTER_LEASES,
    STARTED_WITH_AN_OLD_FILE,
    STARTED_WITHOUT_FILE,
    /** A member that had lost its file was told that the cluster never ran. */
    INIT_AGAIN
}
