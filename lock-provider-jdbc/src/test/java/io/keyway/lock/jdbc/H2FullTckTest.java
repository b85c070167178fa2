// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.junit.LockTck;
import org.junit.jupiter.api.Tag;

/** All of the kit on H2 as a server. */
@Tag("soak")
class H2FullTckTest extends LockTck {

    @Override
    protected TckSubject subject() throws Exception {
        return Subjects.h2();
    }

    @Override
    protected TckConfig config() {
        return TckConfig.of(Profile.FULL);
    }
}
