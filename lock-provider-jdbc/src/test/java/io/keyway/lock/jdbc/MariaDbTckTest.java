// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.junit.LockTck;

/** The compatibility kit, in profile smoke, on MariaDB. */
@MariaDb
class MariaDbTckTest extends LockTck {

    @Override
    protected TckSubject subject() throws Exception {
        return Subjects.mariaDb();
    }
}
