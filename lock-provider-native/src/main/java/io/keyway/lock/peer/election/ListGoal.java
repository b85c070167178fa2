// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.election;

import io.keyway.lock.peer.kernel.CoverageGoal;

/** Rare situations where members come and go. */
enum ListGoal implements CoverageGoal {
    /** A view with another list of members was elected. */
    LIST_CHANGED
}
