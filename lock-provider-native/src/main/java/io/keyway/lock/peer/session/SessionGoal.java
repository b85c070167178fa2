// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.CoverageGoal;

/** What a search or a simulation of sessions must have met. */
public enum SessionGoal implements CoverageGoal {
    /** A session went on over a new link. */
    RESUMED,
    /** A message was sent again. */
    RESENT,
    DUPLICATE_DROPPED,
    GAP_DROPPED,
    /** A proof of an older link came after a newer link was admitted. */
    STALE_HELLO_REFUSED,
    /** A link was admitted while an older one of the same session was still open. */
    SUPERSEDED_LINK,
    /** A fresh session ended the former one of the same client. */
    SUPERSEDED_SESSION,
    UNKNOWN_SESSION_REFUSED,
    /** A client met another incarnation of its member while it believed in a grant. */
    FROZEN,
    /** A session was opened to a member in quarantine. */
    REASSERT_WINDOW,
    /** A stamp came back and moved a belief. */
    EXTENDED,
    EXPIRED_CLASS,
    EXPIRED_SESSION,
    /** A renewal was overdue. */
    DOUBTED,
    LAPSED,
    /** A client heard nothing and gave its link up. */
    SILENT_LINK,
    BYE,
    /** A member heard of a higher epoch of itself. */
    EPOCH_ADOPTED
}
