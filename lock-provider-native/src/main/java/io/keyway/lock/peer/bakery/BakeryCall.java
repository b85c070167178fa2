// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.bakery;

import io.keyway.lock.peer.home.HomeCall;
import io.keyway.lock.peer.kernel.Call;

/** What the home and the leader of one member tell each other. */
sealed interface BakeryCall extends Call {
    /** What messages say between members. */
    record Said(BakeryMessage message) implements BakeryCall {}

    /** An administrator asks this leader who holds and who waits. */
    record Show(HomeCall.Show show) implements BakeryCall {}
}
