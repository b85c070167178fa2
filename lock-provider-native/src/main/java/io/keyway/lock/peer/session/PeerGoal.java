// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.CoverageGoal;

/** What a simulation of members that talk to each other must have met. */
public enum PeerGoal implements CoverageGoal {
    /** A member had nothing answered for some time. */
    PEER_SUSPECTED,
    /** A suspected member answered. */
    PEER_TRUSTED,
    /** Another life of a member was met. */
    PEER_RESTARTED,
    /** The session with a member was over, and the member was the same when it came back. */
    PEER_LOST,
    /** The next life of a member was met on its own link, while a session with the former one was still open. */
    PEER_OVERTAKEN
}
