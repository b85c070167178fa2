// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.junit.LockTck;

/** All of the kit on MariaDB, which is killed, paused and started again. */
@MariaDb
class MariaDbFullTckTest extends LockTck {

    @Override
    protected TckSubject subject() throws Exception {
        return Subjects.mariaDb();
    }

    @Override
    protected TckConfig config() {
        return TckConfig.of(Profile.FULL);
    }
}
