// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.junit.LockTck;
import org.junit.jupiter.api.Tag;

/** All of the kit on advisory locks of PostgreSQL, as far as they declare it. */
@Tag("soak")
class SessionTckTest extends LockTck {

    @Override
    protected TckSubject subject() throws Exception {
        return Subjects.postgres("&lock.mode=session");
    }

    @Override
    protected TckConfig config() {
        return TckConfig.of(Profile.FULL);
    }
}
