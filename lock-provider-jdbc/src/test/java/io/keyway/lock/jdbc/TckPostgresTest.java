// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.junit.LockTck;

/** The compatibility kit, in profile smoke, on PostgreSQL. */
class TckPostgresTest extends LockTck {

    @Override
    protected TckSubject subject() throws Exception {
        return Subjects.postgres("");
    }

    /** Fewer at a time: other tests, with servers of their own, keep the machine busy meanwhile. */
    @Override
    protected TckConfig config() {
        return TckConfig.of(Profile.SMOKE).withParallel(3);
    }
}
