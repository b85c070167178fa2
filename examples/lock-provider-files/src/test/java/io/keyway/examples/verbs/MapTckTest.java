// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.examples.verbs;

import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.junit.LockTck;
import org.junit.jupiter.api.Tag;

/** The verbs that the guide shows pass the compatibility kit, too. */
@Tag("soak")
class MapTckTest extends LockTck {

    @Override
    protected TckSubject subject() {
        return TckSubject.of("lock:map://x");
    }
}
