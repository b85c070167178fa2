// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.node;

import java.nio.charset.StandardCharsets;
import java.time.Duration;

/**
 * Who a member is and what it promised to be. A file that was written under other settings is foreign: it shortens no wait.
 *
 * @param cluster the cluster's id
 * @param node the member's id in it
 * @param listHash hash of the member list
 * @param settingsHash hash of the settings that all members share
 * @param maxTtl the longest ttl that the cluster grants
 * @param lockFile identity of clients.lock, by which proofs of death are made; empty where there is none
 */
public record MemberSettings(
        String cluster, String node, long listHash, long settingsHash, Duration maxTtl, String lockFile) {
    /** The longest id, in bytes of UTF-8. */
    public static final int MAX_ID_BYTES = 512;

    public MemberSettings {
        for (String id : new String[] {cluster, node, lockFile}) {
            if (id.getBytes(StandardCharsets.UTF_8).length > MAX_ID_BYTES) {
                throw new IllegalArgumentException("longer than " + MAX_ID_BYTES + " bytes: " + id);
            }
        }
        if (maxTtl.isNegative() || maxTtl.isZero()) {
            throw new IllegalArgumentException("maxTtl " + maxTtl + " is not positive");
        }
    }
}
