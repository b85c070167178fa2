// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator.search;

import io.keyway.lock.peer.kernel.Driver;

/** What a cell has around it in a search at the grain of calls: no links of its own, and nothing drawn by lot. */
interface CallDriver extends Driver {
    @Override
    default long random() {
        return 0;
    }

    @Override
    default void dial(long link) {}

    @Override
    default void hangUp(long link) {}
}
