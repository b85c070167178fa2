// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.local;

import io.keyway.lock.peer.lease.LeaseKeys;
import io.keyway.lock.peer.session.Incarnation;
import io.keyway.lock.peer.session.Nonce;
import io.keyway.lock.peer.session.SessionFrame;
import java.util.List;

/** What a client of a lock directory says first. */
final class LocalHello {
    private LocalHello() {}

    /** A hello that a client of this place would send, but for the wire versions. */
    static SessionFrame.Hello of(LocalConfig place, int wireLow, int wireHigh) {
        return new SessionFrame.Hello(
                wireLow,
                wireHigh,
                LocalConfig.CLUSTER,
                place.cells().settingsHash(),
                0,
                LeaseKeys.ALGORITHM,
                SessionFrame.Role.CLIENT,
                "",
                "",
                0,
                new Incarnation(1, 2),
                new Nonce(3, 4),
                1,
                0,
                0,
                List.of(),
                null);
    }
}
