// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.junit.LockTck;

/** The compatibility kit, in profile smoke, on a database within this JVM. */
class H2TckTest extends LockTck {

    @Override
    protected TckSubject subject() {
        return TckSubject.of("lock:jdbc:h2:mem:tck;DB_CLOSE_DELAY=-1");
    }
}
