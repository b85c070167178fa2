// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.junit.LockTck;
import java.util.List;

/** Clients whose wall clock is an hour wrong, on PostgreSQL; aborted where there is no libfaketime. */
class WallClockTckTest extends LockTck {

    @Override
    protected TckSubject subject() throws Exception {
        return Subjects.postgres("");
    }

    @Override
    protected TckConfig config() {
        return TckConfig.of(Profile.QUICK).withOnly(List.of("LK-514/a-wall-clock", "LK-602/a-wall-clock"));
    }
}
