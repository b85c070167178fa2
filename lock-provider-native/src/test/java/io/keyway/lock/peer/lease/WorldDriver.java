// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import io.keyway.lock.peer.kernel.CoverageGoal;
import io.keyway.lock.peer.kernel.Driver;
import io.keyway.lock.peer.kernel.DurableRecord;
import java.util.Set;
import java.util.function.LongSupplier;

/** A driver in a world that opens and closes links by itself: nothing is drawn, dialled or written to disk. */
abstract class WorldDriver implements Driver {
    private final LongSupplier clock;
    private final Set<CoverageGoal> goals;

    /** {@code goals}: where those are added that are reached. */
    WorldDriver(LongSupplier clock, Set<CoverageGoal> goals) {
        this.clock = clock;
        this.goals = goals;
    }

    @Override
    public final long clock() {
        return clock.getAsLong();
    }

    @Override
    public final long random() {
        return 0;
    }

    @Override
    public final void dial(long link) {}

    @Override
    public final void hangUp(long link) {}

    @Override
    public final void persist(DurableRecord record, long ticket) {}

    @Override
    public final void reached(CoverageGoal goal) {
        goals.add(goal);
    }
}
