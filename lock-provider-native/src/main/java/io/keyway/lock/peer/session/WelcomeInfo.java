// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import java.util.List;

/**
 * What a member said of itself in its welcome.
 *
 * @param incarnation of the member's cell
 * @param leastEpoch the lowest epoch with which the member that was welcomed may open a list that was not confirmed
 * @param quarantine nanoseconds until it may grant
 * @param fresh its life began as the first use of the cluster; to a client: and it waits until all members of its list
 *     have answered
 * @param longestTtl the longest lease that may be left of its former lives, in nanoseconds
 */
public record WelcomeInfo(
        String node,
        Incarnation incarnation,
        long epoch,
        long leastEpoch,
        long quarantine,
        List<String> members,
        int shards,
        boolean fresh,
        long longestTtl) {}
