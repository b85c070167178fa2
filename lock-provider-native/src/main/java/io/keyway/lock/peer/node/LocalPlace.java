// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.node;

import io.keyway.lock.peer.engine.Cells;
import java.time.Duration;

/**
 * Where the processes of this machine meet, and what they agree on.
 *
 * @param bytes of clients.lock: who locks one lives
 * @param settings of the member, for its file
 * @param cells with the settings of this place
 * @param connectTimeout after which a host that does not answer is an error
 */
record LocalPlace(
        LocalDirectory directory,
        ByteLocks bytes,
        MemberSettings settings,
        MachineFacts facts,
        Cells cells,
        Duration connectTimeout) {
    static final String NODE = "local";
    static final String CLUSTER = "local";
}
