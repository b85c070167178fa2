// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.jdbc.server.H2Server;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.junit.LockTck;

/** The compatibility kit, in profile smoke, on H2 as a server. */
class H2TckTest extends LockTck {

    @Override
    protected TckSubject subject() throws Exception {
        return TckSubject.of(H2Server.url("tck"));
    }
}
