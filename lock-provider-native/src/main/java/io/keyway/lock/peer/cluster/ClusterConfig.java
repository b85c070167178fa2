// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import io.keyway.lock.AddressMap;
import io.keyway.lock.peer.NodeId;
import io.keyway.lock.peer.engine.Cells;
import io.keyway.lock.peer.security.Security;
import java.time.Duration;
import java.util.List;

/**
 * Where a client looks for its cluster, and how.
 *
 * @param cluster its name
 * @param addresses where members may answer; they need not be all, nor spelled as the members spell them
 * @param elsewhere where members are dialled that are not reached at their ids
 * @param cells with the settings of this cluster
 */
record ClusterConfig(
        String cluster,
        List<NodeId> addresses,
        AddressMap elsewhere,
        Cells cells,
        Security security,
        Duration connectTimeout,
        Duration closeTimeout) {}
